"""From documents to a report: reading, structure, admission, rules; then suppression, folding and positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from llmdctl.catalog import model_facts
from llmdctl.findings import (
    Coverage,
    Finding,
    Hit,
    Place,
    Report,
    Rule,
    Severity,
    Skip,
    SkippedCheck,
    Suppressed,
    SuppressedBy,
    Target,
)
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.manifest.parallel import Begun
from llmdctl.validate.crds import check_crds
from llmdctl.validate.folding import fold
from llmdctl.validate.located import locate
from llmdctl.validate.registry import all_rules
from llmdctl.validate.scope import not_an_object
from llmdctl.validate.select import Selection
from llmdctl.validate.server import ServerLayers
from llmdctl.validate.suppress import SERVER_FAMILIES, Annotated, Ignore, ignored, read_annotation
from llmdctl.validate.versions import DEFAULT_MINOR, DEFAULT_RELEASE
from llmdctl.view import Extent, VersionOptions, View

Located = tuple[Finding, Place]
_Checked = tuple[int, list[Located], str]

PARALLEL_OBJECTS = 1000
"""Fewer objects than this are checked in one process: starting others takes longer."""


@frozen
class ValidateOptions:
    """What to check against. `complete` says that what the input lacks within `extent` does not exist.

    `crds` are CustomResourceDefinition documents that win over the bundled ones.

    `accepted` are sources whose objects an API server has accepted: its own layers are not run on them again. They run
    in `jobs` processes where there are many objects; what comes out is the same.

    `place_unresolved` asks for lines of unresolved references as well, for which every file with one is read again.
    """

    kube_version: str = DEFAULT_MINOR
    release: str = DEFAULT_RELEASE
    complete: bool = False
    extent: Extent = Extent()
    crds: Sequence[Document] = ()
    versions: VersionOptions = field(default_factory=VersionOptions)
    ignores: Sequence[Ignore] = ()
    models: Callable[[str], Any] = model_facts
    selection: Selection = Selection()
    accepted: frozenset[str] = frozenset()
    jobs: int = 1
    place_unresolved: bool = True


def validate(
    documents: Sequence[Document],
    options: ValidateOptions | None = None,
    *,
    findings: Sequence[Finding] = (),
    texts: Mapping[str, bytes] | None = None,
) -> Report:
    """Checks documents and says everything that is wrong with them.

    `findings` are those of the reading, `texts` what came from stdin (both from `manifest.read_paths`). Raises
    UserError for options that name an unknown Kubernetes minor or release, and for CRDs that can't be used.
    """
    options = options or ValidateOptions()
    check_crds(options.crds)
    run = _Run(options)
    objects = run.separate(documents)
    with run.server_layers(objects, documents):
        run.view_rules(objects)
    return run.report(documents, findings, texts or {})


class _Run:
    def __init__(self, options: ValidateOptions) -> None:
        self.options = options
        self.rules = all_rules()
        self.hits: list[Located] = []
        self.unresolved: list[Located] = []
        self.skips: dict[tuple[str, str], list[Place | None]] = {}
        self.objects_skipped: list[SkippedCheck] = []
        self.rules_run = 0
        self.rules_skipped = 0
        self.rules_deselected = 0
        self.files: list[Document] = []

    def separate(self, documents: Sequence[Document]) -> list[Document]:
        """The cluster objects; everything else is counted as skipped, with its reason."""
        objects = []
        for document, reason in not_an_object(documents):
            if reason:
                self.objects_skipped.append(SkippedCheck("SCH", reason, document.ref, document.source))
                self.files.append(document)
            else:
                objects.append(document)
        return objects

    @contextmanager
    def server_layers(self, objects: Sequence[Document], documents: Sequence[Document]) -> Iterator[None]:
        """What the API server would say of each object, noted at the end, before what rules found meanwhile.

        With several jobs, other processes find it while this one runs what stands inside.
        """
        options = self.options
        layers = ServerLayers(options.kube_version, options.release, [*options.crds, *documents])
        own = [document for document in objects if document.source.file not in options.accepted]

        def check(indices: Sequence[int]) -> list[_Checked]:
            results = ((index, *layers.check(own[index])) for index in indices)
            return [(index, found, reason) for index, found, reason in results if found or reason]

        if options.jobs > 1 and len(own) >= PARALLEL_OBJECTS:
            begun = Begun(check, range(len(own)), options.jobs - 1)
            try:
                yield
                checked = [item for chunk in begun.results() for item in chunk]
            finally:
                begun.leave()
        else:
            checked = check(range(len(own)))
            yield
        self._note(own, checked)

    def _note(self, own: Sequence[Document], checked: Sequence[_Checked]) -> None:
        self.hits[:0] = [hit for _, found, _ in checked for hit in found]
        for index, _, reason in checked:
            if reason:
                self.objects_skipped.append(SkippedCheck("SCH", reason, own[index].ref, own[index].source))

    def view_rules(self, objects: Sequence[Document]) -> None:
        """The rules across objects."""
        options = self.options
        view = View(
            objects,
            complete=options.complete,
            extent=options.extent,
            versions=options.versions,
            models=options.models,
            files=self.files,
        )
        missing = {need: reason for need, (has, reason) in _NEEDS.items() if not has(view)}
        for rule in self.rules:
            if rule.check is None:
                continue
            if not options.selection.wants(rule.code):
                self.rules_deselected += 1
                continue
            reason = next((missing[need] for need in sorted(rule.needs) if need in missing), "")
            if reason:
                self.skips[rule.code, reason] = [None]
                self.rules_skipped += 1
            else:
                self.rules_run += 1
                self._run_rule(rule, view)

    def _run_rule(self, rule: Rule, view: View) -> None:
        assert rule.check is not None  # noqa: S101 - told apart by the caller
        for outcome in rule.check(view):
            if isinstance(outcome, Skip):
                self.skips.setdefault((rule.code, outcome.reason), []).append(outcome.at)
            elif isinstance(outcome, Hit):
                self.hits.append((rule.finding(outcome), outcome.at))
            else:
                hit = Hit(outcome.at, outcome.title, severity=Severity.INFO)
                self.unresolved.append((rule.finding(hit), outcome.at))

    def report(self, documents: Sequence[Document], read: Sequence[Finding], texts: Mapping[str, bytes]) -> Report:
        """Everything together, in order."""
        annotated = self._annotations(documents)
        wants = self.options.selection.wants
        self.hits = [hit for hit in self.hits if wants(hit[0].code)]
        read = [finding for finding in read if wants(finding.code)]
        kept, suppressed = self._suppress(annotated)
        shown = self.unresolved if self.options.place_unresolved else []
        located = locate([*kept, *(hit for hit, _ in suppressed), *shown], texts)
        findings = fold([*read, *located[: len(kept)]], self.rules)
        end = len(kept) + len(suppressed)
        by_annotation = [
            Suppressed(finding, SuppressedBy.ANNOTATION, reason)
            for finding, (_, reason) in zip(located[len(kept) : end], suppressed, strict=True)
        ]
        unseen = {code for (code, _), places in self.skips.items() if places == [None]}
        ran = [entry for entry in self.options.ignores if wants(entry.code) and entry.code not in unseen]
        findings, by_file, stale = ignored(findings, ran)
        return Report.of(
            findings,
            target=Target(self.options.kube_version, self.options.release, self.options.complete),
            coverage=self._coverage(len(documents)),
            skipped=(*self.objects_skipped, *self._skipped_checks()),
            suppressed=(*by_annotation, *by_file),
            unresolved=tuple(located[end:] if shown else (finding for finding, _ in self.unresolved)),
            stale=tuple(stale),
        )

    def _coverage(self, total: int) -> Coverage:
        skipped = len(self.objects_skipped)
        return Coverage(total, total - skipped, skipped, self.rules_run, self.rules_skipped, self.rules_deselected)

    def _annotations(self, documents: Sequence[Document]) -> dict[tuple[str, int, int | None], Annotated]:
        known = frozenset(rule.code for rule in self.rules)
        out = {}
        for document in documents:
            found = read_annotation(document, known)
            if found is not None:
                out[_key(document)] = found
                self.hits.extend(found.faults)
        return out

    def _suppress(
        self, annotated: Mapping[tuple[str, int, int | None], Annotated]
    ) -> tuple[list[Located], list[tuple[Located, str]]]:
        """What stays, and what an object's annotation ignores, with the reason that it gives."""
        if not annotated:
            return self.hits, []
        kept: list[Located] = []
        suppressed: list[tuple[Located, str]] = []
        for finding, place in self.hits:
            source = place.source
            found = annotated.get((source.file, source.document, place.item)) if source else None
            reason = found.reasons.get(finding.code) if found else None
            if reason is None or finding.code[:3] in SERVER_FAMILIES:
                kept.append((finding, place))
            else:
                suppressed.append(((finding, place), reason))
        return kept, suppressed

    def _skipped_checks(self) -> list[SkippedCheck]:
        """Each rule's reason once, with the object where it is only one."""
        out = []
        for (code, reason), places in sorted(self.skips.items()):
            objects = {place.object for place in places if place is not None}
            out.append(SkippedCheck(code, reason, objects.pop() if len(objects) == 1 else None))
        return out


def _key(document: Document) -> tuple[str, int, int | None]:
    return document.source.file, document.source.document, document.item


_NEEDS: dict[str, tuple[Callable[[View], bool], str]] = {
    "pools": (lambda view: bool(view.pools), "the input has no InferencePool"),
    "workloads": (lambda view: bool(view.workloads), "the input has no workload"),
    "engines": (lambda view: any(item.engines for item in view.templates), "no engine command is known in the input"),
    "configs": (lambda view: bool(view.picker_configs), "the input has no endpoint picker config"),
    "epps": (lambda view: bool(view.epps), "the input has no endpoint picker"),
    "scalers": (lambda view: bool(view.scalers), "the input has no autoscaler"),
    "pairs": (lambda view: bool(view.pairs), "the input has no prefill and decode servers that belong together"),
}
