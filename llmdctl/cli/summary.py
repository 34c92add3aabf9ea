"""The readable summary that `render` prints: what was rendered, for what, and what was checked."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings import Report, Severity, counted
from llmdctl.findings.text import found
from llmdctl.operate.matrix import Coverage, Outcome
from llmdctl.plan.model import Plan, RolePlan
from llmdctl.render.objects import Rendered


def render_summary(rendered: Rendered, report: Report | None, destination: str) -> str:
    """Some ten lines of plain text, ended by a newline."""
    plan = rendered.plan
    stack = plan.stack
    lines = [
        f"stack {stack.name} in namespace {stack.namespace}: guide {stack.guide}, {stack.engine} on "
        f"{stack.accelerator}, provider {stack.provider}, llm-d {stack.release}, Kubernetes {stack.kube_version}",
        f"model {plan.model.id}",
        *(_role_line(plan, role) for role in plan.roles),
        f"  total    {counted(_total(plan), 'accelerator')}",
        f"rendered {counted(len(rendered.objects), 'object')}{'' if destination == '-' else ' into ' + destination}",
        *(f"  {obj['kind']:<22} {obj['metadata']['name']}" for obj in rendered.objects),
        _checked_line(report),
    ]
    if destination != "-" and not (report and report.fails(Severity.ERROR)):
        lines.append(f"next     kubectl create namespace {stack.namespace}   # unless it is there")
        lines.append(f"         kubectl apply --server-side -n {stack.namespace} -f {destination}")
    return "\n".join(lines) + "\n"


def coverage_text(coverage: Coverage, destination: str) -> str:
    """What `render --all` did: by guide, in total, what was skipped and why, and where findings are."""
    lines = []
    by_guide: dict[str, list[Outcome]] = {}
    for outcome in coverage.outcomes:
        by_guide.setdefault(outcome.variant.guide, []).append(outcome)
    for guide, outcomes in by_guide.items():
        lines.append(f"{guide:<32} {_counts(outcomes)}")
    lines.append(f"{'all, into ' + destination:<32} {_counts(coverage.outcomes)}")
    spent = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in coverage.seconds.items())
    lines.append(f"CPU time: {spent}")
    lines.extend(
        f"skipped  {outcome.variant.folder}: {outcome.skipped}" for outcome in coverage.outcomes if outcome.skipped
    )
    lines.extend(
        f"findings {outcome.variant.folder}: {found(outcome.report)}" for outcome in coverage.faulty if outcome.report
    )
    return "\n".join(lines) + "\n"


def _counts(outcomes: Sequence[Outcome]) -> str:
    rendered = [outcome for outcome in outcomes if not outcome.skipped]
    checked = [outcome.report for outcome in rendered if outcome.report is not None]
    clean = sum(1 for report in checked if not report.findings)
    objects = sum(outcome.objects for outcome in rendered)
    return (
        f"{len(outcomes)} declared, {len(rendered)} rendered ({counted(objects, 'object')}), {len(checked)} validated, "
        f"{clean} without a finding, {len(outcomes) - len(rendered)} skipped"
    )


def _role_line(plan: Plan, role: RolePlan) -> str:
    sizes = role.parallelism
    ranks = " ".join(
        f"{short}{size}"
        for short, size in (("TP", sizes.tensor), ("PP", sizes.pipeline), ("DP", sizes.data))
        if size > 1 or short == "TP"
    )
    group = f" on {sizes.pods} pods" if sizes.pods > 1 else ""
    front = f", sidecar on {role.serving_port}" if role.sidecar else ""
    # A job that only claims devices serves nothing.
    serves = f", engine on {role.engine_port}{front}" if _serves(plan) else ""
    how = "claimed by DRA" if role.pod.resource_claims and plan.stack.device_mode == "dra" else "by device plugin"
    return (
        f"  {role.name:<8} {role.replicas} x {ranks}{group}: {counted(sizes.accelerators, 'accelerator')} a pod ({how})"
        f"{serves}"
    )


def _serves(plan: Plan) -> bool:
    return any(item.template.startswith("router/") for item in plan.objects)


def _total(plan: Plan) -> int:
    return sum(role.replicas * role.parallelism.pods * role.parallelism.accelerators for role in plan.roles)


def _checked_line(report: Report | None) -> str:
    if report is None:
        return "checked  nothing (--no-validate)"
    counts = report.coverage
    return (
        f"checked  {counts.objects_validated} of {counted(counts.objects_total, 'object')} against Kubernetes "
        f"{report.target.kube_version} and the custom resources of llm-d {report.target.release}, "
        f"{counted(counts.rules_run, 'rule')} run, {counts.rules_skipped} skipped: {found(report)}"
    )
