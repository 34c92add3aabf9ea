"""Versions of components: told by the user, by an annotation, or by an image's name and tag; else unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version

ANNOTATION = "llmdctl.io/component-version"
ENGINES = ("vllm", "sglang", "trtllm", "sim")

# Image basename -> component. Only images whose tag is the component's own version: llm-d-cuda and its kin carry
# llm-d's version and any engine build.
_IMAGES = {
    "vllm-openai": "vllm",
    "vllm-openai-cpu": "vllm",
    "vllm-openai-rocm": "vllm",
    "vllm-openai-xpu": "vllm",
    "vllm-tpu": "vllm",
    "vllm": "vllm",
    "sglang": "sglang",
    "llm-d-inference-sim": "sim",
    "llm-d-router-disagg-sidecar": "sidecar",
    "llm-d-router-disagg-sidecar-dev": "sidecar",
    "llm-d-routing-sidecar": "legacy-sidecar",
    "llm-d-router-endpoint-picker": "epp",
    "llm-d-router-endpoint-picker-dev": "epp",
}


def split_image(image: str) -> tuple[str, str, str]:
    """Repository basename, tag and digest of an image reference; parts that it lacks are ""."""
    name, _, digest = image.partition("@")
    base = name.rpartition("/")[2]
    base, _, tag = base.partition(":")
    return base, tag, digest


def image_version(image: str, component: str) -> Version | None:
    """The version of `component` that an image's name and tag tell, or None when they don't."""
    base, tag, _ = split_image(image)
    return Version.parse(tag) if tag and _IMAGES.get(base) == component else None


def image_component(image: str) -> str:
    """Which component an image's name tells (`vllm`, `sidecar`, `epp`, ...), or ""."""
    return _IMAGES.get(split_image(image)[0], "")


@frozen
class VersionOptions:
    """Versions that the user states; keys are (role or "", component)."""

    stated: Mapping[tuple[str, str], Version] = field(default_factory=dict)

    def get(self, role: str, component: str) -> Version | None:
        """What was stated for that role, else for every role."""
        return self.stated.get((role, component)) or self.stated.get(("", component))


def parse_version_options(values: list[str]) -> VersionOptions:
    """Reads `--engine-version [ROLE=]vllm@0.30.0`. Raises UserError when a value has another form."""
    stated: dict[tuple[str, str], Version] = {}
    for value in values:
        role, _, rest = value.rpartition("=")
        component, _, number = rest.partition("@")
        version = Version.parse(number)
        if not component or version is None:
            raise UserError(
                f"--engine-version {value!r} is not [ROLE=]ENGINE@VERSION",
                fix="for example --engine-version vllm@0.30.0, or --engine-version prefill=vllm@0.30.0",
            )
        if component not in (*ENGINES, "sidecar", "epp"):
            known = ", ".join((*ENGINES, "sidecar", "epp"))
            raise UserError(f"--engine-version names the unknown component {component!r}", fix=f"one of: {known}")
        stated[role, component] = version
    return VersionOptions(stated)


# llmdctl's own annotation names components as its image catalog does.
_ALSO_CALLED = {"sidecar": "routing-sidecar", "epp": "endpoint-picker"}


def annotated_version(annotation: str, component: str) -> Version | None:
    """What the annotation `llmdctl.io/component-version: vllm@0.30.0, sidecar@0.10.0` says of a component."""
    for part in annotation.split(","):
        name, _, number = part.strip().partition("@")
        if name and name in (component, _ALSO_CALLED.get(component)):
            return Version.parse(number)
    return None
