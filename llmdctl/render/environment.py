"""The template environment: templates read the plan and print whole JSON values, and can do nothing else."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest import read_text
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.raw import Scalars
from llmdctl.manifest.simple import Lines

_SIMPLE = (str, int, float, bool, type(None))

# Stands for a value in a template's text. Nobody can guess it, so no text of a user can be taken for one.
_TOKEN = f"value-{secrets.token_hex(12)}-"


class _Values:
    """The values that one template prints.

    Scalars that read back as they are stand in the text. Maps, lists and texts with escapes are kept here, and a token
    stands in their place: so the text stays in the plain style that is read without a YAML library, and what YAML
    would make of a hostile text does not matter.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def finalize(self, value: Any) -> str:
        """What `{{ x }}` prints: always one whole value. Raises TypeError for anything that is not plain data."""
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
        if isinstance(value, _SIMPLE) and "\\" not in text:
            return text
        token = f"{_TOKEN}{len(self._kept)}"
        self._kept[token] = json.loads(text)
        return f'"{token}"'

    def whole(self, text: str) -> Any:
        """The value of a template that prints nothing else; None for any other text."""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        return self._kept.get(lines[0].strip().strip('"')) if len(lines) == 1 else None

    def resolve(self, data: Any) -> Any:
        """The data with every token replaced by its value."""
        if isinstance(data, dict):
            return {key: self.resolve(item) for key, item in data.items()}
        if isinstance(data, list):
            return [self.resolve(item) for item in data]
        return self._kept.get(data, data) if isinstance(data, str) else data


@jinja2.pass_context
def _finalize(context: jinja2.runtime.Context, value: Any) -> str:
    # With the context as its argument, Jinja2 calls this for constants too when it renders, not when it compiles.
    values: _Values = context[_VALUES]
    return values.finalize(value)


_VALUES = "_values"

# Jinja2 keys compiled templates by their text alone; the number changes with how this module has them compiled.
_CACHE_FILES = "__jinja2_%s.2.cache"


class Templates:
    """Templates of a guide: its own directory first, then the shared one."""

    def __init__(self, directories: Sequence[Path], cache: Path | None = None) -> None:
        """`cache` is a directory for compiled templates, which Jinja2 keys by their text; None compiles each time."""
        self._environment = SandboxedEnvironment(
            loader=jinja2.FileSystemLoader([str(directory) for directory in directories]),
            bytecode_cache=jinja2.FileSystemBytecodeCache(str(cache), _CACHE_FILES) if cache else None,
            undefined=jinja2.StrictUndefined,
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )
        self._environment.globals = {"part": self._part, "file": self._file}
        self._context: dict[str, Any] = {}
        self._lines = Lines(Scalars())

    def render(self, name: str, context: dict[str, Any]) -> Any:
        """The object that a template makes. Raises UserError naming template, line and the plan's missing part."""
        self._context = context
        return self._part(name)

    def _part(self, name: str, **extra: Any) -> Any:
        """In templates: the data that another template makes, with `extra` variables on top."""
        outer = self._context
        values = _Values()
        self._context = {**outer, **extra, _VALUES: values}
        try:
            text = self._text(name)
        finally:
            self._context = outer
        whole = values.whole(text)
        if whole is not None:
            return whole
        reading = read_text(text, name, self._lines)
        if reading.errors:
            raise reading.errors[0]
        if len(reading.documents) != 1 or reading.findings:
            raise UserError(
                f"template {name} does not make one clean document",
                fix="\n".join(finding.title for finding in reading.findings),
            )
        return values.resolve(reading.documents[0].object)

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
