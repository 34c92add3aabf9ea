"""A hostile string in any field is either refused with a clear error, or comes out of the YAML as it went in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_fields import leaves, takes_text

from llmdctl.findings import UserError
from llmdctl.manifest import read_text
from llmdctl.manifest.emit import emit_yaml

PD = "pd-disaggregation"

HOSTILE = [
    "{{ 7 * 7 }}",
    "{% raw %}",
    "yes",
    "0o17",
    "- a: b",
    "a: b # c",
    "'\"\\",
    "line\nbreak",
    "tab\tend ",
    "!!python/object:os.system",
    "&anchor *alias",
    "\u2028\u2029\x85",
    "\x1b[31m",
    "$(rm -rf /)",
    "../../etc/passwd",
    "é漢😀",
    "null",
    "~",
    "---",
]

CONTEXT: dict[str, dict[str, Any]] = {
    "spec.router.gateway": {"router": {"mode": "gateway", "gateway": {"className": "istio"}}},
    "spec.patches": {},
}


def nest(path: tuple[str, ...], text: str, kind: Any) -> Any:
    """Data that sets the leaf at `path` to something that holds `text`."""
    value: Any = text
    plain = str(kind)
    if "dict" in plain:
        value = {"key": text}
        if plain.startswith("list"):
            value = (
                [{"name": text}]
                if path[-1] == "imagePullSecrets"
                else [{"key": "a", "operator": "Equal", "value": text}]
            )
    elif plain.startswith("list"):
        value = [text]
    for step in reversed(path):
        if step == "[]":
            value = [value]
        elif step == "{}":
            value = {"envoy": value}
        else:
            value = {step: value}
    return value


def complete(data: dict[str, Any]) -> dict[str, Any]:
    """Adds what an item needs besides the leaf under test."""
    spec = data.get("spec", {})
    for role in spec.get("roles", {}).values():
        for item in role.get("env", []):
            item.setdefault("name", "X")
    for patch in spec.get("patches", []):
        for key, value in {"kind": "ConfigMap", "name": f"{PD}-epp", "merge": {"data": {}}}.items():
            patch.setdefault(key, value)
    return data


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (str(key), *strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def check(render_stack: Any, path: tuple[str, ...], kind: Any, text: str) -> None:
    data = complete(nest(path, text, kind))
    spec = dict(data.get("spec", {}))
    for prefix, extra in CONTEXT.items():
        if ".".join(path).startswith(prefix):
            for key, value in extra.items():
                spec[key] = {**value, **spec.get(key, {})}
                if key == "router":
                    spec[key]["gateway"] = {**value["gateway"], **spec[key].get("gateway", {})}
    spec.pop("guide", None)
    try:
        rendered = render_stack(text if path == ("spec", "guide") else PD, spec, data.get("metadata"))
    except UserError as error:
        assert error.what
        assert "Traceback" not in "\n".join(error.lines())
        return
    found: list[str] = []
    for obj in rendered.objects:
        reading = read_text(emit_yaml(obj), "round-trip")
        assert not reading.errors
        assert [doc.object for doc in reading.documents] == [obj]
        found += strings(obj)
    # Inside a JSON argument the string is written as JSON writes it.
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    assert any(form in item for item in found for form in forms), f"{text!r} in {'.'.join(path)} got lost"


TEXT_LEAVES = [(path, kind) for path, kind in leaves() if takes_text(kind)]
# A config is decoded, not carried as text, and a proxy exists in one mode only.
LOSES_TEXT = {"spec.router.config", "spec.roles.encode"}


@pytest.mark.parametrize(("path", "kind"), TEXT_LEAVES, ids=[".".join(path) for path, _ in TEXT_LEAVES])
def test_known_hostile_strings(render_stack: Any, path: tuple[str, ...], kind: Any) -> None:
    if ".".join(path) in LOSES_TEXT:
        with pytest.raises(UserError):
            render_stack(PD, {"router": {"config": {"key": HOSTILE[0]}}})
        return
    # Short strings are dangerous alone (as another type), the rest is as dangerous together.
    alone = [text for text in HOSTILE if len(text) <= 6 and text.isprintable()]
    for text in (*alone, " ".join(HOSTILE)):
        check(render_stack, path, kind, text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=30),
    index=st.integers(0, len(TEXT_LEAVES) - 1),
)
def test_any_string(render_stack: Any, text: str, index: int) -> None:
    path, kind = TEXT_LEAVES[index]
    if ".".join(path) not in LOSES_TEXT:
        check(render_stack, path, kind, text)
