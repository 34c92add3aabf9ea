"""What runs: values of variables, and how much work is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmdctl.schema.cel.errors import CostError

LIMIT = 500_000
"""Half of what the API server allows one rule (PerCallLimit of k8s.io/apiserver): some tenths of a second here."""

Scope = dict[str, Any]


class Budget:
    """The cost that one evaluation may still have, counted about as cel-go counts it."""

    __slots__ = ("left",)

    def __init__(self, left: int = LIMIT) -> None:
        self.left = left

    def spend(self, cost: int) -> None:
        """Raises CostError when nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise CostError("the expression costs more than can be judged here")


Run = Callable[[Scope, Budget], Any]
