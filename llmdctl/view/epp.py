"""The endpoint picker: its flags, and the config that it reads from a ConfigMap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llmdctl.findings import Place
from llmdctl.findings.versions import Version
from llmdctl.view.config_text import ConfigTexts
from llmdctl.view.container import Container
from llmdctl.view.flags import Flags, read_flags
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node
from llmdctl.view.pod import PodTemplate
from llmdctl.view.versions import image_component, image_version

if TYPE_CHECKING:
    from llmdctl.router.config import RouterConfig

_BOOLEANS = frozenset(
    {"secure-serving", "ha-enable-leader-election", "tracing", "metrics-endpoint-auth", "enable-pprof", "v"}
)

ConfigMaps = Callable[[str, str], Node | None]
"""The `data` of a ConfigMap by namespace and name."""


class Epp:
    """A container that runs the endpoint picker."""

    def __init__(
        self, template: PodTemplate, container: Container, config_maps: ConfigMaps, texts: ConfigTexts
    ) -> None:
        self.template = template
        self._stated = template.stated_version("epp")
        self.container = container
        self._config_maps = config_maps
        self._texts = texts

    @property
    def place(self) -> Place:
        """Where the container stands."""
        return self.container.place

    @lazy
    def flags(self) -> Flags:
        """Its command line."""
        return read_flags(self.container, _BOOLEANS)

    @lazy
    def version(self) -> Version | None:
        """The picker's version, None when neither an option, an annotation nor the image tells."""
        return self._stated or image_version(self.container.image, "epp")

    def _flag(self, name: str) -> str:
        flag = self.flags.get(name)
        return (flag.value or "") if flag else ""

    @property
    def pool_name(self) -> str:
        """The pool that it serves, or "" when it selects pods itself or the flag is unknown."""
        return self._flag("pool-name")

    @property
    def pool_namespace(self) -> str:
        """The pool's namespace: its own unless told otherwise."""
        return self._flag("pool-namespace") or self.template.namespace

    @property
    def config_data(self) -> Any:
        """The plain data of its config; None when it is not in the input or no YAML."""
        return self._texts.read(self.config_text).data if self.config_text else None

    @lazy
    def config_text(self) -> str:
        """The text of its config, "" when it is not in the input."""
        return self._flag("config-text") or (self._file_node.text() if self._file_node else "")

    @property
    def config_node(self) -> Node | None:
        """Where the text stands: a ConfigMap's value, or the container's arguments."""
        if self._flag("config-text"):
            return self.container.node.at("args")
        return self._file_node

    @property
    def config(self) -> RouterConfig | None:
        """Its typed config; None when it is not in the input or the picker would refuse it."""
        return self._texts.read(self.config_text).config if self.config_text else None

    @lazy
    def _file_node(self) -> Node | None:
        path = self._flag("config-file")
        folder, _, file = path.rpartition("/")
        for mount in self.container.node.at("volumeMounts").items():
            if folder and mount.at("mountPath").text().rstrip("/") == folder:
                return self._from_volume(mount.at("name").text(), file)
        return None

    def _from_volume(self, volume_name: str, file: str) -> Node | None:
        for volume in self.template.node.at("spec", "volumes").items():
            if volume.at("name").text() == volume_name:
                data = self._config_maps(self.template.namespace, volume.at("configMap", "name").text())
                return data.key(file) if data and data.key(file).exists else None
        return None


def find_epp(template: PodTemplate, config_maps: ConfigMaps, texts: ConfigTexts) -> Epp | None:
    """The endpoint picker among a template's containers, by image or by flags that only it has."""
    for container in template.containers:
        if image_component(container.image) == "epp":
            return Epp(template, container, config_maps, texts)
        if any(word.partition("=")[0] in ("--pool-name", "--endpoint-selector") for word in container.args):
            return Epp(template, container, config_maps, texts)
    return None
