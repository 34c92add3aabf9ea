"""Differential test: expressions give what Kubernetes' own CEL gives, in values and in what is refused."""

from __future__ import annotations

import random
from typing import Any, Protocol

import pytest
from cel_random import SCHEMA, VALUE
from cel_values import Verdict, kind_of, known_difference, only_lenient, ours, question, same
from selector_random import selector

from llmdctl.schema.cel import CompileError
from llmdctl.schema.selectors import compile_selector

COUNT = 4000
MOST_LENIENT = 0.004
"""Share of expressions that the server refuses for their types and we don't."""


class Evaluator(Protocol):
    """The API server's libraries."""

    def evaluate(self, text: str, *, minor: int, key: str, schema: Any, value: Any) -> Verdict: ...

    def refuses_selector(self, text: str) -> str: ...


@pytest.mark.parametrize(("minor", "seed"), [(34, 34), (36, 36), (36, 20261201)])
def test_random_expressions_give_the_same(cel_server: Evaluator, minor: int, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable
    differing, lenient, kinds = [], 0, set()
    for _ in range(COUNT):
        text, typed = question(chance)
        theirs = cel_server.evaluate(
            text, minor=minor, key="typed" if typed else "", schema=SCHEMA if typed else None, value=VALUE
        )
        mine = ours(text, typed=typed, minor=minor)
        kinds.add(kind_of(theirs))
        if same(theirs, mine) or known_difference(text, theirs, mine):
            continue
        if only_lenient(theirs, mine):
            lenient += 1
        else:
            differing.append((text, typed, theirs, mine))
    assert kinds == {"refused", "error", "value"}
    assert not differing, "\n".join(map(str, differing))
    assert lenient <= COUNT * MOST_LENIENT


def refuses(text: str) -> str:
    try:
        compile_selector(text, 36)
    except CompileError as error:
        return str(error)
    return ""


def test_selectors_of_devices_are_refused_alike(cel_server: Evaluator) -> None:
    chance = random.Random(36)  # noqa: S311 - repeatable
    texts = list(dict.fromkeys(selector(chance) for _ in range(COUNT)))
    verdicts = [(text, cel_server.refuses_selector(text), refuses(text)) for text in texts]
    assert {bool(theirs) for _, theirs, _ in verdicts} == {True, False}
    assert [verdict for verdict in verdicts if verdict[2] and not verdict[1]] == []
    # To the server an attribute has a type of its own beside dyn, which it refuses in a few places where we don't.
    assert len([text for text, theirs, mine in verdicts if theirs and not mine]) <= len(texts) * MOST_LENIENT


def test_every_function_has_been_asked_for() -> None:
    from cel_wide import FORMS

    from llmdctl.schema.cel.environment import functions

    texts = " ".join(form for forms in FORMS.values() for form in forms)
    names = [name for name in functions().names() if name[0].isalpha() and f"{name}(" not in texts]
    atoms = {"format.named", "optional.none"}
    assert [name for name in names if not name.startswith("format.") and name not in atoms] == []
