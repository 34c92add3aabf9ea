"""The edge of the program: the one place that turns exceptions into text and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from llmdctl.findings.errors import UserError

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main() -> NoReturn:
    """Runs the command line in `sys.argv` and exits with a code of the list in docs/exit-codes.md."""
    # Modules and objects live until the end: looking for cycles among them every 700 allocations only costs time.
    gc.set_threshold(100_000, 10, 10)
    try:
        from llmdctl.cli.app import build_app

        build_app(sys.argv[1:])(prog_name="llmdctl")
    except UserError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        if os.environ.get("LLMDCTL_DEBUG"):
            raise
        sys.stderr.write(
            f"error: internal error: {type(error).__name__}: {error}\n"
            "  why  this is a fault of llmdctl, not of your input\n"
            "  fix  run it again with LLMDCTL_DEBUG=1 and report what it prints\n"
        )
        sys.exit(EXIT_USAGE)
    sys.exit(0)


def print_error(error: UserError) -> None:
    """Writes an error to stderr; what a terminal would obey, or its encoding lacks, is written as escapes."""
    from llmdctl.findings.text import escape

    text = "\n".join(escape(line) for line in error.lines()) + "\n"
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
