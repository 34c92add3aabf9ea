"""What rules offer to mend, for every rule: the edits must mend the example and bring nothing new."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import perturb
import pytest

from llmdctl.findings import Report
from llmdctl.manifest import read_paths, read_text
from llmdctl.manifest.emit import emit_yaml
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


ODD = ("--5", "²", "٣", "-", "9" * 30, "y", "1:30", "16GB", "TRUE", "tcp", "always", "2")


@pytest.mark.parametrize("seed", range(4))
def test_odd_input_is_mended_or_left_and_never_raises(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perturb.VALUES", (*perturb.VALUES, *ODD))
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    examples = sorted(EXAMPLES.glob("*/*.yaml"))
    for _ in range(60):
        documents = read_paths([str(chance.choice(examples))]).documents
        objects = [document.object for document in documents if document.object.get("metadata")]
        if not objects:
            continue
        obj, what = perturb.perturbed(chance.choice(objects), chance)
        text = emit_yaml(obj).encode()
        monkeypatch.setattr("llmdctl.operate.fix.read_bytes", lambda _, text=text: text)

        def again(texts: Mapping[str, bytes], text: bytes = text) -> Report:
            reading = read_text(texts.get("f.yaml", text), "f.yaml")
            return validate(reading.documents, findings=reading.findings, texts={"f.yaml": text, **texts})

        done = fix(again)
        assert not done.refused, what
        assert len(done.after.findings) <= len(done.before.findings) + 8, what
