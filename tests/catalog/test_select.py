"""Listed combinations and their neighbours."""

from __future__ import annotations

from pathlib import Path

from llmdctl.catalog.load import load_catalog
from llmdctl.catalog.select import combinations, find_cell, guide_images, image_names, nearest_cells


def test_a_cell_is_found_by_its_exact_combination(own: Path) -> None:
    tiny = load_catalog([str(own)]).guide("tiny")
    found = find_cell(tiny, "toy", "acme-x1", "lab")
    assert found is tiny.matrix[0]
    assert find_cell(tiny, "toy", "nvidia-h100", "generic") is tiny.matrix[1]
    assert find_cell(tiny, "toy", "nvidia-h100", "lab") is None
    assert find_cell(tiny, "vllm", "acme-x1", "lab") is None


def test_an_extended_provider_is_not_the_same_provider() -> None:
    guide = load_catalog().guide("pd-disaggregation")
    assert find_cell(guide, "vllm", "nvidia-h200", "gke") is not None
    assert find_cell(guide, "vllm", "nvidia-h200", "gke-a4x") is None


def test_combinations_are_each_listed_once(own: Path) -> None:
    tiny = load_catalog([str(own)]).guide("tiny")
    assert [found for found, _ in combinations(tiny)] == [
        ("toy", "acme-x1", "lab"),
        ("toy", "acme-x1", "generic"),
        ("toy", "nvidia-h100", "generic"),
    ]
    assert [cell for _, cell in combinations(tiny)] == [tiny.matrix[0], tiny.matrix[1], tiny.matrix[1]]


def test_the_nearest_differ_in_fewest_coordinates_and_keep_the_hardware(own: Path) -> None:
    tiny = load_catalog([str(own)]).guide("tiny")
    assert nearest_cells(tiny, "toy", "nvidia-h100", "lab") == [
        ("toy", "nvidia-h100", "generic"),
        ("toy", "acme-x1", "lab"),
        ("toy", "acme-x1", "generic"),
    ]


def test_at_most_five_are_near_and_all_are_listed() -> None:
    guide = load_catalog().guide("pd-disaggregation")
    listed = {found for found, _ in combinations(guide)}
    near = nearest_cells(guide, "vllm", "nvidia-h200", "moon")
    assert len(near) == 5
    assert set(near) <= listed
    assert all(combination[:2] == ("vllm", "nvidia-h200") for combination in near[:3])


def test_image_names_follow_engine_family_and_roles() -> None:
    catalog = load_catalog()
    vllm, sglang = catalog.engine("vllm"), catalog.engine("sglang")
    aggregated = image_names(catalog.guide("optimized-baseline"), sglang, "nvidia")
    assert aggregated == ["sglang-nvidia", "endpoint-picker", "envoy"]
    assert "routing-sidecar" in image_names(catalog.guide("pd-disaggregation"), vllm, "nvidia")
    precise = catalog.guide("precise-prefix-cache-routing")
    assert "vllm-render" in image_names(precise, sglang, "nvidia")
    assert "vllm-render" not in image_names(precise, vllm, "nvidia")
    # The pairing job has no router.
    assert image_names(catalog.guide("topology-aware-accelerators"), vllm, "nvidia") == ["vllm-nvidia"]


def test_images_of_a_guide_are_those_of_entries_that_are_there() -> None:
    catalog = load_catalog()
    guide = catalog.guide("optimized-baseline")
    assert "sglang-amd" in guide_images(guide, catalog.engines, catalog.accelerators)
    assert guide_images(guide, {}, catalog.accelerators) == set()
    assert guide_images(guide, catalog.engines, {}) == set()
