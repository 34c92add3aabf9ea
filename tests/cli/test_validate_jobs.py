"""`llmdctl validate --jobs N`: several processes say the same as one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from cli_run import Cli, Result, run_cli

from llmdctl.manifest.parallel import map_chunks, processes
from llmdctl.validate.registry import EXAMPLES
from llmdctl.validate.server import ServerLayers

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.moon.example}
spec:
  group: moon.example
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}
"""
WIDGET = "apiVersion: moon.example/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: big}\n"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs llmdctl where a few files are many."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("llmdctl.manifest.reader.PARALLEL_FILES", 2)
    monkeypatch.setattr("llmdctl.validate.pipeline.PARALLEL_OBJECTS", 2)

    def run(*args: str) -> Result:
        return run_cli(capsys, monkeypatch, *args)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Every example in a file of its own, and a custom kind whose definition stands in another file."""
    made = tmp_path / "all"
    made.mkdir()
    for example in sorted(EXAMPLES.glob("*/*.yaml")):
        (made / f"{example.parent.name}-{example.name}").write_bytes(example.read_bytes())
    (made / "zz-crd.yaml").write_text(CRD)
    (made / "aa-widget.yaml").write_text(WIDGET)
    return made


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", ["json", "text"])
def test_several_processes_say_the_same_as_one(cli: Cli, form: str) -> None:
    one = cli("validate", "all", "-o", form)
    assert one.code == 1
    assert "size must be an integer" in one.out
    for jobs in ("2", "3", "0"):
        assert cli("validate", "all", "-o", form, "--jobs", jobs) == one


def test_paths_stay_inputs_of_their_own(cli: Cli, folder: Path) -> None:
    files = [str(path.relative_to(Path.cwd())) for path in sorted(folder.glob("PRT*"))]
    words = ["validate", *files, files[0], "-o", "json"]
    assert cli(*words, "--jobs", "2") == cli(*words)


def test_input_that_cannot_be_read_is_told_in_the_same_order(cli: Cli, folder: Path) -> None:
    for name in ("bb.yaml", "mm.yaml", "yy.yaml"):
        (folder / name).write_text("a: [")
    one = cli("validate", "none", "all", "nothing.yaml")
    assert one.code == 2
    assert one.err.count("error: ") == 5
    assert cli("validate", "none", "all", "nothing.yaml", "--jobs", "2") == one


def test_files_can_be_mended_by_several_processes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for number in range(6):
        text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{number}}}\nspec: {{prots: [{{port: '80'}}]}}\n"
        (tmp_path / "all" / f"{number}.yaml").write_text(text)
    result = cli("validate", "all", "--jobs", "2", "--fix", "--write")
    assert result.code == 0
    assert "fixed 12 findings in 6 files" in result.err


@pytest.mark.usefixtures("folder")
def test_a_process_that_is_ended_is_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    main = os.getpid()
    real = ServerLayers.check

    def die(self: ServerLayers, document: Any) -> Any:
        return real(self, document) if os.getpid() == main else os._exit(9)

    monkeypatch.setattr(ServerLayers, "check", die)
    result = cli("validate", "all", "--jobs", "2")
    assert (result.code, "use --jobs 1" in result.err) == (2, True)


def test_jobs_are_counted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("validate", "x.yaml", "--jobs", "-1").code == 2
    assert processes(3) == 3
    assert processes(0) == len(os.sched_getaffinity(0))
    monkeypatch.setattr("sys.platform", "darwin")
    assert processes(8) == 1


@pytest.mark.parametrize("size", [0, 1, 2, 7, 50])
def test_chunks_hold_everything_once_and_in_order(size: int) -> None:
    chunks = map_chunks(list, range(size), 3)
    assert [item for chunk in chunks for item in chunk] == list(range(size))
