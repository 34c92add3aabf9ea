"""How far the offline checks agree with a real API server, over the recorded answers in ../shared/corpus.

    python scripts/agreement.py [--disagreements]

A record agrees when the server accepted and nothing is found, or refused and something is. What the server accepts
although its pods then fail is reported on purpose; such findings do not count against an accepted record. A field
agrees when one of our pointers is one that the server names. Cross-resource rules don't count.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmdctl.findings import Finding, SourceRef
from llmdctl.manifest import Document
from llmdctl.schema import SchemaStore
from llmdctl.validate.admission.dispatch import FAILS_LATER
from llmdctl.validate.server import ServerLayers

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "server-verdicts" / "verdicts.jsonl.gz"
MINOR, RELEASE = "1.36", "1.0"

ZERO_VALUES = "LWS's mutating webhook reads the object into Go types, which turns what is missing into an empty value"
OUT_OF_REACH = {
    ("InferencePool/pool", "delete", "spec.endpointPickerRef"): "the server had a newer inference extension than 1.5",
    ("LeaderWorkerSet/prefill", "null", "spec.leaderWorkerTemplate.workerTemplate.spec"): ZERO_VALUES,
    ("LeaderWorkerSet/prefill", "empty-object", "spec.leaderWorkerTemplate.workerTemplate"): ZERO_VALUES,
    ("LeaderWorkerSet/prefill", "delete", "spec"): ZERO_VALUES,
    ("LeaderWorkerSet/prefill", "null", "spec"): ZERO_VALUES,
    **{
        ("LeaderWorkerSet/prefill", mutation, f"spec.leaderWorkerTemplate.workerTemplate.spec.{path}"): ZERO_VALUES
        for mutation, path in (
            ("delete", "containers.0.name"),
            ("null-item", "containers.0.args"),
            ("delete", "containers.0.env.0.name"),
            ("empty-object", "containers.0.env.0"),
            ("empty-object", "containers.0"),
            ("null-item", "containers"),
            ("empty-object", "volumes.0"),
            ("null", "volumes.0"),
            ("null-item", "volumes"),
        )
    },
}
"""Records on which nothing offline can agree yet, by id, mutation and path, with the reason."""


@dataclass(frozen=True)
class Outcome:
    """One record with what we say of it."""

    record: dict[str, Any]
    custom: bool
    findings: tuple[Finding, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """What OUT_OF_REACH knows a record by."""
        return self.record["id"], self.record["mutation"], self.record["path"]

    @property
    def agrees(self) -> bool:
        """Record agreement."""
        if self.record["accepted"]:
            return all(FAILS_LATER in finding.title for finding in self.findings)
        return bool(self.findings)

    @property
    def field_agrees(self) -> bool | None:
        """Field agreement; None where the server names no field, or a record is no rejection that we find."""
        fields = {cause.get("field") for cause in self.record.get("causes") or []} - {None, "", "<nil>"}
        if self.record["accepted"] or not self.findings or not fields:
            return None
        return any(finding.pointer in fields for finding in self.findings)


def outcomes(corpus: Path = CORPUS) -> Iterator[Outcome]:
    """Every record of the corpus with our findings."""
    layers, store = ServerLayers(MINOR, RELEASE, ()), SchemaStore(MINOR, RELEASE)
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            api_version, kind = record["object"].get("apiVersion"), record["object"].get("kind")
            found, _ = layers.check(Document(record["object"], SourceRef(record["id"])))
            schema = store.lookup(str(api_version), str(kind))
            custom = bool(getattr(schema, "custom", "." in str(api_version).partition("/")[0]))
            yield Outcome(record, custom, tuple(finding for finding, _ in found))


def report(results: list[Outcome], *, disagreements: bool) -> None:
    """Prints the tables."""
    counted = [result for result in results if result.key not in OUT_OF_REACH]
    for title, group in (
        ("built-in kinds", [result for result in counted if not result.custom]),
        ("custom kinds", [result for result in counted if result.custom]),
    ):
        fields = [result.field_agrees for result in group if result.field_agrees is not None]
        print(f"{title:<16} records {share([r.agrees for r in group])}   fields {share(fields)}")
    print(f"{'out of reach':<16} {len(results) - len(counted)} records, see OUT_OF_REACH")
    for name in ("kind", "mutation"):
        print(f"\nby {name}")
        totals: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for result in counted:
            value = str(result.record["id"]).partition("/")[0] if name == "kind" else str(result.record["mutation"])
            totals[value] += 1
            good[value] += result.agrees
        for value, total in sorted(totals.items()):
            print(f"  {value:<28} {good[value]:>4} of {total}")
    if disagreements:
        print("\ndisagreements")
        for result in results:
            if not result.agrees:
                said = "accepted" if result.record["accepted"] else f"refused with {result.record.get('status')}"
                ours = "; ".join(finding.title for finding in result.findings) or "nothing found"
                reason = OUT_OF_REACH.get(result.key, "not explained")
                print(f"  {' '.join(result.key)}: server {said}, ours: {ours} ({reason})")


def share(values: list[bool]) -> str:
    """`997 of 1000 (99.7 %)`."""
    return f"{sum(values):>4} of {len(values)} ({100 * sum(values) / max(len(values), 1):.1f} %)"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--disagreements", action="store_true", help="list them")
    options = parser.parse_args()
    if not CORPUS.is_file():
        print("skipped: ../shared/corpus/server-verdicts is not here; it lies beside the checkout, not in it")
        sys.exit(0)
    report(list(outcomes()), disagreements=options.disagreements)


if __name__ == "__main__":
    main()
