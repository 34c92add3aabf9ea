"""Which line of a user's file, or which flag, an error of the plan is about."""

from __future__ import annotations

import re

from llmdctl.findings import UserError
from llmdctl.plan.request import Request

_SPEC_PATH = re.compile(r"\b(?:spec|metadata)(?:\.[A-Za-z0-9_-]+)+")


def blame(error: UserError, request: Request) -> UserError:
    """The error with the place of the value that it names, when that came from the user; else as it is.

    Errors name spec values by their dotted path. The nearest part that the user gave counts, since a value inside it
    may be a default.
    """
    match = _SPEC_PATH.search(error.what)
    if error.source is not None or match is None:
        return error
    steps = match[0].split(".")
    for length in range(len(steps), 1, -1):
        value, layer = request.find(*steps[:length])
        if layer is None or value is None:
            continue
        source = layer.source(tuple(steps[:length]))
        given = layer.origin_of(tuple(steps[:length])).text
        if source is None and error.what.startswith(given):
            return error
        what = error.what if source else f"{given}: {error.what}"
        return UserError(what, source=source, why=error.why, fix=error.fix, others=error.others)
    return error
