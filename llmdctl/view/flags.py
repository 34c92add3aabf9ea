"""Command lines of Go programs (the routing sidecar, the endpoint picker): `--name=value`, `--name value`, `--name`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.view.container import Container, expand

_TRUE = {"1", "t", "T", "true", "TRUE", "True"}


@frozen
class Flag:
    """A flag's value, None when only the cluster knows it, and where it stands."""

    value: str | None
    place: Place


@frozen
class Flags:
    """The flags of a container, by name without dashes; the last of a name wins, as in Go's flag packages."""

    by_name: Mapping[str, Flag]
    place: Place

    def get(self, *names: str) -> Flag | None:
        """The first of these names that is given."""
        return next((self.by_name[name] for name in names if name in self.by_name), None)

    def place_of(self, *names: str) -> Place:
        """Where a flag stands; where the arguments stand when it isn't given."""
        flag = self.get(*names)
        return flag.place if flag else self.place

    def integer(self, default: int, *names: str) -> int | None:
        """A number; `default` when the flag isn't given, None when its value is unknown or no number."""
        flag = self.get(*names)
        if flag is None:
            return default
        return to_integer(flag.value)

    def is_true(self, *names: str) -> bool:
        """True when a boolean flag is given and not false."""
        flag = self.get(*names)
        return flag is not None and flag.value in _TRUE


def to_integer(text: str | None) -> int | None:
    """A decimal number of ordinary size, or None."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return int(text)


def read_flags(container: Container, booleans: frozenset[str]) -> Flags:
    """The flags in a container's command and args; `booleans` names those that take no separate value."""
    found: dict[str, Flag] = {}
    words = list(_words(container))
    index = 0
    while index < len(words):
        word, place = words[index]
        index += 1
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if equals or name in booleans:
            found[name] = Flag(expand(value, container.env) if equals else "true", place)
        elif index < len(words) and not words[index][0].startswith("--"):
            found[name] = Flag(expand(words[index][0], container.env), place)
            index += 1
        else:
            found[name] = Flag("true", place)
    return Flags(found, container.at("args"))


def _words(container: Container) -> Iterator[tuple[str, Place]]:
    for field, values in (("command", container.command), ("args", container.args)):
        for index, value in enumerate(values):
            yield value, container.at(field, index)
