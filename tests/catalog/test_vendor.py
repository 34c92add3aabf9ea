"""A vendor's cell is YAML only: the example of docs/vendors.md, rendered and validated from outside the package."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from llmdctl.catalog.lint import lint_catalog
from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest.document import Document
from llmdctl.plan.build import build_plan
from llmdctl.plan.model import Plan
from llmdctl.plan.request import Request, flag_layer
from llmdctl.render.objects import render
from llmdctl.validate.pipeline import ValidateOptions, validate

BLOCK = re.compile(r"```yaml\n# (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def acme(root: Path, tmp_path: Path) -> Path:
    """The example's files, as the page prints them."""
    directory = tmp_path / "acme"
    directory.mkdir()
    found = BLOCK.findall((root / "docs" / "vendors.md").read_text(encoding="utf-8"))
    assert [name for name, _ in found] == ["accelerator.yaml", "provider.yaml", "images.yaml"]
    for name, text in found:
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def plan(catalog: Catalog, guide: str, **spec: Any) -> Plan:
    values: dict[Any, tuple[Any, str]] = {("spec", key): (value, key) for key, value in spec.items()}
    return build_plan(Request((flag_layer({("spec", "guide"): (guide, "guide"), **values}),)), catalog)


def test_a_connector_class_of_the_vendor_and_the_only_connector_that_works(acme: Path) -> None:
    file = acme / "accelerator.yaml"
    text = file.read_text(encoding="utf-8")
    own = "kvTransfer: {class: AcmeConnector, module: acme_vllm.connector, bufferDevice: cpu}"
    text = text.replace("kvTransfer: {bufferDevice: cpu}", own).replace("\nfamily:", "\nconnectors: [nixl]\nfamily:")
    file.write_text(text, encoding="utf-8")
    assert lint_catalog(acme) == []
    catalog = load_catalog([str(acme)])
    for role in plan(catalog, "pd-disaggregation", accelerator="acme-x1", provider="generic").roles:
        (transfer,) = [word for word in role.container.args if word.startswith("--kv-transfer-config=")]
        assert '"kv_connector":"AcmeConnector","kv_connector_module_path":"acme_vllm.connector"' in transfer
    with pytest.raises(UserError, match="mooncake does not work on acme-x1"):
        plan(
            catalog,
            "pd-disaggregation",
            accelerator="acme-x1",
            provider="generic",
            kvTransfer={"connector": "mooncake"},
        )
    file.write_text(text.replace("connectors: [nixl]", "connectors: [nixel]"), encoding="utf-8")
    (problem,) = lint_catalog(acme)
    assert "there is no transport 'nixel'" in str(problem) and "did you mean 'nixl'?" in str(problem)


def test_the_example_has_no_fault(acme: Path) -> None:
    assert lint_catalog(acme) == []


@pytest.mark.parametrize("guide", ["optimized-baseline", "pd-disaggregation"])
@pytest.mark.parametrize("provider", ["acme-cloud", "generic"])
def test_it_renders_and_validates(acme: Path, guide: str, provider: str) -> None:
    catalog = load_catalog([str(acme)])
    made = plan(catalog, guide, accelerator="acme-x1", provider=provider)
    objects = render(made, catalog.template_dirs(guide)).objects
    documents = [Document(item, SourceRef("out", document=index)) for index, item in enumerate(objects)]
    report = validate(documents, ValidateOptions(complete=True))
    assert report.findings == ()
    assert report.coverage.objects_validated == len(objects)
    for role in made.roles:
        assert role.container.image.reference == "registry.example/acme/vllm:v0.30.0-acme2"
        assert role.container.resources["limits"]["acme.example/x1"] == str(role.parallelism.tensor)
        assert ("acme.example/nic" in role.container.resources["limits"]) == (
            provider == "acme-cloud" and guide == "pd-disaggregation"
        )
        assert bool(role.pod.tolerations) == (provider == "acme-cloud")


def test_sizes_of_the_added_cell_count(acme: Path) -> None:
    made = plan(load_catalog([str(acme)]), "pd-disaggregation", accelerator="acme-x1", provider="acme-cloud")
    assert [role.parallelism.tensor for role in made.roles] == [2, 4]


def test_what_the_vendor_does_not_list_is_still_refused(acme: Path) -> None:
    with pytest.raises(UserError, match="does not list sglang on acme-x1"):
        plan(load_catalog([str(acme)]), "pd-disaggregation", accelerator="acme-x1", engine="sglang")


def test_a_family_without_an_image_is_told(acme: Path) -> None:
    (acme / "images.yaml").unlink()
    (problem,) = lint_catalog(acme)
    assert "no release set has an engine image for family 'acme'" in str(problem)
    with pytest.raises(UserError, match=r"release 1\.0 has no image 'vllm-acme'"):
        plan(load_catalog([str(acme)]), "pd-disaggregation", accelerator="acme-x1", provider="acme-cloud")


