"""What can go wrong with an expression."""

from __future__ import annotations


class CelError(Exception):
    """Anything wrong with an expression or with evaluating it; the text is for people."""


class CompileError(CelError):
    """The API server would refuse the expression itself. `position` counts characters from 0; -1 when unknown."""

    def __init__(self, message: str, position: int = -1) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class EvaluationError(CelError):
    """Evaluating failed: a key that is missing, an overflow, a value of the wrong type."""


class CostError(CelError):
    """The expression did more work than the API server allows, and was stopped."""


class UnsupportedError(CelError):
    """The expression uses what can't be judged here (authorizer, depths beyond reason): nothing is said of it."""
