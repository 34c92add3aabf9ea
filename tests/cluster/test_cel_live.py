"""Our CEL against cel-go as the API server has it: the same rules, compiled and run by both."""

from __future__ import annotations

import random
import re
from typing import Any

from cel_random import SCHEMA, VALUE, expression
from control_plane import CRDS, ControlPlane

from llmdctl.schema.cel import CompileError, EvaluationError, UnsupportedError
from llmdctl.schema.expressions import Expressions, Failure, wrong_rules

MINOR = 36
SEED = 20261201
COUNT = 600
AT_A_TIME = 60


def schema_with(rule: str) -> dict[str, Any]:
    return {**SCHEMA, "x-kubernetes-validations": [{"rule": rule}]}


def definition(number: int, rules: dict[str, str]) -> dict[str, Any]:
    """A CRD that has one property, with the schema of `self`, for each rule."""
    properties = {name: schema_with(rule) for name, rule in rules.items()}
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"probes.cel{number}.example.com"},
        "spec": {
            "group": f"cel{number}.example.com",
            "scope": "Cluster",
            "names": {"kind": "Probe", "plural": "probes"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}],
        },
    }


def refused_rules(plane: ControlPlane, number: int, rules: dict[str, str]) -> dict[str, str]:
    """Name of each rule that the server refuses to compile -> what it says."""
    answer = plane.request("POST", f"{CRDS}?dryRun=All", definition(number, rules))
    if answer.code == 201:
        return {}
    found: dict[str, str] = {}
    for cause in answer.body["details"]["causes"]:
        name = re.search(r"properties\[spec\]\.properties\[(\w+)\]", cause["field"])
        if name:
            found.setdefault(name[1], cause["message"])
    assert found, answer.body
    return found


def verdicts(plane: ControlPlane, number: int, rules: dict[str, str]) -> dict[str, str]:
    """Rule -> what the server makes of it: `compile`, `cost`, `error`, `false` or `true`."""
    refused = refused_rules(plane, number, rules)
    sound = {name: rule for name, rule in rules.items() if name not in refused}
    while more := refused_rules(plane, number, sound):
        refused.update(more)
        sound = {name: rule for name, rule in sound.items() if name not in more}
    crd = definition(number, sound)
    plane.create_crds([crd])
    obj = {
        "apiVersion": f"cel{number}.example.com/v1",
        "kind": "Probe",
        "metadata": {"name": "probe"},
        "spec": dict.fromkeys(sound, VALUE),
    }
    answer = plane.request("POST", f"/apis/cel{number}.example.com/v1/probes?dryRun=All", obj)
    broken: dict[str, str] = {}
    for cause in answer.body["details"]["causes"] if answer.code != 201 else []:
        name = cause["field"].removeprefix("spec.")
        broken[name] = "error" if "evaluating rule" in cause["message"] else "false"
    plane.request("DELETE", f"{CRDS}/{crd['metadata']['name']}")
    return {
        **{rules[name]: "cost" if "cost" in said else "compile" for name, said in refused.items()},
        **{rule: broken.get(name, "true") for name, rule in sound.items()},
    }


def ours(rule: str) -> str:
    """The same of ours, or `unjudged`."""
    schema = schema_with(rule)
    try:
        if list(wrong_rules(schema, MINOR, root=False)):
            return "compile"
        outcomes = list(Expressions({"type": "object", "properties": {"p": schema}}, MINOR).check({"p": VALUE}))
    except (CompileError, EvaluationError, UnsupportedError) as error:
        raise AssertionError(f"{rule}: {error}") from error
    if not outcomes:
        return "true"
    (outcome,) = outcomes
    if not isinstance(outcome, Failure):
        return "unjudged"
    return "error" if "evaluating rule" in outcome.message else "false"


def test_random_rules_are_judged_alike(plane: ControlPlane) -> None:
    chance = random.Random(SEED)  # noqa: S311 - repeatable
    rules = list(dict.fromkeys(expression(chance, depth=chance.randint(1, 4)) for _ in range(COUNT)))
    differing = []
    seen: dict[str, int] = {}
    for start in range(0, len(rules), AT_A_TIME):
        batch = {f"p{index}": rule for index, rule in enumerate(rules[start : start + AT_A_TIME])}
        for rule, server in verdicts(plane, start, batch).items():
            seen[server] = seen.get(server, 0) + 1
            # The server estimates what a rule costs at worst, from the bounds in the schema; we don't.
            if server != "cost" and ours(rule) != server:
                differing.append((rule, server, ours(rule)))
    assert set(seen) >= {"compile", "error", "false", "true"}, seen
    assert not differing, "\n".join(map(str, differing))