def test_one_image_of_ones_own_leaves_the_others_of_the_release_alone(acme: Path) -> None:
    (acme / "images.yaml").write_text(
        (acme / "images.yaml").read_text(encoding="utf-8").replace("vllm-acme:", "envoy:"), encoding="utf-8"
    )
    catalog = load_catalog([str(acme)])
    assert catalog.images.releases["1.0"].images["envoy"].tag == "v0.30.0-acme2"
    assert catalog.images.releases["1.0"].images["endpoint-picker"].component == "endpoint-picker"
    assert catalog.images.releases["1.0"].components["lws"] == "0.11.1"
    assert catalog.images.default_release == "1.0"
    assert catalog.notices == ["image envoy of release 1.0 shadows the one in images/catalog.yaml"]


def spoil(directory: Path, file: str, old: str, new: str) -> list[str]:
    path = directory / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return [f"{problem.source.line}: {problem.what} | {problem.fix}" for problem in lint_catalog(directory)]


WRONG = {
    "in a contribution to one engine": (
        "provider.yaml",
        "- add:\n    tolerations",
        "- when: {engine: vllm}\n  add: {engineArgs: {max-model-length: 4096, enforce-eager: true}}\n"
        "- add:\n    tolerations",
        "8: contributions[0].add.engineArgs.max-model-length: no known version of vllm has a flag --max-model-length "
        "| did you mean 'max-model-len'?",
    ),
    "in a contribution to any engine": (
        "provider.yaml",
        "- add:\n    tolerations",
        "- add:\n    engineArgs: {enforce-eagre: true}\n    tolerations",
        "8: contributions[0].add.engineArgs.enforce-eagre: none of sglang, sim, trtllm, vllm has a flag "
        "--enforce-eagre | did you mean 'enforce-eager'?",
    ),
    "in the defaults of a cell": (
        "accelerator.yaml",
        "{prefill: {parallelism: {tensor: 2}},",
        "{prefill: {engineArgs: {blocksize: 64}},",
        "17: support[0].defaults.roles.prefill.engineArgs.blocksize: none of vllm has a flag --blocksize "
        "| did you mean 'block-size'?",
    ),
}


@pytest.mark.parametrize(("file", "old", "new", "says"), WRONG.values(), ids=WRONG)
def test_engine_flags_that_nobody_has_are_told(acme: Path, file: str, old: str, new: str, says: str) -> None:
    assert spoil(acme, file, old, new) == [says]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("guide: pd-disaggregation", "guide: pd-disagregation", "12: support[0].guide: there is no guide 'pd-disagr"),
        ("engines: [vllm]", "engines: []", "13: support[0].engines: must not be empty"),
        ("engines: [vllm]", "engines: [vlm]", "13: support[0].engines[0]: there is no engine 'vlm' | did you mean"),
        ("accelerators: [acme-x1]", "accelerators: [nvidia-h200]", "14: support[0].accelerators: acme-x1 is not among"),
        ("[acme-cloud, generic]", "[acme-clod]", "15: support[0].providers[0]: there is no provider 'acme-clod'"),
        ('"Acme\'s own lab"', '""', "16: support[0].status.source: must say where"),
        ("{prefill: {para", "{encode: {para", "17: support[0].defaults.roles.encode: the guide has no role 'encode'"),
        (
            "guide: optimized-baseline",
            "guide: pd-disaggregation",
            "18: support[1]: vllm acme-x1 acme-cloud is listed in su",
        ),
        ("[acme-x1]", "[acme-x1, nvidia-h200]", "12: support[0]: vllm nvidia-h200 generic is listed in the guide alre"),
        ("engines: [vllm]", "engines: [vllm, sglang]", "12: support[0]: no release set has an image 'sglang-acme'"),
    ],
)
def test_faults_of_added_combinations_are_named(acme: Path, old: str, new: str, says: str) -> None:
    found = spoil(acme, "accelerator.yaml", old, new)
    assert any(problem.startswith(says) for problem in found), found


def test_a_vendor_may_add_to_a_guide_of_its_own(acme: Path, own: Path) -> None:
    vendor = acme / "vendor"
    shutil.copytree(own, vendor)
    (vendor / "hardware" / "more.yaml").write_text(
        "apiVersion: catalog.llmdctl.io/v1alpha1\nkind: Provider\nname: cellar\nextends: generic\nsupport:\n"
        "- {guide: tiny, engines: [toy], accelerators: [acme-x1], providers: [cellar],\n"
        "   status: {upstream: none, source: our cellar, date: 2026-11}}\n",
        encoding="utf-8",
    )
    assert lint_catalog(vendor) == []
    made = load_catalog([str(vendor)]).guide("tiny")
    assert made.matrix[-1].providers == ["cellar"]
