"""Which line of a user's file, or which flag, an error of the plan is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmdctl.findings import UserError
from llmdctl.plan.request import Request

_SPEC_PATH = re.compile(r"\b(?:spec|metadata)(?:\.[A-Za-z0-9_-]+)+")

Steps = tuple[str, ...]


def blame(error: UserError, request: Request) -> UserError:
    """The error with the place of the value that it follows from, when that came from the user; else as it is.

    Errors name spec values by their dotted path, in `about` and in what they say. The first that the user gave counts;
    when he gave none of them, the nearest part that holds one does, since a value inside it may be a default.
    """
    others = [blame(other, request) for other in error.others]
    if error.source is None:
        for steps in _candidates(error):
            value, layer = request.find(*steps)
            if layer is None or value is None:
                continue
            source, given = layer.source(steps), layer.origin_of(steps).text
            what = error.what if source or error.what.startswith(given) else f"{given}: {error.what}"
            return UserError(what, source=source, why=error.why, fix=error.fix, others=others)
    return UserError(error.what, source=error.source, why=error.why, fix=error.fix, others=others)


def _candidates(error: UserError) -> Iterator[Steps]:
    paths = (*error.about, *_SPEC_PATH.findall(error.what))
    named = [tuple(path.split(".")) if isinstance(path, str) else path for path in paths]
    yield from named
    for steps in named:
        # `spec` alone holds everything, so that its place would say nothing.
        for length in range(len(steps) - 1, 1, -1):
            yield steps[:length]
