"""Bad input through the real command line: a clear error with its cause, exit code 2, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Result, run_cli

Run = Callable[..., Result]
PD = "pd-disaggregation"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in this process; it checks itself that no traceback and no internal error is shown."""
    return lambda *args: run_cli(capsys, monkeypatch, *args)


def refused(result: Result, *words: str) -> None:
    """The one form of a refusal: exit code 2, nothing on stdout, the words and a `fix` or `why` on stderr."""
    assert result.code == 2, result.err
    assert result.out == ""
    assert result.err.startswith(("error: ", "notice: ", "Usage: ")), result.err
    for word in words:
        assert word in result.err


DEEP_FLOW = "a: " + "[" * 10_000 + "]" * 10_000
DEEP_BLOCK = "\n".join(" " * depth + "a:" for depth in range(10_000))
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
)
BROKEN = {
    "binary junk": (bytes(range(256)) * 4, ()),
    "NUL bytes": (b"a: b\0c\n", ()),
    "invalid UTF-8": (b"a: \xff\xfe\xfa\n", ()),
    "tabs": (b"a:\n\tb: 1\n", (":2", "tab")),
    "deep flow nesting": (DEEP_FLOW.encode(), ("nested deeper",)),
    "deep block nesting": (DEEP_BLOCK.encode(), ("nested deeper",)),
    "an anchor bomb": (BOMB.encode(), ("expand",)),
    "an unclosed quote": (b'a: "b\n', (":",)),
    "an unrendered template": (b"a: {{ .Values.x }}\nb: {{- if .Values.y }}\n", ()),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("command", [("validate",), ("render", "-f"), ("plan", "-f"), ("validate", "--crds")])
def test_files_that_cannot_be_read(run: Run, tmp_path: Path, command: tuple[str, ...], what: str) -> None:
    content, words = BROKEN[what]
    path = tmp_path / "input.yaml"
    path.write_bytes(content)
    good = tmp_path / "good.yaml"
    good.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    rest = [str(good)] if command == ("validate", "--crds") else []
    result = run(*command, str(path), *rest)
    assert result.code == 2
    assert "input.yaml" in result.err
    for word in words:
        assert word in result.err


@pytest.mark.parametrize("command", [("validate",), ("render", "-f"), ("plan", "-f"), ("validate", "--crds")])
def test_a_missing_file_names_its_neighbour(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "stack.yaml").write_text("a: 1\n", encoding="utf-8")
    rest = [str(tmp_path / "stack.yaml")] if "--crds" in command else []
    result = run(*command, str(tmp_path / "stak.yaml"), *rest)
    assert result.code == 2
    assert "stak.yaml" in result.err


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b", ""])
@pytest.mark.parametrize("command", [("validate",), ("render", "-f"), ("plan", "-f"), ("catalog", "lint")])
def test_impossible_paths(run: Run, command: tuple[str, ...], path: str) -> None:
    assert run(*command, path).code == 2


def test_a_directory_is_no_stack(run: Run, tmp_path: Path) -> None:
    refused(run("render", "-f", str(tmp_path)), str(tmp_path))


def test_an_empty_stack_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_bytes(b"")
    refused(run("render", "-f", str(tmp_path / "stack.yaml")), "stack.yaml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("render", "pd-disagregation"), ("pd-disagregation", "did you mean 'pd-disaggregation'?")),
        (("render",), ("neither a guide nor a stack file",)),
        (("render", PD, "--accelerator", "nvidia-h201"), ("nvidia-h201", "did you mean")),
        (("render", PD, "--accelerator", "nvidia-gb200", "--provider", "gke"), ("does not list", "nearest:")),
        (("render", PD, "--engine", "vlm"), ("vlm", "did you mean 'vllm'?")),
        (("render", PD, "--provider", "gk"), ("gk", "did you mean 'gke'?")),
        (("render", PD, "--preset", "8p3d"), ("8p3d", "8p2d")),
        (("render", PD, "--release", "7"), ("'7'", "1.0")),
        (("render", PD, "--kube-version", "banana"), ("--kube-version banana", "'1.36'")),
        (("render", PD, "--kube-version", "1.20"), ("--kube-version 1.20", "1.33")),
        (("plan", PD, "--set", "kubeVersion=1.99"), ("--set kubeVersion=1.99", "1.37")),
        (("render", PD, "--name", "Bad_Name"), ("--name Bad_Name", "qwen-chat")),
        (("render", PD, "--name", "a" * 31), ("--name", "longer than 30")),
        (("render", PD, "-n", "a_b"), ("--namespace a_b", "llm-d")),
        (("render", PD, "--set", "roles.decod.replicas=2"), ("decod", "did you mean")),
        (("render", PD, "--set", "roles.decode.replicas=two"), ("replicas", "two")),
        (("render", PD, "--set", "roles.decode.replicas=-1"), ("replicas",)),
        (("render", PD, "--set", "nonsense"), ("nonsense",)),
        (("render", PD, "--set", "=1"), ()),
        (("plan", PD, "roles.nowhere"), ("roles.nowhere",)),
        (("guide", "show", "nothing"), ("nothing",)),
        (("explain", "XYZ999"), ("XYZ999",)),
        (("validate", "--kube-version", "1.20", "README.md"), ("1.20",)),
        (("validate", "--kube-version", "banana", "README.md"), ("banana",)),
        (("validate", "--engine-version", "vllm", "README.md"), ("vllm",)),
        (("validate", "-o", "xml", "README.md"), ("xml",)),
        (("nonsense",), ("nonsense",)),
        (("render", PD, "--nonsense"), ("--nonsense",)),
    ],
)
def test_usage_errors(run: Run, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(run(*arguments), *words)


def test_every_fault_of_a_stack_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(
        "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nspec:\n  guide: pd-disaggregation\n"
        "  acelerator: nvidia-h200\n  roles:\n    decode:\n      replicas: many\n",
        encoding="utf-8",
    )
    result = run("render", "-f", str(path))
    refused(result, "stack.yaml:5", "did you mean 'accelerator'?", "stack.yaml:8", "whole number")


def test_a_stack_that_names_an_unlisted_accelerator_is_pointed_at(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(
        "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nspec:\n  guide: pd-disaggregation\n"
        "  provider: gke\n  accelerator: nvidia-gb200\n",
        encoding="utf-8",
    )
    refused(run("render", "-f", str(path)), "stack.yaml:6", "nearest:")


def test_a_failed_render_leaves_the_directory_as_it_was(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("a: 1\n", encoding="utf-8")
    refused(run("render", PD, "--accelerator", "nope", "-o", str(tmp_path)), "nope")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_an_output_directory_that_is_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run("render", PD, "-o", str(tmp_path / "file"))
    assert result.code == 2
    assert "cannot write" in result.err


def test_hostile_names_reach_the_terminal_as_escapes(run: Run, tmp_path: Path) -> None:
    result = run("render", "\x1b[31mguide\u202e")
    assert result.code == 2
    assert "\x1b" not in result.err
    assert "\u202e" not in result.err
    path = tmp_path / "hostile.yaml"
    path.write_text('apiVersion: v1\nkind: Service\nmetadata: {name: "\\e[31mred\\u202e"}\n', encoding="utf-8")
    result = run("validate", str(path))
    assert result.code == 1
    assert "\x1b" not in result.out + result.err
    assert "\u202e" not in result.out + result.err


def test_a_crd_with_garbage_inside(run: Run, tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text("apiVersion: a.example/v1\nkind: Thing\nmetadata: {name: a}\n", encoding="utf-8")
    for spec in ("text", "[]", "{group: a.example, names: 3, versions: x}", "{versions: [3, {schema: []}]}"):
        crd = tmp_path / "crd.yaml"
        head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
        crd.write_text(f"{head}spec: {spec}\n", encoding="utf-8")
        assert run("validate", str(crd), str(good)).code in (1, 2)
        refused(run("validate", "--crds", str(crd), str(good)), "crd.yaml", "can't be used")
    crd.write_text(
        f"{head}spec: {{group: a.example, names: {{kind: Thing}}, versions: "
        "[{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: 7}}}}]}\n",
        encoding="utf-8",
    )
    refused(run("validate", "--crds", str(crd), str(good)), "crd.yaml", "version v1", "spec")
    refused(run("validate", "--crds", str(good), str(good)), "good.yaml", "without a CustomResourceDefinition")


def test_standard_input_is_an_input() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n"
    done = subprocess.run(
        [sys.executable, "-m", "llmdctl", "validate", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ADM002" in done.stdout


def test_an_interrupt_ends_with_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "llmdctl", "validate", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell starts its background jobs with interrupts ignored, and the tests may be one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # The program waits for its input; only then an interrupt meets it at work.
    wait_until_reading(process.pid)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in talk


def wait_until_reading(pid: int) -> None:
    for _ in range(600):
        # 0 is the number of `read` and its first argument 0 is standard input (x86-64 and the like).
        if Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").startswith(("0 0x0 ", "63 0x0 ")):
            return
        time.sleep(0.05)
    pytest.fail("the program never read its standard input")


def test_a_reader_that_goes_away_is_no_error() -> None:
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "llmdctl", "rules", "list"], stdout=write_end, stderr=subprocess.PIPE
    )
    os.close(read_end)
    os.close(write_end)
    _, talk = process.communicate(timeout=60)
    assert b"Traceback" not in talk
    assert b"internal error" not in talk
