"""Random CEL expressions over a small `self`, mostly well typed, to compare two implementations."""

from __future__ import annotations

import random
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "i": {"type": "integer"},
        "j": {"type": "integer"},
        "d": {"type": "number"},
        "s": {"type": "string", "maxLength": 20},
        "t": {"type": "string", "maxLength": 20},
        "b": {"type": "boolean"},
        "l": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
        "w": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}},
        "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 10}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string", "maxLength": 10}}},
        "u": {"x-kubernetes-int-or-string": True, "maxLength": 20},
        "when": {"type": "string", "format": "date-time", "maxLength": 30},
        "span": {"type": "string", "format": "duration", "maxLength": 20},
    },
}
"""The structural schema of `self`."""

VALUE: dict[str, Any] = {
    "i": 3, "j": -7, "d": 2.5, "s": "llm-d", "t": "vLLM 0.30", "b": True, "l": [3, 1, 2], "w": ["a", "b-c", ""],
    "m": {"k": "v", "a-b": "w"}, "o": {"x": 1}, "u": "80%", "when": "2026-12-01T10:20:30Z", "span": "90s",
}  # fmt: skip
"""A `self` of that schema; `o.y` is absent."""

_ATOMS: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "-3", "7", "9223372036854775807", "self.i", "self.j", "self.o.x", "size(self.s)"),
    "double": ("0.5", "2.0", "-1.5", "1e3", "self.d"),
    "string": ("''", "'a'", "'llm-d'", "'0.30'", '"é"', "self.s", "self.t", "self.o.y", "self.m['k']", "self.w[1]"),
    "bool": ("true", "false", "self.b", "has(self.o.y)", "has(self.o.x)", "'k' in self.m", "isURL('https://a/b')"),
    "list<int>": ("self.l", "[1, 2, 3]", "[self.i, self.j]", "self.w.map(x, size(x))"),
    "list<string>": ("self.w", "['a', 'b']", "self.s.split('-')", "self.m.map(k, k)"),
    "dyn": ("self.u", "dyn(self.i)", "dyn(self.s)", "dyn(2.0)"),
    "timestamp": ("self.when", "timestamp('2026-01-01T00:00:00Z')"),
    "duration": ("self.span", "duration('1h30m')", "duration('-1.5s')"),
    "quantity": ("quantity('1Gi')", "quantity('1500m')", "quantity('2')"),
    "semver": ("semver('1.2.3')", "semver('1.10.0-rc.1')", "semver('1.10.0')"),
    "ip": ("ip('10.0.0.1')", "ip('::1')", "ip('192.168.1.7')"),
    "cidr": ("cidr('10.0.0.0/8')", "cidr('192.168.0.0/16')"),
}
_FORMS: dict[str, tuple[str, ...]] = {
    "int": (
        "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})", "({int} % {int})", "-({int})",
        "size({string})", "{list<int>}.size()", "{string}.indexOf({string})", "{list<int>}.sum()", "{list<int>}.max()",
        "({bool} ? {int} : {int})", "int({double})", "int({string})", "{list<int>}[{int}]",
        "{string}.lastIndexOf({string})",
        "{quantity}.compareTo({quantity})", "{semver}.major()", "{timestamp}.getHours()", "{duration}.getSeconds()",
        "{cidr}.prefixLength()", "{ip}.family()", "{list<int>}.indexOf({int})",
    ),
    "double": ("({double} + {double})", "({double} * {double})", "double({int})", "({double} / {double})"),
    "string": (
        "({string} + {string})", "{string}.lowerAscii()", "{string}.upperAscii()", "{string}.trim()",
        "{string}.replace({string}, 'x')", "{string}.substring({int})", "{list<string>}.join('+')", "string({int})",
        "({bool} ? {string} : {string})", "{string}.charAt({int})", "string({double})", "{list<string>}[{int}]",
        "string({duration})", "string({timestamp})", "{string}.find('[a-z]+')", "string({ip})",
    ),
    "bool": (
        "({bool} && {bool})", "({bool} || {bool})", "!({bool})", "({int} == {int})", "({int} < {int})",
        "({string} == {string})", "({string} < {string})", "({double} >= {double})", "({int} != {int})",
        "{string}.startsWith({string})", "{string}.contains({string})", "{string}.matches('^[a-z-]+$')",
        "({int} in {list<int>})", "({string} in {list<string>})", "{list<int>}.all(x, x > {int})",
        "{list<int>}.exists(x, x == {int})", "{list<int>}.exists_one(x, x % 2 == 1)", "({bool} ? {bool} : {bool})",
        "{list<int>}.isSorted()", "({list<int>} == {list<int>})", "({dyn} == {dyn})", "({dyn} == {int})",
        "({int} < {double})", "({duration} < {duration})", "({timestamp} > {timestamp})",
        "{quantity}.isGreaterThan({quantity})", "{semver}.isLessThan({semver})", "{cidr}.containsIP({ip})",
        "sets.contains({list<int>}, {list<int>})", "sets.intersects({list<int>}, {list<int>})", "isQuantity({string})",
        "isIP({string})", "isSemver({string})", "self.?o.?y.hasValue()", "(self.?o.?x.orValue({int}) == {int})",
        "self.m.all(k, v, size(v) > {int})", "(type({dyn}) == {kind})", "(type({int}) == int)", "{ip}.isLoopback()",
        "(timestamp({string}) > {timestamp})", "(duration({string}) < {duration})",
        "cel.bind(z, {int}, z == {int})", "optional.of({int}).hasValue()",
        "({int} == {string})", "({bool} && {int})", "{string}.nothing()", "(unknown == {int})",
    ),
    "list<int>": (
        "{list<int>}.filter(x, x > {int})", "{list<int>}.map(x, x * {int})", "({list<int>} + {list<int>})",
        "{list<int>}.map(x, x > 0, x + 1)", "self.l.transformList(i, v, i * v)",
    ),
    "list<string>": (
        "{string}.split({string})", "{list<string>}.filter(x, x != {string})", "{string}.findAll('[a-z]')",
    ),
    "timestamp": ("({timestamp} + {duration})",),
    "duration": ("({duration} + {duration})", "({timestamp} - {timestamp})"),
    "quantity": ("{quantity}.add({quantity})", "{quantity}.sub({int})"),
    "cidr": ("{cidr}.masked()",),
    "ip": ("{cidr}.ip()",),
}  # fmt: skip


def expression(chance: random.Random, kind: str = "bool", depth: int = 3) -> str:
    """A random expression; most give what `kind` says, some are not well typed."""
    forms = _FORMS.get(kind, ())
    if depth <= 0 or not forms or (kind != "bool" and chance.random() < 0.3):
        return chance.choice(_ATOMS[kind])
    out, index, form = [], 0, chance.choice(forms)
    while index < len(form):
        if form[index] != "{":
            out.append(form[index])
            index += 1
            continue
        end = form.index("}", index)
        name = form[index + 1 : end]
        out.append(chance.choice(("int", "string", "bool")) if name == "kind" else expression(chance, name, depth - 1))
        index = end + 1
    return "".join(out)
