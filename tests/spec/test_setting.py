"""`--set`: what an expression means, and how a wrong one is answered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import UserError
from llmdctl.spec.setting import parse_set, read_settings, set_source


def fault(*expressions: str, strings: tuple[str, ...] = ()) -> str:
    with pytest.raises(UserError) as caught:
        parse_set(expressions, strings)
    return "\n".join(caught.value.lines())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("roles.decode.replicas=4", {"spec": {"roles": {"decode": {"replicas": 4}}}}),
        ("spec.roles.decode.replicas=4", {"spec": {"roles": {"decode": {"replicas": 4}}}}),
        ("metadata.name=x", {"metadata": {"name": "x"}}),
        ("release=1.0", {"spec": {"release": "1.0"}}),
        ("kubeVersion=1.30", {"spec": {"kubeVersion": "1.30"}}),
        ("model.revision=yes", {"spec": {"model": {"revision": "yes"}}}),
        ("model.id=", {"spec": {"model": {"id": ""}}}),
        ("model.id=null", {"spec": {"model": {"id": None}}}),
        ("model.id=a=b", {"spec": {"model": {"id": "a=b"}}}),
        (r"model.id=a\,b", {"spec": {"model": {"id": "a,b"}}}),
        ("model.id=a,b", {"spec": {"model": {"id": "a,b"}}}),
        ("monitoring.enabled=true", {"spec": {"monitoring": {"enabled": True}}}),
        ("roles.prefill=null", {"spec": {"roles": {"prefill": None}}}),
        (r"pod.labels.example\.com/team=7", {"spec": {"pod": {"labels": {"example.com/team": "7"}}}}),
        ("pod.labels[example.com/team]=7", {"spec": {"pod": {"labels": {"example.com/team": "7"}}}}),
        ("pod.nodeSelector.a=null", {"spec": {"pod": {"nodeSelector": {"a": None}}}}),
        ("roles.decode.engineArgs.n=1e3", {"spec": {"roles": {"decode": {"engineArgs": {"n": 1000}}}}}),
        ("roles.decode.engineArgs.n=0x10", {"spec": {"roles": {"decode": {"engineArgs": {"n": 16}}}}}),
        ("roles.decode.engineArgs.n=on", {"spec": {"roles": {"decode": {"engineArgs": {"n": True}}}}}),
        ("roles.decode.engineArgs.n=", {"spec": {"roles": {"decode": {"engineArgs": {"n": ""}}}}}),
        ("roles.decode.engineArgs.n={a,2}", {"spec": {"roles": {"decode": {"engineArgs": {"n": ["a", 2]}}}}}),
        ('roles.decode.engineArgs.n={"a":[1]}', {"spec": {"roles": {"decode": {"engineArgs": {"n": {"a": [1]}}}}}}),
        ("router.config.a.b[0].c=1", {"spec": {"router": {"config": {"a": {"b": [{"c": 1}]}}}}}),
        ("kvTransfer.backends={UCX,7}", {"spec": {"kvTransfer": {"backends": ["UCX", "7"]}}}),
        ("kvTransfer.backends={}", {"spec": {"kvTransfer": {"backends": []}}}),
        ('kvTransfer.backends=["UCX"]', {"spec": {"kvTransfer": {"backends": ["UCX"]}}}),
        ('router.config.a=["' + "[" * 300 + '"]', {"spec": {"router": {"config": {"a": ["[" * 300]}}}}),
        ("router.config={}", {"spec": {"router": {"config": {}}}}),
        ("patches[0].name=x", {"spec": {"patches": [{"name": "x"}]}}),
        ("roles.decode.resources.limits.cpu=2", {"spec": {"roles": {"decode": {"resources": {"limits": {"cpu": 2}}}}}}),
        ('pod.labels={"a":null}', {"spec": {"pod": {"labels": {"a": None}}}}),
    ],
)  # fmt: skip
def test_meaning(expression: str, expected: dict[str, Any]) -> None:
    assert parse_set([expression]) == expected


def test_set_string_keeps_text() -> None:
    data = parse_set([], ["roles.decode.engineArgs.n=007", "roles.decode.engineArgs.m=null"])
    assert data["spec"]["roles"]["decode"]["engineArgs"] == {"n": "007", "m": "null"}


def test_expressions_add_up_and_the_last_wins() -> None:
    data = parse_set(
        ["patches[0].name=x", "patches[0].kind=A", "patches[1].name=y", "patches[0].kind=B", "engine=a", "engine=b"]
    )
    assert data["spec"] == {"patches": [{"name": "x", "kind": "B"}, {"name": "y"}], "engine": "b"}
    assert parse_set(["roles.decode=null", "roles.decode.replicas=1"]) == parse_set(["roles.decode.replicas=1"])


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        (
            "replicas=3",
            "spec has no field 'replicas'\n  fix  did you mean roles.prefill.replicas or roles.decode.replic",
        ),
        ("role.decode.replicas=3", "did you mean roles?"),
        ("roles.decode.replica=3", "did you mean roles.decode.replicas?"),
        ("metadata.nam=x", "did you mean metadata.name?"),
        ("zzz=1", "fields of spec: preset"),
        ("apiVersion=x", "no field 'apiVersion'"),
        ("engine", "there is no `=`"),
        ("=1", "is not a path"),
        ("a..b=1", "is not a path"),
        (".a=1", "is not a path"),
        ("patches[=1", "is not a path"),
        ("a." * 10_000 + "b=1", "is not a path"),
        ("engine.x=1", "spec.engine is a plain value"),
        ("pod.tolerations.key=1", "write spec.pod.tolerations[0].key"),
        ("patches[1].name=x", "spec.patches[1] is given before [0]"),
        ("patches[999999].name=x", "is given before [0]"),
        ("roles.decode.replicas=four", "expected a whole number"),
        ("roles.decode.replicas=", "expected a whole number"),
        ("roles.decode.replicas=-1", "-1 is less than 0"),
        ("monitoring.enabled=1", "expected true or false"),
        ("workload=deploymnt", "did you mean 'deployment'?"),
        ("metadata.name=Not_Good", "does not match"),
        ("model.cache.pvc=x", "expected a map"),
        ('model.cache={"pvc":{"claim":"x"}}', "unknown field 'claim'"),
        ("engine=vllm,provider=gke", "two assignments"),
        ("roles.decode.engineArgs.a=[1", "is not JSON"),
        ('roles.decode.engineArgs.a={"b":NaN}', "NaN is not a number"),
        ('roles.decode.engineArgs.a={"b":1e999}', "1e999 is not a number"),
        ("roles.decode.engineArgs.a=[99999999999999999999999]", "does not fit 64 bits"),
        ("roles.decode.engineArgs.a=.inf", "not a number that JSON can carry"),
        ("roles.decode.engineArgs.a=" + "[" * 100_000, "nested deeper than 200"),
        ("roles.decode.engineArgs.a=" + '[{"b":' * 150 + "1" + "}]" * 150, "nested deeper than 200"),
    ],
    ids=lambda value: value[:40],
)
def test_wrong_expressions(expression: str, says: str) -> None:
    text = fault(expression)
    assert says in text
    assert text.startswith("error: --set ")


def test_set_string_is_checked_too() -> None:
    assert "--set-string roles.decode.replicas=1" in fault(strings=("roles.decode.replicas=1",))


def test_source_names_the_option_behind_a_value() -> None:
    expressions = ["roles.decode.replicas=4", "engine=vllm", 'pod.labels={"a":"b"}', "engine=sglang"]
    settings = read_settings(expressions, ["model.id=x"])
    assert settings.source(("spec", "roles", "decode", "replicas")) == "--set roles.decode.replicas=4"
    assert settings.source(("spec", "engine")) == "--set engine=sglang"
    assert settings.source(("spec", "pod", "labels", "a")) == '--set pod.labels={"a":"b"}'
    assert settings.source(("spec", "roles")) == "--set roles.decode.replicas=4"
    assert settings.source(("spec", "model", "id")) == "--set-string model.id=x"
    assert settings.source(("spec", "provider")) == ""
    assert set_source(("spec", "engine"), expressions) == "--set engine=sglang"


def test_a_whole_part_takes_over_from_its_fields() -> None:
    settings = read_settings(["model.id=a", 'model={"revision":"r"}'])
    assert settings.data == {"spec": {"model": {"revision": "r"}}}
    assert settings.source(("spec", "model", "id")) == '--set model={"revision":"r"}'


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_set([text])
    except UserError as error:
        assert error.what


@given(key=st.text(min_size=1, max_size=20), value=st.text(max_size=20))
def test_escaped_keys_and_literal_values_come_back(key: str, value: str) -> None:
    escaped = "".join(f"\\{char}" if char in ".[]\\=" else char for char in key)
    data = parse_set([], [f"pod.labels.{escaped}={value.replace(',', chr(92) + ',')}"])
    # A backslash before a comma is the one escape that values know.
    assert data["spec"]["pod"]["labels"] == {key: value}
