"""RE2 patterns in Python."""

from __future__ import annotations

import pytest

from llmdctl.schema.patterns import compile_re2, translate


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^a$", "a", True),
        ("^a$", "a\n", False),
        (r"^a\z", "a\n", False),
        ("[$]", "a$b", True),
        (r"\$$", "a$", True),
        ("^(?i)(abort|warn)?$", "WARN", True),
        ("^(?i)(abort|warn)?$", "WARNING", False),
        ("a(?i)b|c", "C", True),
        ("a(?i)b|c", "Ab", False),
        ("(x(?i)y)z", "xYz", True),
        ("(x(?i)y)z", "xyZ", False),
        ("(?i:a)b", "Ab", True),
        ("(?m)^a$", "b\na\nc", True),
        (r"^[^$\]]+$", "ab]", False),
        (r"^[]a]+$", "a]", True),
        ("^[[:alnum:]_]+$", "a_9", True),
        ("^[[:^x]+$", ":^", True),
        (r"^\d+$", "٣", False),
        (r"^\w+$", "ä", False),
        ("(?P<name>a)b", "ab", True),
        (r"^[\x00-\xFF]+$", "é", True),
        ("^(?s).$", "\n", True),
        ("^.$", "\n", False),
        ("(?U)a+$", "aa", True),
    ],
)
def test_search_agrees_with_re2(pattern: str, text: str, matches: bool) -> None:
    compiled = compile_re2(pattern)
    assert compiled is not None
    assert (compiled.search(text) is not None) is matches


def test_what_python_lacks_is_left_to_re2() -> None:
    compiled = compile_re2(r"^\pL+$")
    assert compiled is not None
    assert compiled.matches("äß")
    assert not compiled.matches("a1")


@pytest.mark.parametrize("pattern", ["(", "a**", "(?=a)", r"(a)\1", "[b-a]", "(?<name", "x{1001}"])
def test_what_re2_refuses_is_no_pattern(pattern: str) -> None:
    assert compile_re2(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 40 + "b"),
        ("^(a|a)*$", "a" * 40 + "b"),
        ("^(.*a){12}$", "a" * 40 + "b"),
        ("a*a*a*a*a*b", "a" * 5000),
        ("^[a-z]*[a-z]*[a-z]*$", "a" * 100_000 + "1"),
    ],
)
def test_no_pattern_hangs(pattern: str, text: str) -> None:
    """Each of these takes Python's own engine minutes or more; the suite would not end."""
    compiled = compile_re2(pattern)
    assert compiled is not None
    assert not compiled.matches(text)


def test_translation_keeps_ordinary_patterns() -> None:
    assert translate(r"^[a-z]([-a-z0-9]*[a-z0-9])?(\.x)+") == r"^[a-z]([-a-z0-9]*[a-z0-9])?(\.x)+"
