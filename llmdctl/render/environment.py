"""The template environment: templates read the plan and print whole JSON values, and can do nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest import read_text
from llmdctl.manifest.emit import emit_yaml


def finalize(value: Any) -> str:
    """What `{{ x }}` prints: a JSON scalar, list or map, which is YAML wherever a value may stand.

    Raises TypeError for anything that is not plain data, such as a part of the plan printed whole.
    """
    return _YAML_HOSTILE.sub(_escape, json.dumps(value, ensure_ascii=False, allow_nan=False))


# JSON leaves these as they are, but YAML folds or refuses them inside quotes: line and paragraph separators, next line,
# delete and other control characters, the byte order mark, and non-characters.
_YAML_HOSTILE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class Templates:
    """Templates of a guide: its own directory first, then the shared one."""

    def __init__(self, directories: Sequence[Path], cache: Path | None = None) -> None:
        """`cache` is a directory for compiled templates, which Jinja2 keys by their text; None compiles each time."""
        self._environment = SandboxedEnvironment(
            loader=jinja2.FileSystemLoader([str(directory) for directory in directories]),
            bytecode_cache=jinja2.FileSystemBytecodeCache(str(cache)) if cache else None,
            undefined=jinja2.StrictUndefined,
            finalize=finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )
        self._environment.globals = {"part": self._part, "file": self._file}
        self._context: dict[str, Any] = {}

    def render(self, name: str, context: dict[str, Any]) -> Any:
        """The object that a template makes. Raises UserError naming template, line and the plan's missing part."""
        self._context = context
        return self._part(name)

    def _part(self, name: str, **extra: Any) -> Any:
        """In templates: the data that another template makes, with `extra` variables on top."""
        outer = self._context
        self._context = {**outer, **extra}
        try:
            text = self._text(name)
        finally:
            self._context = outer
        reading = read_text(text, name)
        if reading.errors:
            raise reading.errors[0]
        if len(reading.documents) != 1 or reading.findings:
            raise UserError(
                f"template {name} does not make one clean document",
                fix="\n".join(finding.title for finding in reading.findings),
            )
        return reading.documents[0].object

    def _file(self, name: str, **extra: Any) -> str:
        """In templates: the text of a file (a ConfigMap value) that another template makes as data."""
        return emit_yaml(without_nulls(self._part(name, **extra)))

    def _text(self, name: str) -> str:
        try:
            return self._environment.get_template(name).render(self._context)
        except jinja2.TemplateSyntaxError as error:
            raise _template_error(name, error.lineno, str(error.message), error) from error
        except jinja2.TemplateNotFound as error:
            raise UserError(f"template {error.name} was not found", fix="check the guide's `objects`") from error
        except (jinja2.UndefinedError, jinja2.exceptions.SecurityError, TypeError, ValueError) as error:
            raise _template_error(name, _line_of(error), str(error), error) from error


def _template_error(name: str, line: int, message: str, error: Exception) -> UserError:
    return UserError(
        f"template {name}: {message}",
        source=SourceRef(name, line),
        why=f"a template may only print what the plan holds ({type(error).__name__})",
        fix="compare the name with `llmdctl plan`",
    )


def _line_of(error: Exception) -> int:
    """The template line of a run-time error: Jinja2 puts template frames into the traceback."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith((".j2", "<template>")):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def without_nulls(value: Any) -> Any:
    """The data without null entries of maps: absent parts of the plan print as null and are dropped here."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
