"""Catalog roots: what is found where, in which order, and what a bad catalog is answered with."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmdctl.catalog import model_facts
from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.catalog.roots import BuiltinRoot, builtin_directory
from llmdctl.findings import UserError

ENTRY = "apiVersion: catalog.llmdctl.io/v1alpha1\n"
GKE = ENTRY + "kind: Provider\nname: gke\ntitle: {title}\n"


def fault(catalog: Catalog, kind: str, name: str) -> str:
    with pytest.raises(UserError) as caught:
        getattr(catalog, kind)(name)
    return "\n".join(caught.value.lines())


def test_the_built_in_catalog_loads_completely() -> None:
    catalog = load_catalog()
    assert {"optimized-baseline", "pd-disaggregation"} <= set(catalog.guides)
    assert {"vllm", "sglang"} <= set(catalog.engines)
    assert {"generic", "gke", "coreweave"} <= set(catalog.providers)
    for entries in (catalog.guides, catalog.engines, catalog.models, catalog.accelerators, catalog.providers):
        assert all(entry.name == name for name, entry in entries.items())
    assert catalog.images.default_release in catalog.images.releases
    assert catalog.notices == []


def test_origins_are_short_and_data_is_as_written() -> None:
    catalog = load_catalog()
    assert catalog.origin("Provider", "gke") == "guides/_catalog/providers/gke.yaml"
    assert catalog.origin("Guide", "pd-disaggregation") == "guides/pd-disaggregation/guide.yaml"
    assert catalog.origin("Model", "openai/gpt-oss-120b") == "guides/_catalog/models/openai--gpt-oss-120b.yaml"
    assert catalog.origin("ImageCatalog", "1.0") == "images/catalog.yaml"
    assert catalog.data("Engine", "vllm")["kind"] == "Engine"
    assert catalog.data("ImageCatalog", "1.0")["kind"] == "ImageCatalog"


def test_entries_are_mappings() -> None:
    providers = load_catalog().providers
    assert len(providers) == len(list(providers))
    assert "nowhere" not in providers
    assert providers.get("nowhere") is None
    with pytest.raises(KeyError):
        providers["nowhere"]


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(builtin_directory() / "guides", root / "guides")
    for broken in (root / "guides/_catalog/providers/gke.yaml", root / "guides/optimized-baseline/guide.yaml"):
        broken.write_text("kind: [\n")
    catalog = Catalog([BuiltinRoot(root)])
    assert catalog.provider("coreweave").name == "coreweave"
    assert catalog.guide("pd-disaggregation").roles == ["prefill", "decode"]
    assert "gke.yaml" in fault(catalog, "provider", "gke")


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("guide", "pd-disagregation", "did you mean 'pd-disaggregation'?"),
        ("guide", "_shared", "there is no guide '_shared'"),
        ("guide", "zzz", "the catalog has: optimized-baseline"),
        ("engine", "vlm", "did you mean 'vllm'?"),
        ("engine", "VLLM", "did you mean 'vllm'?"),
        ("provider", "../providers/gke", "there is no provider"),
        ("accelerator", "nvidia-h20", "did you mean 'nvidia-h200'?"),
        ("accelerator", "x" * 5000, "there is no accelerator"),
        ("accelerator", "a\0b", "there is no accelerator"),
        ("model", "openai/gpt-oss-12b", "did you mean 'openai/gpt-oss-120b'?"),
        ("model", "", "there is no model ''"),
    ],
    ids=lambda value: value[:20],
)
def test_unknown_names_are_answered_with_near_ones(kind: str, name: str, says: str) -> None:
    assert says in fault(load_catalog(), kind, name)


def test_models_are_found_by_hub_id_in_any_letter_case() -> None:
    catalog = load_catalog()
    for spelled in ("Qwen/Qwen3-32B", "qwen/qwen3-32b"):
        found = catalog.find_model(spelled)
        assert found is not None
        assert found.name == "Qwen/Qwen3-32B"
    assert catalog.find_model("nobody/nothing") is None
    facts = model_facts("Qwen/Qwen3-32B")
    assert facts is not None
    assert facts.kv_heads == 8
    assert model_facts("nobody/nothing") is None


def test_a_users_directory_comes_first(own: Path) -> None:
    catalog = load_catalog([str(own)])
    assert catalog.accelerator("acme-x1").memory_gib == 64
    assert catalog.provider("lab").extends == "generic"
    assert catalog.provider("gke").name == "gke"
    assert catalog.engine("toy").command == ["toy", "serve"]
    assert {"tiny", "pd-disaggregation"} <= set(catalog.guides)
    assert catalog.origin("Guide", "tiny") == str(own / "guides/tiny/guide.yaml")
    assert catalog.notices == []


def test_release_sets_add_up_and_the_first_names_the_default(own: Path) -> None:
    catalog = load_catalog([str(own)])
    images = catalog.images
    assert images.default_release == "lab"
    assert "toy-acme" in images.releases["lab"].images
    assert "toy-acme" in images.releases["1.0"].images
    # Image by image: what the own set lacks is taken from ours.
    assert "vllm-nvidia" in images.releases["1.0"].images
    assert sorted(catalog.notices) == [
        f"image {image} of release {release} shadows the one in images/catalog.yaml"
        for image in ("endpoint-picker", "envoy")
        for release in ("0.8", "0.9", "1.0")
    ]
    with pytest.raises(UserError, match="there is no release set '7'"):
        catalog.origin("ImageCatalog", "7")


def test_templates_are_looked_up_in_the_guide_then_in_shared_directories(own: Path) -> None:
    catalog = load_catalog([str(own)])
    ours = builtin_directory() / "guides"
    assert catalog.template_dirs("tiny") == [own / "guides/tiny/templates", ours / "_shared"]
    assert catalog.template_dirs("pd-disaggregation") == [ours / "_shared"]


def test_order_of_roots_and_notices(tmp_path: Path) -> None:
    titles = {}
    for name in ("option", "first", "second", ".llmdctl/catalog"):
        directory = tmp_path / name
        directory.mkdir(parents=True)
        (directory / "any-name.yaml").write_text(GKE.format(title=name))
        titles[name] = directory
    environment = {"LLMDCTL_CATALOG": os.pathsep.join(["first", str(titles["second"])])}

    def title(*directories: str, **env: str) -> str:
        return load_catalog(directories, env, tmp_path).provider("gke").title

    assert title("option", **environment) == "option"
    assert title("second", "option", **environment) == "second"
    assert title(**environment) == "first"
    assert title() == ".llmdctl/catalog"
    assert load_catalog(cwd=tmp_path / "first").provider("gke").title.startswith("Google")

    catalog = load_catalog(["option"], {}, tmp_path)
    catalog.provider("coreweave")
    assert catalog.notices == []
    catalog.provider("gke")
    catalog.provider("gke")
    assert len(catalog.notices) == 1
    assert "provider gke of " in catalog.notices[0]
    assert "option" in catalog.notices[0]


@pytest.mark.parametrize("name", ["absent", "x" * 5000, "a\0b"])
def test_a_directory_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="--catalog: there is no directory"):
        load_catalog([name], {}, tmp_path)
    with pytest.raises(UserError, match="LLMDCTL_CATALOG: there is no directory"):
        load_catalog([], {"LLMDCTL_CATALOG": name}, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ENTRY + "kind: Provider\nname: lab\nextend: gke\n", ":4:1: extend: unknown field 'extend'"),
        (ENTRY + "kind: Provider\n", "needs a name"),
        (ENTRY + "kind: Provider\nname: 7\n", "needs a name"),
        (ENTRY + "kind: Providr\nname: lab\n", "no kind 'Providr'"),
        ("apiVersion: catalog.llmdctl.io/v9\nkind: Provider\nname: lab\n", "apiVersion is 'catalog.llmdctl.io/v9'"),
        ("kind: Provider\nname: lab\n", "apiVersion is None"),
        (ENTRY + "kind: Provider\nname: lab\n---\n" + ENTRY + "kind: Provider\nname: lab\n", "twice"),
        (ENTRY + "kind: Provider\nname: lab\nname: lib\n", "named twice"),
        ("kind: [\n", "not valid YAML"),
        ("a: {{ b }}\n", "template"),
        ("\0", "not text"),
    ],
)  # fmt: skip
def test_a_bad_file_of_a_user_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    answer = fault(load_catalog([str(tmp_path)]), "provider", "lab")
    assert says in answer
    assert "bad.yaml" in answer


def test_an_entry_in_a_file_of_another_name_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "guides/_catalog/providers"
    folder.mkdir(parents=True)
    (folder / "moon.yaml").write_text(GKE.format(title="x"))
    assert "does not belong into a file of this name" in fault(Catalog([BuiltinRoot(tmp_path)]), "provider", "moon")
