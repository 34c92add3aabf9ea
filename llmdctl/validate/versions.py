"""What a run is checked against: Kubernetes minors, llm-d releases, and versions of components."""

from __future__ import annotations

from llmdctl.findings import UserError
from llmdctl.manifest.typed import nearest
from llmdctl.schema import SUPPORTED_MINORS

DEFAULT_MINOR = "1.36"

RELEASES = ("0.8", "0.9", "1.0")
DEFAULT_RELEASE = "1.0"


def check_minor(text: str) -> str:
    """The minor that `1.36`, `v1.36` or `1.36.2` names. Raises UserError for one that is not bundled."""
    minor = ".".join(text.removeprefix("v").split(".")[:2])
    if minor not in SUPPORTED_MINORS:
        raise UserError(
            f"Kubernetes {text!r} is not known to this llmdctl", fix=f"use one of: {', '.join(SUPPORTED_MINORS)}"
        )
    return minor


def check_release(text: str) -> str:
    """The llm-d release of that name. Raises UserError for an unknown one."""
    if text not in RELEASES:
        close = nearest(text, RELEASES)
        hint = f"did you mean {close}? " if close else ""
        raise UserError(
            f"llm-d release {text!r} is not known to this llmdctl", fix=f"{hint}known: {', '.join(RELEASES)}"
        )
    return text
