"""The exceptions that end a command: input that can't be used (exit code 2), a cluster that can't be (3)."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings.model import SourceRef


class UserError(Exception):
    """Input or usage that stops a command before there is anything to report on.

    `what` says what is wrong in one sentence, `why` its cause, `fix` what to do, `source` where. A loader that finds
    several faults raises one error whose `others` hold the rest, so that a user mends a file in one go.

    `about` names spec values that the error follows from, likeliest culprit first: dotted paths, or steps where a key
    has dots of its own. It is not printed. Where a user set one of them becomes the `source` (`llmdctl.plan.blame`).
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        source: SourceRef | None = None,
        why: str = "",
        fix: str = "",
        others: Sequence[UserError] = (),
        about: Sequence[str | tuple[str, ...]] = (),
    ) -> None:
        super().__init__(what)
        self.what = what
        self.source = source
        self.why = why
        self.fix = fix
        self.others = tuple(others)
        self.about = tuple(about)

    def lines(self) -> list[str]:
        """The message as lines for a terminal, this error first and then the others."""
        head = f"error: {self.source}: {self.what}" if self.source else f"error: {self.what}"
        out = [head]
        if self.why:
            out.append(f"  why  {self.why}")
        if self.fix:
            out.append(f"  fix  {self.fix}")
        for other in self.others:
            out.extend(other.lines())
        return out


class ClusterError(UserError):
    """A cluster that is unreachable, forbids, or failed."""

    exit_code = 3
