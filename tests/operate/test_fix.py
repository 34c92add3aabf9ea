"""What rules offer to mend, for every rule: the edits must mend the example and bring nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from llmdctl.findings import Report
from llmdctl.manifest import read_paths
from llmdctl.operate.fix import fix
from llmdctl.validate.pipeline import validate
from llmdctl.validate.registry import EXAMPLES


def check(path: Path, texts: Mapping[str, bytes]) -> Report:
    """The report on one file, or on the text that takes its place."""
    reading = read_paths([str(path)], texts)
    return validate(reading.documents, findings=reading.findings, texts=reading.texts)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/bad.yaml")), ids=lambda path: path.parent.name)
def test_offered_edits_mend_the_example_and_bring_nothing_new(path: Path) -> None:
    done = fix(lambda texts: check(path, texts))
    assert not done.refused
    before = {finding.fingerprint for finding in done.before.findings}
    after = {finding.fingerprint for finding in done.after.findings}
    assert after <= before
    assert not after & {finding.fingerprint for finding in done.fixed}
    offered = [finding for finding in done.before.findings if finding.edits and not finding.root_cause]
    assert len(done.fixed) >= len(offered)


def test_some_examples_offer_edits() -> None:
    files = sorted(EXAMPLES.glob("*/bad.yaml"))
    mended = [path.parent.name for path in files if fix(lambda texts, path=path: check(path, texts)).fixed]
    assert {"PRT001", "SCH001", "SCH002", "SCH004"} <= set(mended)
