"""The release sets: what each release carries, how sure that is, and that the engines inside are known."""

from __future__ import annotations

import pytest

from llmdctl.catalog.load import load_catalog
from llmdctl.catalog.model import Image
from llmdctl.engines import load_table, table_for
from llmdctl.findings.versions import Version
from llmdctl.view.versions import image_component, image_version

IMAGES = load_catalog().images
ALL = [(release, name, image) for release, found in IMAGES.releases.items() for name, image in found.images.items()]
IDS = [f"{release}-{name}" for release, name, _ in ALL]
TABLED = ("vllm", "sglang", "sim")
"""Engines whose flags are known by version. TPU, CPU and ROCm builds take the flags of their vLLM version."""


def image(release: str, name: str) -> Image:
    return IMAGES.releases[release].images[name]


@pytest.mark.parametrize(
    ("release", "router", "vllm", "tpu", "sglang", "lws"),
    [
        ("0.8", "0.9.0", "0.23.0", "0.22.0", "0.5.13.post1", "0.9.0"),
        ("0.9", "0.10.0", "0.26.0", "0.26.0", "0.5.16", "0.10.0"),
        ("1.0", "1.0.0", "0.30.0", "0.29.0", "0.5.20", "0.11.1"),
    ],
)
def test_versions_of_a_release(release: str, router: str, vllm: str, tpu: str, sglang: str, lws: str) -> None:
    assert {image(release, name).version for name in ("endpoint-picker", "routing-sidecar")} == {router}
    families = ("nvidia", "amd", "intel", "cpu", "nvidia-efa")
    assert {image(release, f"vllm-{family}").version for family in families} == {vllm}
    assert image(release, "vllm-google").version == tpu
    assert {image(release, f"sglang-{family}").version for family in ("nvidia", "amd", "amd-mi35x")} == {sglang}
    components = IMAGES.releases[release].components
    assert (components["router"], components["lws"]) == (router, lws)
    assert components["gateway-api-inference-extension"] == "1.5.0"


@pytest.mark.parametrize(("release", "name", "found"), ALL, ids=IDS)
def test_each_engine_version_has_a_flag_table(release: str, name: str, found: Image) -> None:
    if found.component in TABLED:
        table = load_table(found.component, found.version)
        assert table is not None and table.version == found.version, f"{name} of {release}"
    elif found.component == "trtllm":
        # Its package is not served: one table for the 1.3 builds, which says that it may lack flags.
        table = table_for(found.component, Version.parse(found.version))
        assert table is not None and not table.complete
    else:
        assert found.component in {"endpoint-picker", "routing-sidecar", "envoy"}


def test_each_release_has_the_same_images() -> None:
    # 1.0 alone needs an older TPU build for KV transfer, which is the usual one in 0.9.
    names = {release: set(found.images) - {"vllm-google-p2p"} for release, found in IMAGES.releases.items()}
    assert names["0.8"] == names["0.9"] == names["1.0"]


def test_what_nobody_saw_published_in_1_0() -> None:
    unsure = {
        name for name, found in IMAGES.releases["1.0"].images.items() if found.provenance.confidence == "inferred"
    }
    efa = {"vllm-nvidia-efa", "sglang-nvidia-efa"}
    assert unsure == {"endpoint-picker", "routing-sidecar", "sglang-amd", "sglang-amd-mi35x", *efa}


@pytest.mark.parametrize("found", [image for _, _, image in ALL], ids=IDS)
def test_the_validator_reads_the_same_version_from_an_image(found: Image) -> None:
    """Where the tag is the component's own version, manifests of others get the same checks as ours."""
    component = {"endpoint-picker": "epp", "routing-sidecar": "sidecar"}.get(found.component, found.component)
    reference = f"{found.repository}:{found.tag}"
    if found.repository.startswith("ghcr.io/llm-d/llm-d-") and found.component == "vllm":
        assert image_component(reference) == ""
    elif component in ("vllm", "sglang", "sim", "epp", "sidecar"):
        assert image_component(reference) == component
        assert image_version(reference, component) == Version.parse(found.version)
