"""`llmdctl validate`, `explain`, `rules list`: output, exit codes, bad usage."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
import yaml
from cli_run import Cli

from llmdctl.validate.registry import EXAMPLES, all_rules

BAD = str(EXAMPLES / "PRT004" / "bad.yaml")
GOOD = str(EXAMPLES / "PRT004" / "good.yaml")
WARNING = str(EXAMPLES / "LBL005" / "bad.yaml")


def test_quiet_on_success_with_one_line_that_says_what_was_covered(cli: Cli) -> None:
    result = cli("validate", GOOD)
    assert result.code == 0
    assert result.out.count("\n") == 1
    assert "1 object: 1 validated, 0 skipped" in result.out


def test_a_finding_stands_on_one_line_with_code_and_object(cli: Cli) -> None:
    result = cli("validate", BAD, "--color", "never")
    assert result.code == 1
    assert result.out.startswith("error PRT004 Deployment/decode the routing sidecar forwards to port 8001")
    assert cli("validate", BAD, "-q").out.count("\n") == 1


@pytest.mark.parametrize(
    ("threshold", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)], ids=lambda value: str(value)
)
def test_fail_on(cli: Cli, threshold: str, code: int) -> None:
    assert cli("validate", WARNING, "--fail-on", threshold).code == code


def test_never_and_skipped(cli: Cli) -> None:
    assert cli("validate", BAD, "--fail-on", "never").code == 0
    assert cli("validate", GOOD, "--fail-on-skipped").code == 1


def test_several_outputs_with_the_same_exit_code(cli: Cli, tmp_path: Path) -> None:
    result = cli("validate", BAD, "-o", "text", "-o", "json=report.json")
    assert result.code == 1
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["apiVersion"] == "report.llmdctl.io/v1"
    assert report["target"] == {"kubeVersion": "1.36", "release": "1.0", "complete": False}
    assert [finding["code"] for finding in report["findings"]] == ["PRT004"]


FORMS = ("json", "yaml", "junit", "sarif", "github", "markdown")


def test_every_form_at_once_with_one_exit_code(cli: Cli, tmp_path: Path) -> None:
    outputs = [word for form in FORMS for word in ("-o", f"{form}=out.{form}")]
    result = cli("validate", BAD, *outputs, "-o", "text")
    assert result.code == 1
    assert result.out.startswith("error PRT004")
    texts = {form: (tmp_path / f"out.{form}").read_text(encoding="utf-8") for form in FORMS}
    assert json.loads(texts["sarif"])["runs"][0]["results"][0]["ruleId"] == "PRT004"
    assert yaml.safe_load(texts["yaml"]) == json.loads(texts["json"])
    assert texts["github"].startswith("::error file=")
    assert '<failure type="error" message="PRT004 ' in texts["junit"]
    assert "| error | PRT004 | Deployment/decode |" in texts["markdown"]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_on_stdout_has_the_same_exit_code(cli: Cli, form: str) -> None:
    result = cli("validate", BAD, "-o", form)
    assert (result.code, result.err) == (1, "")
    assert "PRT004" in result.out
    assert cli("validate", GOOD, "-o", form).code == 0


def test_what_fails_in_junit_is_what_fails_the_run(cli: Cli) -> None:
    assert "<failure" not in cli("validate", WARNING, "-o", "junit").out
    assert "<failure" in cli("validate", WARNING, "-o", "junit", "--fail-on", "warning").out


def test_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(Path(BAD).read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin())
    result = cli("validate", "-")
    assert result.code == 1
    assert "\n  -:" in result.out


@pytest.mark.parametrize(
    "args",
    [
        ["missing.yaml"],
        [GOOD, "--kube-version", "1.12"],
        [GOOD, "--release", "7.7"],
        [GOOD, "--engine-version", "vllm"],
        [GOOD, "-o", "xml"],
        [GOOD, "--crds", "missing.yaml"],
        [GOOD, "--ignore-file", "missing.yaml"],
        [GOOD, "--fail-on", "sometimes"],
        [],
    ],
    ids=lambda args: " ".join(args[-2:])[-40:],
)
def test_usage_and_unreadable_input_are_exit_code_2(cli: Cli, args: list[str]) -> None:
    result = cli("validate", *args)
    assert result.code == 2
    assert result.err


def test_engine_version_and_complete_reach_the_rules(cli: Cli) -> None:
    assert cli("validate", GOOD, "--engine-version", "sidecar@0.9.0").code == 1
    pool = str(EXAMPLES / "PRT002" / "good.yaml")
    # The Service of the picker is elsewhere, or nowhere.
    assert cli("validate", pool).code == 0
    assert "LBL014" in cli("validate", pool, "--complete").out


def test_the_ignore_file_of_the_folder_is_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".llmdctl.yaml").write_text("ignore: [{code: PRT004, reason: ours}]", encoding="utf-8")
    result = cli("validate", BAD, "-v")
    assert result.code == 0
    assert "suppressed PRT004" in result.out


def test_the_page_on_findings_shows_what_the_command_prints(cli: Cli, root: Path, folder: Path) -> None:
    page = (root / "docs" / "findings.md").read_text(encoding="utf-8")
    files = re.findall(r"```yaml\n# deploy/(\S+)\n(.*?)```", page, re.DOTALL)
    assert [name for name, _ in files] == ["decode.yaml", "kustomization.yaml"]
    folder.rename(folder.parent / "deploy")
    for name, text in files:
        Path("deploy", name).write_text(text, encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    result = cli("validate", "deploy")
    # How many rules there are is not what the page is about.
    counts = re.compile(r"rules: \d+ run, \d+ skipped")
    assert counts.search(result.out)
    assert (result.code, counts.sub("", result.out)) == (1, counts.sub("", shown))


def test_the_ignore_file_is_no_manifest(cli: Cli, folder: Path) -> None:
    (folder / ".llmdctl.yaml").write_text("ignore: [{code: PRT004, reason: ours}]", encoding="utf-8")
    (folder / "good.yaml").write_bytes(Path(GOOD).read_bytes())
    result = cli("validate", "folder")
    assert result.code == 0
    assert result.out.startswith("1 object: 1 validated, 0 skipped; ")
    assert cli("validate", "folder/.llmdctl.yaml").code == 2


def test_explain(cli: Cli) -> None:
    result = cli("explain", "prt004")
    assert result.code == 0
    for part in ("PRT004 (error)", "why ", "fix ", "- right, + wrong", "references"):
        assert part in result.out
    assert "apiVersion" not in result.out
    full = cli("explain", "prt004", "--examples")
    assert "bad:\n  apiVersion" in full.out
    assert "good:\n  apiVersion" in full.out
    data = json.loads(cli("explain", "PRT004", "-o", "json").out)
    assert data["bad"] == Path(BAD).read_text(encoding="utf-8")


def test_explain_shows_each_change_and_that_lines_are_left_out_between(cli: Cli) -> None:
    text = cli("explain", "YML002").out
    example = text.partition("example ")[2].splitlines()[1:]
    assert [line.strip() for line in example if line.strip()[0] in "-+."] == [
        "-  name: first-envoy", "+  name: envoy", "...", "-  name: second-envoy", "+  name: envoy",
    ]  # fmt: skip
    assert all(len(line) <= 100 for line in text.splitlines())


def test_explain_and_list_as_yaml(cli: Cli) -> None:
    data = yaml.safe_load(cli("explain", "KVT001", "-o", "yaml").out)
    assert (data["code"], data["needs"], data["implies"]) == ("KVT001", ["pairs"], ["KVT002", "KVT007", "KVT022"])
    listed = yaml.safe_load(cli("rules", "list", "-o", "yaml").out)
    assert {key: data[key] for key in listed[0]} in listed


def test_explain_an_unknown_code_names_the_nearest(cli: Cli) -> None:
    result = cli("explain", "PRT04")
    assert result.code == 2
    assert "did you mean PRT004?" in result.err


def test_every_code_can_be_explained_and_is_listed(cli: Cli) -> None:
    listed = json.loads(cli("rules", "list", "-o", "json").out)
    assert [item["code"] for item in listed] == [rule.code for rule in all_rules()]
    text = cli("rules", "list").out
    for rule in all_rules():
        assert rule.code in text
        assert cli("explain", rule.code).code == 0


STACK = "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nspec: {}\n"
ENTRY = "apiVersion: catalog.llmdctl.io/v1alpha1\nkind: Provider\nname: moon\n"
KUSTOMIZATION = "resources: [a.yaml]\nkind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n"
VALUES = "replicaCount: 2\n"
OTHERS = {
    STACK: "`llmdctl render -f folder/other.yaml` renders and validates it",
    ENTRY: "a catalog entry; `llmdctl catalog lint folder` checks it",
    KUSTOMIZATION: "validate what `kubectl kustomize folder` renders",
    VALUES: "as Helm values do; validate what `helm template` renders",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder below the one that commands run in."""
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize(("text", "why"), OTHERS.items(), ids=["stack", "catalog", "kustomize", "helm"])
def test_files_of_other_tools_alone_are_an_error_and_beside_objects_a_line(
    cli: Cli, folder: Path, text: str, why: str
) -> None:
    (folder / "other.yaml").write_text(text, encoding="utf-8")
    alone = cli("validate", "folder")
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith("error: folder/other.yaml:1:1: not a Kubernetes object, so nothing was validated\n")
    assert why in alone.err
    (folder / "good.yaml").write_bytes(Path(GOOD).read_bytes())
    beside = cli("validate", "folder")
    assert beside.code == 0
    first, last = beside.out.splitlines()
    assert first.startswith("skipped folder/other.yaml: ")
    assert why in first
    assert last.startswith("2 objects: 1 validated, 1 skipped; ")
    report = json.loads(cli("validate", "folder", "-o", "json").out)
    sources = [item["source"]["file"] for item in report["skipped"] if item["source"]]
    assert sources == ["folder/other.yaml"]


