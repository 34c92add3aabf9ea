"""What the admission layer finds, in the words and shape of the API server's field errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from llmdctl.findings import Path, format_path
from llmdctl.manifest.typed import surely_meant


class Violation(NamedTuple):
    """One refused field: where, which kind of mistake (`code`), and the message the server would give.

    `later` marks what the server accepts although the pods made from it are then refused or never start. `given` is a
    text outside a closed set, and `meant` the member of the set that it can only mean.
    """

    path: Path
    code: str
    message: str
    later: bool = False
    given: str = ""
    meant: str = ""

    @property
    def field(self) -> str:
        """The path as the server writes it in `causes[].field`."""
        return format_path(self.path)


class Out:
    """Collects violations; its methods are the constructors of k8s.io/apimachinery's field errors.

    `minor` is the number after "1." of the target version. With `later` set, everything that is added is marked as
    accepted by the server and failing afterwards.
    """

    __slots__ = ("by_schema", "items", "later", "minor")

    def __init__(self, minor: int) -> None:
        self.items: list[Violation] = []
        self.minor = minor
        self.later = False
        self.by_schema = False

    def failing_later(self, *, by_schema: bool = False) -> Out:
        """A collector that fills the same list but marks its items as failing later.

        `by_schema` says that a CRD's schema judges syntax, so that nothing is said twice.
        """
        other = Out(self.minor)
        other.items = self.items
        other.later = True
        other.by_schema = by_schema
        return other

    def refuse(self, path: Path, code: str, message: str) -> None:
        """A violation that the server refuses at once even where the rest fails later."""
        self.items.append(Violation(path, code, message))

    def add(self, path: Path, code: str, message: str) -> None:
        """A violation with a message of its own."""
        self.items.append(Violation(path, code, message, self.later))

    def invalid(self, path: Path, code: str, value: Any, detail: str) -> None:
        """A value of the right type that is not allowed."""
        self.add(path, code, f"Invalid value: {show(value)}: {detail}")

    def each_invalid(self, path: Path, code: str, value: Any, details: Iterable[str]) -> None:
        """One violation for each reason why a value is not allowed."""
        for detail in details:
            self.invalid(path, code, value, detail)

    def required(self, path: Path, code: str, detail: str = "") -> None:
        """A value that must be there and not be empty."""
        self.add(path, code, f"Required value: {detail}" if detail else "Required value")

    def unsupported(self, path: Path, code: str, value: Any, supported: Iterable[str]) -> None:
        """A value outside a closed set."""
        known = sorted(supported)
        names = ", ".join(f'"{item}"' for item in known)
        message = f"Unsupported value: {show(value)}: supported values: {names}"
        given = value if isinstance(value, str) else ""
        self.items.append(Violation(path, code, message, self.later, given, surely_meant(given, known)))

    def duplicate(self, path: Path, code: str, value: Any) -> None:
        """A value that must be unique and is not."""
        self.add(path, code, f"Duplicate value: {show(value)}")

    def forbidden(self, path: Path, code: str, detail: str) -> None:
        """A field that may not be set here."""
        self.add(path, code, f"Forbidden: {detail}")

    def not_found(self, path: Path, code: str, value: Any, detail: str = "") -> None:
        """A reference to something that the same object lacks."""
        self.add(path, code, f"Not found: {show(value)}" + (f": {detail}" if detail else ""))

    def too_long(self, path: Path, code: str, limit: int) -> None:
        """A text over its limit of bytes."""
        self.add(path, code, f"Too long: may not be more than {limit} bytes")

    def too_many(self, path: Path, code: str, actual: int, limit: int) -> None:
        """A list over its limit of items."""
        self.add(path, code, f"Too many: {actual}: must have at most {limit} items")


def show(value: Any) -> str:
    """A value as the server prints it: text quoted, objects as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
