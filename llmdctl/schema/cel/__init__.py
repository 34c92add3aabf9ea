"""CEL as the API server evaluates it: the language, Kubernetes' libraries, and limits."""

from llmdctl.schema.cel.errors import CelError, CompileError, EvaluationError, UnsupportedError
from llmdctl.schema.cel.program import Program, compile_expression

__all__ = ["CelError", "CompileError", "EvaluationError", "Program", "UnsupportedError", "compile_expression"]
