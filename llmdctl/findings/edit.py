"""A fix that a machine can make: small edits of an object, each at a path."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.findings.place import Place


class Op(StrEnum):
    """What an edit does. A place inside a list names an item by its index; one past the last appends."""

    REPLACE = "replace"
    RENAME = "rename"
    REMOVE = "remove"
    ADD = "add"


@frozen
class Edit:
    """One change at a place: `value` is what is put there (replace, add) or the new name of the key (rename).

    `written` is how a scalar must be written in the file for the edit to be right ("" for any way): a number may stand
    there in a form that reads as another text. A rule offers edits only where no other mending makes sense.
    """

    op: Op
    at: Place
    value: Any = None
    written: str = ""

    def __hash__(self) -> int:
        """Values may be lists and maps, so they are left out."""
        return hash((self.op, self.at))

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        source = self.at.source
        return {
            "op": str(self.op),
            "object": self.at.object.as_dict(),
            "pointer": self.at.pointer,
            "file": source.file if source else "",
            "value": self.value,
        }
