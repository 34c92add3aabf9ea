"""Starter files: short, commented, and loadable as they are and with their comments removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llmdctl.catalog.load import load_catalog
from llmdctl.catalog.select import combinations
from llmdctl.catalog.starter import Choices, starter_stack
from llmdctl.findings import UserError
from llmdctl.spec.load import load_stack
from llmdctl.spec.model import NAME_MAX


def load(text: str) -> dict[str, object]:
    return load_stack("stack.yaml", text.encode()).data


@pytest.mark.parametrize("guide", list(load_catalog().guides))
def test_every_listed_combination_gives_a_file_that_loads(guide: str) -> None:
    catalog = load_catalog()
    for (engine, accelerator, provider), _ in combinations(catalog.guide(guide)):
        choices = Choices(engine=engine, accelerator=accelerator, provider=provider)
        spec = load(starter_stack(guide, choices, catalog))["spec"]
        assert spec == {"guide": guide, "accelerator": accelerator, "engine": engine, "provider": provider}


@pytest.mark.parametrize("guide", list(load_catalog().guides))
def test_commented_defaults_are_valid_when_uncommented(guide: str) -> None:
    text = starter_stack(guide, Choices(), load_catalog())
    opened = re.sub(r"^  # ((?:model|roles|  ).*)$", r"  \1", text, flags=re.MULTILINE)
    spec = load_stack("stack.yaml", opened.encode()).stack.spec
    assert opened != text
    assert (spec.model is None) == ("model" in load_catalog().guide(guide).unsupported)
    assert spec.roles is not None
    assert spec.roles.decode is not None


def test_choices_are_written(own: Path) -> None:
    catalog = load_catalog([str(own)])
    data = load(starter_stack("tiny", Choices(preset="two", name="mine", namespace="here"), catalog))
    assert data["metadata"] == {"name": "mine", "namespace": "here"}
    assert isinstance(data["spec"], dict)
    assert data["spec"]["preset"] == "two"


def test_a_long_guide_name_is_cut_to_a_valid_one(spoiled: Path) -> None:
    guide = spoiled / "guides/tiny/guide.yaml"
    guide.write_text(guide.read_text().replace("name: tiny", f"name: {'tiny-' * 10}x", 1))
    data = load(starter_stack("tiny-" * 10 + "x", Choices(), load_catalog([str(spoiled)])))
    assert isinstance(data["metadata"], dict)
    assert len(data["metadata"]["name"]) <= NAME_MAX
    assert not data["metadata"]["name"].endswith("-")


def test_hostile_titles_stay_comments(spoiled: Path) -> None:
    guide = spoiled / "guides/tiny/guide.yaml"
    guide.write_text(guide.read_text().replace("title: Tiny", 'title: "x\\nspec: {}\\r---\\u2028kind: Secret"', 1))
    data = load(starter_stack("tiny", Choices(), load_catalog([str(spoiled)])))
    assert data["kind"] == "InferenceStack"


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        (Choices(engine="vlm"), "did you mean 'vllm'?"),
        (Choices(preset="8p2"), "did you mean '8p2d'?"),
        (Choices(provider="gke-a4x"), "nearest: vllm nvidia-h200 generic"),
        (Choices(name="Not Good"), "metadata.name: 'Not Good' does not match"),
        (Choices(namespace="x" * 64), "metadata.namespace: longer than 63"),
    ],
)
def test_wrong_choices(choices: Choices, says: str) -> None:
    with pytest.raises(UserError) as caught:
        starter_stack("pd-disaggregation", choices, load_catalog())
    assert says in "\n".join(caught.value.lines())
