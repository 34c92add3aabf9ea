"""The text of an endpoint picker's config, read once for all who ask: overlays repeat the same text many times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from llmdctl.findings.versions import Version
from llmdctl.view.lazy import lazy

if TYPE_CHECKING:
    from llmdctl.manifest.reader import Reading
    from llmdctl.router.config import RouterConfig
    from llmdctl.router.fault import Fault

# What the router's modules are needed for is imported inside: most inputs hold no picker.


class ConfigData:
    """The plain data of a config, its typed form, and everything that is wrong with it."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._faults: dict[Version | None, list[Fault]] = {}

    @property
    def data(self) -> Any:
        """The plain data; None when there is none that can be read."""
        return self._data

    @lazy
    def config(self) -> RouterConfig | None:
        """The typed form, None when the picker would refuse it."""
        from llmdctl.router.config import load_problems

        return load_problems(self.data)[0]

    @lazy
    def experimental(self) -> list[str]:
        """The instances that need --allow-experimental-plugins."""
        from llmdctl.router.lint import experimental

        return experimental(self.config) if self.config else []

    def faults(self, version: Version | None) -> list[Fault]:
        """Everything that is wrong with it for a router of this version, or for any."""
        if version not in self._faults:
            self._faults[version] = list(self._find(version))
        return self._faults[version]

    def _find(self, version: Version | None) -> Iterator[Fault]:
        from llmdctl.router.lint import lint

        yield from lint(self.data, version)


class ConfigText(ConfigData):
    """A config that is written as text inside something else."""

    def __init__(self, text: str) -> None:
        super().__init__(None)
        self.text = text

    @property
    def data(self) -> Any:
        """The plain data; None when the text is no YAML."""
        return self._reading.documents[0].object if self._reading.documents and not self._reading.errors else None

    @lazy
    def _reading(self) -> Reading:
        from llmdctl.manifest import read_text

        return read_text(self.text, "config")

    def _find(self, version: Version | None) -> Iterator[Fault]:
        unread = list(self._unreadable())
        yield from unread
        if not unread or self.data is not None:
            yield from super()._find(version)

    def _unreadable(self) -> Iterator[Fault]:
        """Why the picker can't read the text; files of their own are judged where they are read."""
        from llmdctl.router.fault import Fault

        for error in self._reading.errors:
            line = f" at its line {error.source.line}" if error.source and error.source.line else ""
            yield Fault("RTR001", (), f"the config is no YAML{line}: {error.why or error.what}", "mend the text")
        for finding in (item for item in self._reading.findings if item.code == "YML001"):
            line = f" (line {finding.source.line} of the text)" if finding.source and finding.source.line else ""
            yield Fault("RTR001", (), f"{finding.title}{line}", finding.fix)


class ConfigTexts:
    """The texts of one input."""

    def __init__(self) -> None:
        self._known: dict[str, ConfigText] = {}

    def read(self, text: str) -> ConfigText:
        """The one object of a text."""
        return self._known.setdefault(text, ConfigText(text))