def test_every_reason_is_told_when_nothing_is_an_object(cli: Cli, folder: Path) -> None:
    for number, text in enumerate([STACK, VALUES, VALUES, KUSTOMIZATION]):
        (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
    err = cli("validate", "folder").err
    assert [line.split(":")[1] for line in err.splitlines() if line.startswith("error")] == [
        " folder/0.yaml", " folder/1.yaml", " folder/3.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "# only a comment\n---\n", "kind: List\napiVersion: v1\nitems: []\n"])
def test_input_without_any_document_is_an_error(cli: Cli, folder: Path, text: str) -> None:
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    result = cli("validate", "folder/a.yaml")
    assert (result.code, result.out) == (2, "")
    assert "the input holds no object, so nothing was validated" in result.err


WIDGETS = "".join(f"apiVersion: moon.example/v1\nkind: Widget\nmetadata: {{name: w{n}}}\n---\n" for n in range(5))


def test_objects_of_unknown_kinds_are_told_and_alone_an_error(cli: Cli, folder: Path) -> None:
    (folder / "a.yaml").write_text(WIDGETS, encoding="utf-8")
    result = cli("validate", "folder", "--fail-on", "never")
    assert result.code == 2
    assert "error: none of 5 objects could be validated\n  why  no schema for moon.example/v1 Widget\n" in result.err
    assert result.out.splitlines()[0] == (
        "skipped Widget/w0 (folder/a.yaml:1:1), Widget/w1 (folder/a.yaml:5:1), Widget/w2 (folder/a.yaml:9:1) "
        "and 2 more: no schema for moon.example/v1 Widget"
    )
    assert cli("validate", "folder", "-v").out.count("skipped SCH Widget/w") == 5
    beside = cli("validate", "folder", GOOD)
    assert (beside.code, beside.err) == (0, "")
    assert "6 objects: 1 validated, 5 skipped" in beside.out
    # Even then they are looked at as far as they can be.
    (folder / "a.yaml").write_text(WIDGETS.replace("w1", "w0"), encoding="utf-8")
    twice = cli("validate", "folder")
    assert (twice.code, twice.err) == (1, "")
    assert "YML002" in twice.out


def test_for_repeated_objects_each_path_is_an_input_of_its_own(cli: Cli, folder: Path) -> None:
    assert cli("validate", GOOD, GOOD).code == 0
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_bytes(Path(GOOD).read_bytes())
    assert cli("validate", "folder/a.yaml", "folder/b.yaml").code == 0
    together = cli("validate", "folder")
    assert together.code == 1
    assert "fix   remove one, or give it another name; pass alternatives, such as overlays," in together.out
    assert "YML002 (the same object twice) looks at each path alone" in " ".join(cli("validate", "--help").out.split())
