"""Checks of strings and numbers: bounds, patterns, formats, and the types of built-in kinds that are more than JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.schema.fault import HERE, Fault, should, show, wrong_type
from llmdctl.schema.formats import QUANTITY, QUANTITY_PATTERN, format_test, is_base64, is_date_time, known_format
from llmdctl.schema.node import Check, Faults, fine, least_check, most_check
from llmdctl.schema.patterns import Pattern, compile_re2

_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def string_checks(schema: Mapping[str, Any]) -> list[Check]:
    """Lengths (in code points), pattern and format of a string. Of lengths and pattern the first fault is told."""
    bounds: list[Check] = []
    if "maxLength" in schema:
        bounds.append(most_check(schema["maxLength"], "characters"))
    if "minLength" in schema:
        bounds.append(least_check(schema["minLength"], "chars long"))
    pattern = compile_re2(schema["pattern"]) if schema.get("pattern") else None
    if pattern:
        bounds.append(_pattern_check(pattern, schema["pattern"]))
    checks = [_first_of(bounds)] if len(bounds) > 1 else bounds
    test = format_test(schema["format"]) if isinstance(schema.get("format"), str) else None
    if test:
        checks.append(_format_check(test, schema["format"]))
    return checks


def _first_of(checks: list[Check]) -> Check:
    def check(value: str) -> Faults:
        return next((faults for check in checks if (faults := check(value))), None)

    return check


def _pattern_check(pattern: Pattern, written: str) -> Check:
    matches = pattern.matches
    if written == QUANTITY_PATTERN:
        return _quantity_pattern_check(matches)

    def check(value: str) -> Faults:
        return None if matches(value) else [should("pattern", value, f"match '{written}'")]

    return check


def _format_check(test: Callable[[str], bool], name: str) -> Check:
    def check(value: str) -> Faults:
        if test(value):
            return None
        shown = show(value)
        message = f"Invalid value: {shown}: {HERE} in body must be of type {name}: {shown}"
        return [Fault("format", message, f"{HERE} is not a valid {name}: {shown}")]

    return check


def number_checks(schema: Mapping[str, Any]) -> list[Check]:
    """Minimum and maximum (exclusive ones as booleans, as in OpenAPI v3.0) and multipleOf."""
    checks: list[Check] = []
    if "minimum" in schema:
        checks.append(_bound_check(schema["minimum"], bool(schema.get("exclusiveMinimum")), lower=True))
    if "maximum" in schema:
        checks.append(_bound_check(schema["maximum"], bool(schema.get("exclusiveMaximum")), lower=False))
    if schema.get("multipleOf"):
        checks.append(_multiple_check(schema["multipleOf"]))
    return checks


def _bound_check(limit: float, exclusive: bool, *, lower: bool) -> Check:
    text = f"be {'greater' if lower else 'less'} than {'' if exclusive else 'or equal to '}{show(limit)}"

    def check(value: float) -> Faults:
        beyond = value < limit if lower else value > limit
        return [should("range", value, text)] if beyond or (exclusive and value == limit) else None

    return check


def _multiple_check(factor: float) -> Check:
    def check(value: float) -> Faults:
        return None if _is_multiple(value, factor) else [should("range", value, f"be a multiple of {show(factor)}")]

    return check


def _is_multiple(value: float, factor: float) -> bool:
    if abs(value) > 2**63:
        return True  # Whether it is one is lost in floating point.
    # As in kube-openapi: small factors are inverted first, and what floating point leaves over does not count.
    ratio = value * (1 / factor) if factor < 1 else value / factor
    return not math.isfinite(ratio) or abs(ratio - round(ratio)) <= 1e-9 * max(1, abs(ratio))


def integer_types(schema: Mapping[str, Any], checks: Check = fine, expected: str = "integer") -> dict[type, Check]:
    """The Python types that an integer may have. A whole float is an integer for the server too."""
    name = schema.get("format", "")
    low, high = _RANGES.get(name, _RANGES["int64"])
    named = known_format(name, expected)

    def whole(value: int) -> Faults:
        if low <= value <= high:
            return checks(value)
        return [_out_of_range(value, name), *(checks(value) or ())]

    def fractional(value: float) -> Faults:
        if not math.isfinite(value) or value != math.floor(value):
            return [wrong_type(value, expected, named)]
        return whole(int(value))

    return {int: whole, float: fractional}


def _out_of_range(value: int, name: str) -> Fault:
    kind = f"format {name}" if name else "(default format)"
    message = f'Invalid value: "": Checked value must be of type integer {"with " if name else ""}{kind} in {HERE}'
    return Fault("type", message, f"{HERE} must fit into {name or 'int64'}: {value} does not")


def quantity_types() -> dict[type, Check]:
    """A resource.Quantity: text that parses as one, or a number."""

    def text(value: str) -> Faults:
        if QUANTITY.match(value):
            return None
        message = (
            f"Invalid value: {show(value)}: {HERE}: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
        return [Fault("format", message, f"{HERE} is not a quantity: {show(value)}", suggestion=_quantity_hint(value))]

    return {str: text, int: fine, float: fine}


def _quantity_pattern_check(search: Callable[[str], Any]) -> Check:
    """A quantity of a custom kind: refused by the pattern, told as what it is."""

    def check(value: str) -> Faults:
        if search(value):
            return None
        fault = should("pattern", value, f"match '{QUANTITY_PATTERN}'")
        fault.summary, fault.suggestion = f"{HERE} is not a quantity: {show(value)}", _quantity_hint(value)
        return [fault]

    return check


def _quantity_hint(value: str) -> str:
    bare = value.strip().replace(" ", "")
    for wrong, right in (("iB", "i"), ("B", ""), ("b", "")):
        if bare.endswith(wrong) and QUANTITY.match(bare.removesuffix(wrong) + right):
            return bare.removesuffix(wrong) + right
    swapped = bare[:-2] + bare[-2:].capitalize()
    return swapped if QUANTITY.match(swapped) else ""


def typed_text_check(name: str) -> Check | None:
    """The formats that Go's decoder reads into something else than a string."""
    if name == "date-time":
        return _format_check(is_date_time, name)
    return _format_check(is_base64, "byte") if name == "byte" else None
