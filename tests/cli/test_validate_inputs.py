"""What `llmdctl validate` reads: JSON, lists, gzip, kustomizations and charts, and where its findings then point."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_run import Cli, Result

from llmdctl.validate.registry import EXAMPLES

BAD = (EXAMPLES / "PRT004" / "bad.yaml").read_text(encoding="utf-8")
HELM_CACHE = Path.home() / ".cache" / "llmdctl-benchmarks" / "kubectl-layer" / "helm"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts shell programs on a PATH that holds no others but the shell's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat"):
        (folder / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(folder))

    def add(name: str, script: str) -> None:
        (folder / name).write_text(f"#!{folder / 'sh'}\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    return add


def findings(result: Result) -> list[Any]:
    """The findings of a run with `-o json`."""
    return list(json.loads(result.out)["findings"])


def test_a_list_of_objects_as_json_points_into_the_file(cli: Cli, tmp_path: Path) -> None:
    items = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, yaml.safe_load(BAD)]
    (tmp_path / "list.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1))
    (finding,) = findings(cli("validate", "list.json", "-o", "json"))
    line = (tmp_path / "list.json").read_text().splitlines()[finding["source"]["line"] - 1]
    assert finding["source"]["file"] == "list.json"
    assert '"args"' in line or "--port" in line or "{" in line


@pytest.mark.parametrize("name", ["a.yaml.gz", "a.yml.gz"])
def test_gzip_is_read_and_points_to_lines_of_the_text(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).write_bytes(gzip.compress(f"# one\n# two\n---\n{BAD}".encode()))
    (tmp_path / "plain.yaml").write_text(f"# one\n# two\n---\n{BAD}")
    (packed,) = findings(cli("validate", "folder", "-o", "json"))
    (plain,) = findings(cli("validate", "plain.yaml", "-o", "json"))
    assert packed["source"] == {**plain["source"], "file": f"folder/{name}"}


def test_broken_and_endless_gzip_is_refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gzip.compress(BAD.encode())
    for number, data in enumerate([whole[:40], whole[:20] + b"\0\0\0\0" + whole[24:], b"\x1f\x8bxxxx"]):
        (tmp_path / f"{number}.yaml.gz").write_bytes(data)
        result = cli("validate", f"{number}.yaml.gz")
        assert result.code == 2
        assert "gzip data that can't be unpacked" in result.err
    monkeypatch.setattr("llmdctl.manifest.files.MAX_BYTES", 1024 * 1024)
    (tmp_path / "bomb.yaml.gz").write_bytes(gzip.compress(b" " * (64 * 1024 * 1024)))
    assert "larger than 1 MiB" in cli("validate", "bomb.yaml.gz").err


def test_something_must_be_read_and_options_need_their_input(cli: Cli) -> None:
    assert "nothing to validate" in cli("validate").err
    for option in ("--values", "--set", "--release-name"):
        result = cli("validate", "-", option, "x")
        assert result.code == 2
        assert "name it with --helm CHART" in result.err


def test_a_namespace_needs_something_that_it_is_for(cli: Cli) -> None:
    result = cli("validate", "-", "-n", "llm-d")
    assert (result.code, "--namespace is for a cluster or a chart" in result.err) == (2, True)


def test_a_kustomization_is_built_by_kubectl_or_else_by_kustomize(
    cli: Cli, tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    (tmp_path / "out.yaml").write_text(BAD)
    nothing = cli("validate", "-k", "overlay")
    assert nothing.code == 2
    assert "neither kubectl nor kustomize is on PATH" in nothing.err
    programs("kustomize", f'[ "$*" = "build overlay" ] && cat {tmp_path}/out.yaml')
    (finding,) = findings(cli("validate", "-k", "overlay", "-o", "json"))
    assert (finding["code"], finding["source"]["file"]) == ("PRT004", "kustomize:overlay")
    assert finding["source"]["line"] > 1
    programs("kubectl", '[ "$*" = "kustomize overlay" ] && echo "Error: no such thing" >&2; exit 1')
    failed = cli("validate", "-k", "overlay")
    assert failed.code == 2
    assert "`kubectl kustomize` failed for overlay" in failed.err
    assert "why  Error: no such thing" in failed.err
    assert "run it yourself until it succeeds: kubectl kustomize overlay" in failed.err


@pytest.mark.parametrize("folder", ["none", "."])
def test_a_folder_without_kustomization_is_told_before_anything_is_run(cli: Cli, folder: str) -> None:
    result = cli("validate", "-k", folder)
    assert (result.code, "holds no kustomization.yaml" in result.err) == (2, True)


def test_the_origin_that_kustomize_notes_is_named(
    cli: Cli, tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    workload = yaml.safe_load(BAD)
    workload["metadata"]["annotations"] = {"config.kubernetes.io/origin": "path: ../base/decode.yaml\n"}
    (tmp_path / "kustomization.yaml").write_text("buildMetadata: [originAnnotations]\n")
    (tmp_path / "out.yaml").write_text(yaml.safe_dump(workload))
    programs("kubectl", f"cat {tmp_path}/out.yaml")
    (finding,) = findings(cli("validate", "-k", ".", "-o", "json"))
    assert finding["source"]["template"] == "../base/decode.yaml"


CHART = {
    "Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n",
    "values.yaml": "port: 8000\n",
    "templates/map.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {port: {{ .Values.port | quote }}}\n"
    ),
    "templates/service.yaml": (
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: {{ .Release.Namespace }}\n"
        "spec:\n  selecto: {release: {{ .Release.Name }}}\n  ports: [{port: {{ .Values.port }}}]\n"
    ),
}
OUTPUT = """---
# Source: demo/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: map}
data:
  note: |
    # Source: demo/templates/wrong.yaml
