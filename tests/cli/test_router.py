"""`llmdctl router lint|effective|convert`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml
from cli_run import run_cli

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

CONFIG = """\
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- type: queue-scorer
- type: prefix-cache-scorer
- type: max-score-picker
schedulingProfiles:
- name: default
  plugins:
  - pluginRef: queue-scorer
    weight: 2
  - pluginRef: prefix-cache-scorer
  - pluginRef: max-score-picker
"""
BAD = CONFIG.replace("pluginRef: queue-scorer", "pluginRef: queue-scorr")


def config_map(text: str, name: str = "epp") -> str:
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {f"{name}.yaml": text}}
    )


def put(tmp_path: Path, text: str, name: str = "config.yaml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_good_config_is_covered_and_passes(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(
        capsys, monkeypatch, "router", "lint", put(tmp_path, CONFIG), "--router-version", "0.10.0", "--fail-on-skipped"
    )
    assert result.code == 0, result.out
    assert "1 object: 1 validated" in result.out


@pytest.mark.parametrize("wrap", ["plain", "ConfigMap", "values"])
def test_a_config_is_found_wherever_it_is(tmp_path: Path, capsys: Capture, monkeypatch: Patch, wrap: str) -> None:
    values = yaml.safe_dump({"router": {"epp": {"pluginsCustomConfig": {"custom.yaml": BAD}}}})
    text = {"plain": BAD, "ConfigMap": config_map(BAD), "values": values}[wrap]
    result = run_cli(capsys, monkeypatch, "router", "lint", put(tmp_path, text), "-o", "json")
    assert result.code == 1
    codes = {finding["code"] for finding in json.loads(result.out)["findings"]}
    assert "RTR005" in codes
    assert {code[:3] for code in codes} == {"RTR"}


def test_a_config_comes_from_stdin(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    result = run_cli(capsys, monkeypatch, "router", "lint", "-", "-q")
    assert result.code == 1 and "RTR005" in result.out


def test_a_strange_api_version_is_a_fault(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(tmp_path, CONFIG.replace("llm-d.ai/v1alpha1", "config.x-k8s.io/v1alpha1"))
    result = run_cli(capsys, monkeypatch, "router", "lint", path, "-q")
    assert result.code == 1 and "RTR001" in result.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CONFIG.replace("- type: queue-scorer", "- type: [queue-scorer"), "no YAML"),
        (CONFIG + "plugins: []\n", "plugins"),
    ],
)
def test_an_embedded_text_that_can_not_be_read_is_a_fault(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch, text: str, words: str
) -> None:
    result = run_cli(capsys, monkeypatch, "router", "lint", put(tmp_path, config_map(text)), "-o", "json")
    assert result.code == 1
    findings = json.loads(result.out)["findings"]
    assert any(finding["code"] == "RTR001" and words in finding["title"] for finding in findings)


def test_without_a_version_what_depends_on_it_is_skipped(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(tmp_path, CONFIG.replace("v1alpha1", "v1"))
    assert run_cli(capsys, monkeypatch, "router", "lint", path).code == 0
    assert run_cli(capsys, monkeypatch, "router", "lint", path, "--fail-on-skipped").code == 1
    result = run_cli(capsys, monkeypatch, "router", "lint", path, "--router-version", "v0.10.0", "-q")
    assert result.code == 1 and "RTR002" in result.out


@pytest.mark.parametrize("command", ["lint", "effective", "convert"])
def test_input_without_a_config_is_refused(tmp_path: Path, capsys: Capture, monkeypatch: Patch, command: str) -> None:
    path = put(tmp_path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    result = run_cli(capsys, monkeypatch, "router", command, path)
    assert result.code == 2 and "no endpoint picker config" in result.err


@pytest.mark.parametrize("command", ["lint", "effective", "convert"])
def test_a_version_is_a_number(tmp_path: Path, capsys: Capture, monkeypatch: Patch, command: str) -> None:
    result = run_cli(capsys, monkeypatch, "router", command, put(tmp_path, CONFIG), "--router-version", "main")
    assert result.code == 2 and "--router-version 'main'" in result.err


def test_the_effective_config_is_a_config_with_comments(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(tmp_path, CONFIG)
    result = run_cli(capsys, monkeypatch, "router", "effective", path, "--router-version", "0.10.0")
    assert result.code == 0
    assert "# added: approx-prefix-cache-producer: prefix-cache-scorer needs PrefixCacheMatchInfo" in result.out
    config = yaml.safe_load(result.out)
    assert config["apiVersion"] == "llm-d.ai/v1alpha1"
    assert [ref["pluginRef"] for ref in config["requestHandler"]["parsers"]] == [
        "openai-parser", "anthropic-parser", "vllmhttp-parser",
    ]  # fmt: skip
    # What runs in the end needs no more additions.
    again = put(tmp_path, result.out, "again.yaml")
    second = run_cli(capsys, monkeypatch, "router", "effective", again, "--router-version", "0.10.0")
    assert "# added" not in second.out
    assert yaml.safe_load(second.out) == config


def test_the_effective_config_as_data(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "router", "effective", put(tmp_path, config_map(CONFIG)), "-o", "json")
    data = json.loads(result.out)
    assert result.code == 0
    assert data["config"]["apiVersion"] == "llm-d.ai/v1" and data["refusals"] == []
    assert {entry["plugin"] for entry in data["added"]} >= {"token-producer", "single-profile-handler"}


def test_a_config_that_does_not_start_says_so(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "router", "effective", put(tmp_path, BAD))
    assert result.code == 1
    assert "error: RTR005 schedulingProfiles[0].plugins[0].pluginRef" in result.err


def test_one_of_several_configs_is_chosen_by_name(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(tmp_path, config_map(CONFIG, "one") + "---\n" + config_map(CONFIG, "two"))
    result = run_cli(capsys, monkeypatch, "router", "effective", path)
    assert result.code == 2 and "2 configs" in result.err and "ConfigMap/two" in result.err
    for name in ("two", "two.yaml"):
        assert run_cli(capsys, monkeypatch, "router", "effective", path, "--config", name).code == 0
    assert run_cli(capsys, monkeypatch, "router", "effective", path, "--config", "three").code == 2


def test_converting_tells_its_changes_aside(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(tmp_path, CONFIG.replace("llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1"))
    result = run_cli(capsys, monkeypatch, "router", "convert", path)
    assert result.code == 0
    assert yaml.safe_load(result.out)["apiVersion"] == "llm-d.ai/v1"
    assert "changed: apiVersion:" in result.err
    as_json = run_cli(capsys, monkeypatch, "router", "convert", path, "--to", "v1alpha1", "-o", "json")
    assert json.loads(as_json.out)["apiVersion"] == "llm-d.ai/v1alpha1"


def test_what_is_left_to_do_by_hand_fails(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = put(
        tmp_path, CONFIG.replace("- type: queue-scorer", "- type: precise-prefix-cache-scorer\n  name: queue-scorer")
    )
    result = run_cli(capsys, monkeypatch, "router", "convert", path, "--router-version", "1.0.0")
    assert result.code == 1
    assert "left: plugins[0].type" in result.err


def test_a_target_fits_its_version(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    arguments = ("router", "convert", put(tmp_path, CONFIG), "--to", "v1", "--router-version", "0.10.0")
    result = run_cli(capsys, monkeypatch, *arguments)
    assert result.code == 2 and "v1alpha1" in result.err


def test_a_config_that_can_not_be_decoded_is_refused(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    for text in (CONFIG.replace("weight: 2", "weight: heavy"), config_map(CONFIG.replace("plugins:", "plugins: ["))):
        for command in ("effective", "convert"):
            result = run_cli(capsys, monkeypatch, "router", command, put(tmp_path, text))
            assert result.code == 2 and result.err.startswith("error: ")


def test_a_finding_in_a_block_points_into_it(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    block = "".join(f"    {line}\n" for line in BAD.splitlines())
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  epp.yaml: |\n{block}"
    result = run_cli(capsys, monkeypatch, "router", "lint", put(tmp_path, text), "-o", "json")
    (finding,) = [item for item in json.loads(result.out)["findings"] if item["code"] == "RTR005"]
    line, column = finding["source"]["line"], finding["source"]["column"]
    assert text.splitlines()[line - 1][column - 1 :].startswith("pluginRef: queue-scorr")
    assert finding["pointer"].endswith("schedulingProfiles[0].plugins[0].pluginRef")


def test_the_config_that_a_picker_reads_is_taken_among_several(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    picker = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "epp"},
        "spec": {
            "selector": {"matchLabels": {"app": "epp"}},
            "template": {
                "metadata": {"labels": {"app": "epp"}},
                "spec": {
                    "containers": [
                        {
                            "name": "epp",
                            "image": "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0",
                            "args": ["--pool-name=p", "--config-file=/config/two.yaml"],
                            "volumeMounts": [{"name": "c", "mountPath": "/config"}],
                        }
                    ],
                    "volumes": [{"name": "c", "configMap": {"name": "two"}}],
                },
            },
        },
    }
    maps = [config_map(BAD, "one"), config_map(CONFIG, "two"), yaml.safe_dump(picker)]
    result = run_cli(capsys, monkeypatch, "router", "effective", put(tmp_path, "---\n".join(maps)))
    assert result.code == 0, result.err
    assert "# What router 0.10.0 runs with" in result.out and "ConfigMap/two" in result.out
