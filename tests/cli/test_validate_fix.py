"""`llmdctl validate --fix`: what it mends, what it shows and writes, and what it leaves."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_run import Cli

from llmdctl.validate.registry import EXAMPLES

SERVICE = """\
# the front door
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selecto: {app: web}   # misspelt
  type: clusterip
  ports:
  - port: "80"          # a number
    name: 8
"""
MENDED = """\
# the front door
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}  # misspelt
  type: ClusterIP
  ports:
  - port: 80            # a number
    name: "8"
"""


def test_it_shows_a_diff_and_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(SERVICE)
    result = cli("validate", "web.yaml", "--fix")
    assert result.code == 1
    assert (tmp_path / "web.yaml").read_text() == SERVICE
    assert result.out.startswith("--- web.yaml\n+++ web.yaml\n@@ -3,8 +3,8 @@\n")
    assert "-  selecto: {app: web}   # misspelt\n" in result.out
    assert '+    name: "8"\n' in result.out
    assert 'would fix web.yaml:6:3: SCH001 Service/web unknown field "selecto"' in result.err
    assert "in 1 file" in result.err
    assert result.err.endswith("; --write writes them\n")


def test_the_diff_is_one_that_patch_takes(cli: Cli, tmp_path: Path) -> None:
    if shutil.which("patch") is None:
        pytest.skip("there is no patch here")
    (tmp_path / "web.yaml").write_text(SERVICE)
    shown = cli("validate", "web.yaml", "--fix").out
    subprocess.run(["patch", "-p0"], cwd=tmp_path, input=shown, text=True, check=True, capture_output=True)
    assert (tmp_path / "web.yaml").read_text() == cli_fixed(cli, tmp_path)


def cli_fixed(cli: Cli, tmp_path: Path) -> str:
    """What --write makes of SERVICE."""
    (tmp_path / "other.yaml").write_text(SERVICE)
    cli("validate", "other.yaml", "--fix", "--write")
    return (tmp_path / "other.yaml").read_text()


def test_it_writes_and_checks_again(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(SERVICE)
    result = cli("validate", "web.yaml", "--fix", "--write", "-o", "json")
    assert (tmp_path / "web.yaml").read_text() == MENDED
    assert (result.code, json.loads(result.out)["findings"]) == (0, [])
    assert "fixed 4 findings in 1 file, 0 findings remain\n" in result.err
    again = cli("validate", "web.yaml", "--fix", "--write")
    assert "fixed 0 findings in 0 files, 0 findings remain\n" in again.err
    assert (tmp_path / "web.yaml").read_text() == MENDED


def test_what_a_fix_uncovers_is_fixed_in_the_next_round(cli: Cli, tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspce:\n  prots:\n  - {port: '80'}\n"
    (tmp_path / "web.yaml").write_text(text)
    result = cli("validate", "web.yaml", "--fix", "--write")
    assert result.code == 0
    assert (tmp_path / "web.yaml").read_text() == (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports:\n  - {port: 80}\n"
    )


CASES = {
    "an old version of a kind": (
        "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x}\n"
        "spec:\n  maxUnavailable: 1\n  selector: {matchLabels: {a: b}}\n",
        "-apiVersion: policy/v1beta1\n+apiVersion: policy/v1\n",
    ),
    "a label that the selector names": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec:\n"
        "  selector: {matchLabels: {app: x, tier: back}}\n  template:\n    metadata:\n      labels:\n        app: x\n"
        "    spec:\n      containers:\n      - {name: a, image: i}\n",
        "+        tier: back\n",
    ),
    "a quantity": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n    image: i\n"
        "    resources: {limits: {memory: 16 GiB}}\n",
        "+    resources: {limits: {memory: 16Gi}}\n",
    ),
}


@pytest.mark.parametrize(("text", "shown"), CASES.values(), ids=CASES.keys())
def test_kinds_of_fixes(cli: Cli, tmp_path: Path, text: str, shown: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert shown in cli("validate", "a.yaml", "--fix").out
    cli("validate", "a.yaml", "--fix", "--write")
    assert cli("validate", "a.yaml").code == 0


def test_rules_mend_ports_labels_and_flags(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "PRT001" / "bad.yaml", tmp_path / "pool.yaml")
    assert "-  - number: 8080\n+  - number: 8000\n" in cli("validate", "pool.yaml", "--fix").out
    text = (EXAMPLES / "PRT004" / "good.yaml").read_text().replace("--port=8200", "--prot=8200")
    (tmp_path / "flag.yaml").write_text(text)
    assert "-        - --prot=8200\n+        - --port=8200\n" in cli("validate", "flag.yaml", "--fix").out


AMBIGUOUS = {
    "a field whose value does not fit the one that is near": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - {name: a, image: i, port: 80}\n"
    ),
    "a budget without a selector": (
        "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec:\n  maxUnavailable: 1\n"
    ),
    "a label that has another value": CASES["a label that the selector names"][0].replace(
        "        app: x\n", "        app: z\n"
    ),
    "gigabits": CASES["a quantity"][0].replace("16 GiB", "16Gb"),
    "yes for text": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: yes}\n"
    ),
    "a field that could be two": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - {name: a, image: i, volume: []}\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_what_has_two_ways_out_is_left_alone(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    result = cli("validate", "a.yaml", "--fix", "--write")
    assert result.code == 1
    assert (tmp_path / "a.yaml").read_text() == text
    assert "fixed 0 findings in 0 files" in result.err


def test_what_is_ignored_or_deselected_is_not_mended(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(SERVICE)
    (tmp_path / ".llmdctl.yaml").write_text("ignore: [{code: SCH002, reason: why not}]\n")
    cli("validate", "web.yaml", "--fix", "--write", "--skip", "ADM015")
    text = (tmp_path / "web.yaml").read_text()
    assert "selector:" in text
    assert '"80"' in text
    assert "clusterip" in text


def test_files_that_must_not_be_edited_are_told(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chart" / "templates").mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("name: x\n")
    template = tmp_path / "chart" / "templates" / "web.yaml"
    template.write_text(SERVICE)
    (tmp_path / "web.yaml.gz").write_bytes(gzip.compress(SERVICE.encode()))
    (tmp_path / "twice.yaml").write_text(SERVICE + "    name: x\n")
    files = {
        "chart/templates": "templates of a chart",
        "web.yaml.gz": "packed files",
        "twice.yaml": "names a key twice",
    }
    for file, reason in files.items():
        result = cli("validate", file, "--fix", "--write")
        assert result.code == 1
        assert "not fixed" in result.err
        assert reason in result.err
    assert template.read_text() == SERVICE

    class Stdin:
        @property
        def buffer(self) -> object:
            return (tmp_path / "chart" / "templates" / "web.yaml").open("rb")

    monkeypatch.setattr("sys.stdin", Stdin())
    assert "does not stand in a file that can be edited: -" in cli("validate", "-", "--fix").err


@pytest.mark.parametrize(
    "args",
    [("--write",), ("--fix", "--write-baseline", "b.yaml"), ("--fix", "-o", "json")],
)
def test_options_that_contradict_each_other(cli: Cli, tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "web.yaml").write_text(SERVICE)
    result = cli("validate", "web.yaml", *args)
    assert (result.code, (tmp_path / "web.yaml").read_text()) == (2, SERVICE)


def test_a_report_beside_the_diff_is_of_the_files_as_they_are(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(SERVICE)
    cli("validate", "web.yaml", "--fix", "-o", "json=report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    (edit,) = next(item["edits"] for item in report["findings"] if item["code"] == "SCH001")
    assert (edit["op"], edit["pointer"], edit["file"], edit["value"]) == (
        "rename",
        "spec.selecto",
        "web.yaml",
        "selector",
    )


def test_several_files_and_inputs_with_nothing_to_mend(cli: Cli, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(SERVICE.replace("web", name))
    result = cli("validate", ".", "--fix", "--write")
    assert "fixed 8 findings in 2 files" in result.err
    good = cli("validate", str(EXAMPLES / "PRT004" / "good.yaml"), "--fix")
    assert (good.code, good.out) == (0, "")
    assert good.err == "would fix 0 findings in 0 files, 0 findings remain\n"
