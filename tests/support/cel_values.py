"""Values and faults of CEL expressions in a form that two implementations share, and how far they may differ."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from cel_random import SCHEMA, VALUE
from cel_wide import KINDS, damaged, expression, soup

from llmdctl.schema.cel import CompileError, EvaluationError, UnsupportedError, compile_expression
from llmdctl.schema.cel.kubernetes import Cidr, Ip, Quantity
from llmdctl.schema.cel.times import format_timestamp
from llmdctl.schema.cel.values import Duration, Optional, Timestamp, TypeValue, Uint
from llmdctl.schema.declared import converter, declared_type

Verdict = dict[str, Any]
"""`refused` and `error` hold texts, "" where there is none; `value` is what came out; `unjudged` says why nothing."""


def question(chance: random.Random) -> tuple[str, bool]:
    """An expression, and whether `self` has the schema's type rather than none."""
    text = expression(chance, chance.choice(KINDS), chance.choice((1, 1, 1, 2, 2, 3)))
    draw = chance.random()
    if draw < 0.2:
        text = damaged(chance, text) if draw < 0.16 else soup(chance)
    return text, chance.random() < 0.5


def ours(text: str, *, typed: bool, minor: int) -> Verdict:
    """What our evaluator makes of an expression over `self`."""
    kind = declared_type(SCHEMA, root=False) if typed else "dyn"
    convert = converter(SCHEMA) if typed else None
    found: Verdict = {"refused": "", "error": "", "value": None}
    try:
        program = compile_expression(text, {"self": kind}, minor=minor, wanted="", bindings=not typed)
        found["value"] = shown(program.evaluate({"self": convert(VALUE) if convert else VALUE}))
    except CompileError as error:
        found["refused"] = str(error)
    except EvaluationError as error:
        found["error"] = str(error)
    except UnsupportedError as error:
        found["unjudged"] = str(error)
    return found


def shown(value: Any) -> list[Any]:
    """A value with the name of its type, as the Go program writes it."""
    match value:
        case None:
            return ["null"]
        case bool():
            return ["bool", value]
        case Uint():
            return ["uint", str(int(value))]
        case int():
            return ["int", str(value)]
        case float():
            return ["double", "nan" if math.isnan(value) else f"{struct.unpack('>Q', struct.pack('>d', value))[0]:x}"]
        case str():
            return ["string", value]
        case bytes():
            return ["bytes", value.hex()]
        case Duration():
            return ["duration", str(value.nanoseconds)]
        case Timestamp():
            return ["timestamp", format_timestamp(value)]
        case TypeValue():
            return ["type", value.name]
        case Optional():
            return ["optional", shown(value.value)] if value.present else ["optional"]
        case list():
            return ["list", *map(shown, value)]
        case Mapping():
            return ["map", sorted(json.dumps([shown(key), shown(item)]) for key, item in value.items())]
        case Quantity():
            return ["quantity", str(value.amount)]
        case Ip():
            return ["other", str(value.address)]
        case Cidr():
            return ["other", f"{value.address}/{value.network.prefixlen}"]
    return ["other"]


def plain(value: Any) -> Any:
    """A value of either side, with what is written in two ways written in one."""
    if not isinstance(value, list) or not value:
        return value
    match value:
        case ["quantity", amount]:
            return ["quantity", str(Fraction(amount))]
        case ["map", entries]:
            return ["map", sorted(json.dumps(plain(json.loads(entry))) for entry in entries)]
    return [plain(part) for part in value]


def kind_of(found: Verdict) -> str:
    """`unjudged`, `refused`, `error` or `value`."""
    if "unjudged" in found:
        return "unjudged"
    return "refused" if found["refused"] else "error" if found["error"] else "value"


def same(theirs: Verdict, mine: Verdict) -> bool:
    """True when both say the same: refused, an error, or the same value of the same type."""
    if kind_of(theirs) != kind_of(mine) or kind_of(mine) != "value":
        return kind_of(theirs) == kind_of(mine)
    left, right = plain(theirs["value"]), plain(mine["value"])
    return bool(left == right or (right == ["other"] and left[0] == "other"))


def known_difference(text: str, theirs: Verdict, mine: Verdict) -> str:
    """Why two verdicts differ, "" for no known reason."""
    if "unjudged" in mine:
        return "we don't judge it"
    if theirs["refused"].startswith("panic"):
        return "the server's own code panics"
    if "invalid qualifier type" in theirs["refused"] + theirs["error"] and not mine["refused"]:
        return "an index of an impossible type: the server says so in all cases, we where it is used"
    if theirs["error"] == "no such overload" and (".add(" in text or ".sub(" in text):
        return "the server can't compare what adding or subtracting quantities gave"
    if ".sub(" in text and "-9223372036854775808" in text:
        return "the server wraps around there"
    if theirs["error"].startswith("no such overload: ") and not mine["error"]:
        return "the server does not convert numbers that come right out of data of no known type"
    if theirs["error"] == "no such overload" and "self.l ==" in text:
        return "the server can't compare a list of an object with what is none"
    return ""


def only_lenient(theirs: Verdict, mine: Verdict) -> bool:
    """True when the server refuses an expression for the types in it, and we did not see that."""
    marks = ("expected type", "no matching overload", "string clause can only")
    return not mine["refused"] and any(mark in theirs["refused"] for mark in marks)
