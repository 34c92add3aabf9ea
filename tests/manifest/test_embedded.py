"""Positions inside YAML that a block scalar holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import UserError
from llmdctl.manifest import locate

TEXT = """\
a: 1
data:
  plain: "plugins: [x]"
  one.yaml: |  # a comment

    plugins:
    - type: first
    - type: second
  two.yaml: |2
      plugins:
      - type: deep
  broken.yaml: |
    plugins: [
  folded.yaml: >
    plugins:
    - type: folded
"""


@pytest.mark.parametrize(
    ("path", "spot"),
    [
        (("data", "one.yaml"), (4, 3)),
        (("data", "one.yaml", "plugins", 1, "type"), (8, 7)),
        (("data", "one.yaml", "plugins", 5), (6, 5)),
        (("data", "one.yaml", "nothing"), (6, 5)),
        (("data", "two.yaml", "plugins", 0, "type"), (11, 9)),
        (("data", "plain", "plugins"), (3, 3)),
        (("data", "broken.yaml", "plugins"), (12, 3)),
        (("data", "folded.yaml", "plugins"), (14, 3)),
    ],
)
def test_a_path_leads_into_a_literal_block(path: tuple[str | int, ...], spot: tuple[int, int]) -> None:
    found = locate(TEXT.encode(), "f.yaml", [(0, None, path)])[0, None, path]
    assert (found.line, found.column) == spot


@given(st.text(alphabet="a:- |>\n{}[]&*x\u2028\u0085\r\t", max_size=60))
def test_any_block_gives_a_place_in_the_file(block: str) -> None:
    text = "data:\n  k: |\n" + "".join(f"    {line}\n" for line in block.split("\n"))
    path = ("data", "k", "a", 0)
    try:
        found = locate(text.encode(), "f.yaml", [(0, None, path)])[0, None, path]
    except UserError:
        return
    assert 0 <= found.line <= text.count("\n") + text.count("\r") + text.count("\u2028") + text.count("\u0085") + 1