---
# Source: demo/templates/service.yaml
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selecto: {a: b}
  ports: [{port: 80}]
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart whose Service has a misspelt field."""
    for name, text in CHART.items():
        (tmp_path / "demo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "demo" / name).write_text(text)
    return tmp_path / "demo"


@pytest.mark.usefixtures("chart")
def test_a_chart_is_rendered_with_its_options_and_findings_name_the_template(
    cli: Cli, tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    assert "helm is not on PATH" in cli("validate", "--helm", "demo").err
    (tmp_path / "out.yaml").write_text(OUTPUT)
    programs("helm", f'echo "$*" > {tmp_path}/words; cat {tmp_path}/out.yaml')
    options = ("--values", "v.yaml", "--values", "w.yaml", "--set", "a=1", "--release-name", "web", "-n", "llm-d")
    result = cli("validate", "--helm", "demo", *options, "--kube-version", "v1.35.2", "-o", "json")
    assert (tmp_path / "words").read_text().strip() == (
        "template web demo --include-crds --values v.yaml --values w.yaml --set a=1 --namespace llm-d "
        "--kube-version 1.35"
    )
    (finding,) = findings(result)
    assert finding["code"] == "SCH001"
    assert finding["source"] == {
        "file": "helm:demo", "line": 15, "column": 3, "document": 1, "template": "demo/templates/service.yaml",
    }  # fmt: skip
    text = cli("validate", "--helm", "demo").out
    assert "helm:demo:15:3 from demo/templates/service.yaml  spec.selecto" in text
    assert (tmp_path / "words").read_text().startswith("template demo demo --include-crds")
    assert "::error file=demo/templates/service.yaml,title=" in cli("validate", "--helm", "demo", "-o", "github").out
    sarif = json.loads(cli("validate", "--helm", "demo", "-o", "sarif").out)
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "demo/templates/service.yaml", "uriBaseId": "%SRCROOT%"}}


@pytest.mark.usefixtures("chart")
def test_a_chart_beside_paths_is_an_input_of_its_own(
    cli: Cli, tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    (tmp_path / "out.yaml").write_text(OUTPUT)
    programs("helm", f"cat {tmp_path}/out.yaml")
    (tmp_path / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n")
    report = json.loads(cli("validate", "map.yaml", "--helm", "demo", "-o", "json").out)
    assert [item["code"] for item in report["findings"]] == ["SCH001"]
    assert report["coverage"]["objects"]["total"] == 3


@pytest.mark.usefixtures("chart")
def test_with_the_real_helm(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{HELM_CACHE}")
    if shutil.which("helm") is None:
        pytest.skip("helm is neither on PATH nor in the cache of the benchmarks")
    (finding,) = findings(cli("validate", "--helm", "demo", "--set", "port=81", "-n", "llm-d", "-o", "json"))
    assert (finding["code"], finding["object"]["namespace"]) == ("SCH001", "llm-d")
    assert finding["source"]["template"] == "demo/templates/service.yaml"
    failed = cli("validate", "--helm", "demo", "--set", "port=[")
    assert (failed.code, "`helm template` failed for demo" in failed.err) == (2, True)


def test_with_the_real_kustomize(cli: Cli, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None and shutil.which("kustomize") is None:
        pytest.skip("neither kubectl nor kustomize is on PATH")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "decode.yaml").write_text(BAD)
    (tmp_path / "base" / "kustomization.yaml").write_text(
        "resources: [decode.yaml]\nnamespace: llm-d\nbuildMetadata: [originAnnotations]\n"
    )
    (finding,) = findings(cli("validate", "-k", "base", "-o", "json"))
    assert (finding["code"], finding["object"]["namespace"]) == ("PRT004", "llm-d")
    assert finding["source"]["template"] == "decode.yaml"
