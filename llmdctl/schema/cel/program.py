"""Compiling and running an expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmdctl.schema.cel.compiler import Compiler
from llmdctl.schema.cel.errors import CompileError, CostError, EvaluationError, UnsupportedError
from llmdctl.schema.cel.parser import parse
from llmdctl.schema.cel.scope import LIMIT, Budget, Run
from llmdctl.schema.cel.types import Type, show_type


class Program:
    """A compiled expression. `result` is the type of what it gives, as far as it is known."""

    def __init__(self, run: Run, result: Type) -> None:
        self._run = run
        self.result = result

    def evaluate(self, variables: Mapping[str, Any], limit: int = LIMIT) -> Any:
        """The value for these variables. Raises EvaluationError, and UnsupportedError when it costs too much here."""
        try:
            return self._run(dict(variables), Budget(limit))
        except CostError as error:
            raise UnsupportedError(str(error)) from None
        except RecursionError:
            raise UnsupportedError("the values are nested too deeply to be judged") from None
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, MemoryError) as error:
            # A value of a type that an overload did not expect: to CEL that is an error like any other.
            raise EvaluationError(f"no such overload: {error}") from None


def compile_expression(
    text: str, variables: Mapping[str, Type], *, minor: int, wanted: str = "bool", bindings: bool = True
) -> Program:
    """The expression, for a Kubernetes minor (the number after "1.") and variables of these types.

    `bindings` says that `cel.bind` is there: it is in selectors of devices, and not in CRDs. Raises CompileError for
    what the API server refuses, a result of another type among it (`wanted` may be "" for any),
    and UnsupportedError for what can't be judged here.
    """
    try:
        run, result = Compiler(variables, minor, bindings=bindings).compile(parse(text))
    except RecursionError:
        raise UnsupportedError("the expression is nested too deeply to be judged") from None
    if wanted and result not in (wanted, "dyn"):
        raise CompileError(f"must evaluate to {wanted}, and not to {show_type(result)}")
    return Program(run, result)
