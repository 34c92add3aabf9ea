"""Resource quantities: parsed once per text, as integers of a billionth, which is the server's resolution.

Source of the facts: k8s.io/apimachinery pkg/api/resource/quantity.go.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

from llmdctl.findings import Path
from llmdctl.validate.admission.violation import Out, show

CODE = "ADM009"
NANO = 10**9

_QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?", re.ASCII)
_SCALE = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", start=1)},
    **{suffix: Fraction(1024**power) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)},
}
_MOST_DIGITS = 100
SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@lru_cache(maxsize=4096)
def parse_quantity(value: str) -> int | None:
    """The quantity in billionths, rounded up; None when the text is no quantity.

    Beyond what any real object states (exponents over 24) the number is capped, as the server caps it.
    """
    found = _QUANTITY.fullmatch(value)
    if not found:
        return None
    sign, digits, suffix = found.groups()
    whole, _, part = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    # Python refuses to read numbers of thousands of digits.
    number = Fraction(f"{whole if len(whole) <= _MOST_DIGITS else '9' * _MOST_DIGITS}.{part[:_MOST_DIGITS] or 0}")
    if suffix in _SCALE:
        number *= _SCALE[suffix]
    elif suffix:
        number *= Fraction(10) ** _exponent(suffix[1:])
    nano = ceil(number * NANO)
    return -nano if sign == "-" else nano


def _exponent(text: str) -> int:
    size = text.lstrip("+-").lstrip("0") or "0"
    power = min(24, int(size[:3])) if len(size) <= 3 else 24
    return -power if text[0] == "-" else power


def quantity(value: Any) -> int | None:
    """As `parse_quantity`, for a value of plain data: numbers count as their text. None for other types."""
    if type(value) is str:
        return parse_quantity(value)
    if type(value) is int:
        return value * NANO
    if type(value) is float:
        return parse_quantity(repr(value))
    return None


def check_quantity(value: Any, path: Path, out: Out, *, code: str = CODE) -> int | None:
    """The quantity in billionths; reports bad syntax. None when absent, bad or of another type.

    In a pod template of a custom resource the schema's pattern reports bad syntax, so nothing is added there. In a
    StatefulSet it is refused at once although the rest of the pod template is not looked at: decoding fails.
    """
    if value is None or isinstance(value, bool | dict | list):
        return None
    parsed = quantity(value)
    if parsed is None and not out.by_schema:
        out.refuse(path, code, f"Invalid value: {show(value)}: {SYNTAX}")
    return parsed
