"""The pieces for CI systems: their command lines are run here; the systems themselves are not (docs/ci.md says so)."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_run import run_cli

from llmdctl.validate.registry import EXAMPLES

BAD = EXAMPLES / "PRT004" / "bad.yaml"
GOOD = EXAMPLES / "PRT004" / "good.yaml"

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a manifest that has a finding, and one without."""
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "decode.yaml").write_text(BAD.read_text())
    (tmp_path / "fine").mkdir()
    (tmp_path / "fine" / "decode.yaml").write_text(GOOD.read_text())
    return tmp_path


@pytest.fixture
def shell(repository: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Runs a command with `llmdctl` and a `pip` that installs nothing on the PATH."""
    programs = tmp_path_factory.mktemp("bin")
    (programs / "llmdctl").write_text(f'#!/bin/sh\nexec {sys.executable} -m llmdctl "$@"\n')
    (programs / "pip").write_text('#!/bin/sh\n[ "$1 $2" = "install --quiet" ]\n')
    for program in programs.iterdir():
        program.chmod(0o755)

    def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(root),
            **environment,
        }
        return subprocess.run(command, cwd=repository, env=own, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("folder", ["deploy", "fine"])
def test_hooks_of_pre_commit(
    root: Path,
    repository: Path,
    folder: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())}
    monkeypatch.chdir(repository)
    for name, words in {"llmdctl-validate": [folder], "llmdctl-validate-changed": [f"{folder}/decode.yaml"]}.items():
        hook = hooks[name]
        assert hook["language"] == "python"
        assert hook["require_serial"]
        assert hook["pass_filenames"] is (name == "llmdctl-validate-changed")
        program, *entry = shlex.split(hook["entry"])
        assert program == "llmdctl"
        assert run_cli(capsys, monkeypatch, *entry, *words).code == (1 if folder == "deploy" else 0)


def action(root: Path) -> Any:
    """The composite action."""
    return yaml.safe_load((root / "action.yml").read_text())


def test_the_action_declares_what_it_uses_and_puts_no_input_into_shell(root: Path) -> None:
    data = action(root)
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", (root / "action.yml").read_text()))
    assert used == set(data["inputs"])
    assert all(item.get("required") or "default" in item for item in data["inputs"].values())
    assert all("${{" not in step.get("run", "") for step in data["runs"]["steps"])
    assert all("shell" in step for step in data["runs"]["steps"] if "run" in step)


def run_action(root: Path, shell: Shell, repository: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the action's last step as a runner would: inputs by way of its `env`."""
    data = action(root)
    values = {name: inputs.get(name, item.get("default", "")) for name, item in data["inputs"].items()}
    step = data["runs"]["steps"][-1]
    environment = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for key, text in step["env"].items()
    }
    environment |= {"GITHUB_ACTION_PATH": str(root), "GITHUB_STEP_SUMMARY": str(repository / "summary.md")}
    return shell("bash", "-c", step["run"], **environment)


def test_the_action_annotates_summarises_and_fails(root: Path, shell: Shell, repository: Path) -> None:
    (repository / "summary.md").write_text("earlier\n")
    done = run_action(root, shell, repository, paths="deploy\nfine\n", sarif="out.sarif")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error file=deploy/decode.yaml,line=")
    summary = (repository / "summary.md").read_text()
    assert summary.startswith("earlier\n## llmdctl validate\n")
    assert "| error | PRT004 |" in summary
    assert json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]


def test_the_action_passes_options_one_a_line_and_never_as_shell(root: Path, shell: Shell, repository: Path) -> None:
    assert run_action(root, shell, repository, paths="fine").returncode == 0
    assert run_action(root, shell, repository, paths="deploy", args="--skip\nPRT004\n").returncode == 0
    assert run_action(root, shell, repository, paths="deploy", **{"fail-on": "never"}).returncode == 0
    hostile = run_action(root, shell, repository, paths="$(touch evil); touch evil\n`touch evil`\n*")
    assert hostile.returncode == 2
    assert not (repository / "evil").exists()


def test_the_job_of_gitlab(root: Path, shell: Shell, repository: Path) -> None:
    job = yaml.safe_load((root / "ci" / "gitlab.yml").read_text())[".llmdctl-validate"]
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    variables = {**job["variables"], "LLMDCTL_PATHS": "deploy/ fine/"}
    done = shell("bash", "-c", script, **variables)
    assert (done.returncode, done.stderr) == (1, "")
    assert "error PRT004" in done.stdout
    report = ET.parse(repository / job["artifacts"]["reports"]["junit"]).getroot()  # noqa: S314 - ours
    assert report.attrib["failures"] == "1"
    assert json.loads((repository / job["artifacts"]["paths"][0]).read_text())["kind"] == "Report"
    assert shell("bash", "-c", script, **{**variables, "LLMDCTL_ARGS": "--fail-on never"}).returncode == 0


def test_the_page_shows_what_exists(root: Path) -> None:
    page = (root / "docs" / "ci.md").read_text()
    blocks = {name: yaml.safe_load(text) for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL)}
    hooks = {hook["id"] for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in blocks[".pre-commit-config.yaml"]["repos"][0]["hooks"]} <= hooks
    steps = blocks[".github/workflows/manifests.yml"]["jobs"]["manifests"]["steps"]
    assert set(steps[1]["with"]) <= set(action(root)["inputs"])
    job = yaml.safe_load((root / "ci" / "gitlab.yml").read_text())
    gitlab = blocks[".gitlab-ci.yml"]
    assert gitlab["manifests"]["extends"] in job
    assert set(gitlab["manifests"]["variables"]) <= set(job[".llmdctl-validate"]["variables"])
    assert (root / gitlab["include"][0]["file"]).is_file()


def test_the_shown_hook_command_runs(
    root: Path, repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (root / "docs" / "ci.md").read_text()
    (text,) = re.findall(r"```yaml\n# \.pre-commit-config\.yaml\n(.*?)```", page, re.DOTALL)
    (hook,) = yaml.safe_load(text)["repos"][0]["hooks"]
    monkeypatch.chdir(repository)
    assert run_cli(capsys, monkeypatch, "validate", *hook["args"]).code == 1
