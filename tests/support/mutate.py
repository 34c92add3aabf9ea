"""Breaking rendered stacks on purpose: what a mutation works on, and the stacks that mutations are tried on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from llmdctl.catalog.load import load_catalog
from llmdctl.findings import Report, SourceRef
from llmdctl.manifest.document import Document
from llmdctl.plan.build import build_plan
from llmdctl.plan.request import Request, flag_layer
from llmdctl.render.objects import render
from llmdctl.validate.pipeline import ValidateOptions, validate

STACKS: dict[str, dict[str, str]] = {
    "baseline": {"guide": "optimized-baseline"},
    "baseline-sglang": {"guide": "optimized-baseline", "engine": "sglang"},
    "baseline-dra": {"guide": "optimized-baseline", "preset": "dra"},
    "baseline-gateway": {"guide": "optimized-baseline", "router.mode": "gateway", "monitoring.enabled": "true"},
    "pd": {"guide": "pd-disaggregation"},
    "pd-sglang": {"guide": "pd-disaggregation", "engine": "sglang"},
    "pd-mooncake": {"guide": "pd-disaggregation", "preset": "mooncake"},
    "precise": {"guide": "precise-prefix-cache-routing"},
    "precise-sglang": {"guide": "precise-prefix-cache-routing", "engine": "sglang"},
    "wide-ep": {"guide": "wide-ep"},
    "wide-ep-amd": {"guide": "wide-ep", "accelerator": "amd-mi355x"},
    "wide-ep-leader": {"guide": "wide-ep", "accelerator": "intel-xpu"},
    "pd-slices": {"guide": "pd-disaggregation", "accelerator": "google-tpu-v7x", "provider": "gke-tpu-slices"},
    "topology": {"guide": "topology-aware-accelerators"},
}
"""One stack for each shape that we render, by the values that make it."""


class NotHere(Exception):
    """The stack has nothing that this mutation could break."""


class Objects:
    """The objects of one rendered stack, free to be changed in place."""

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self.items = items

    def all(self, kind: str, suffix: str = "") -> list[dict[str, Any]]:
        """The objects of a kind whose names end in `suffix`."""
        return [item for item in self.items if item["kind"] == kind and item["metadata"]["name"].endswith(suffix)]

    def one(self, kind: str, suffix: str = "") -> dict[str, Any]:
        """The first of them. Raises NotHere when there is none."""
        found = self.all(kind, suffix)
        if not found:
            raise NotHere(f"no {kind} {suffix}")
        return found[0]

    def pod_templates(self) -> Iterator[dict[str, Any]]:
        """Every pod template (`metadata` and `spec`) of every workload."""
        for item in self.items:
            spec = item.get("spec") or {}
            if item["kind"] == "LeaderWorkerSet":
                yield from _templates(spec)
            elif item["kind"] == "DisaggregatedSet":
                for role in spec["roles"]:
                    yield from _templates(role["spec"])
            elif "template" in spec and item["kind"] in ("Deployment", "StatefulSet", "Job"):
                yield spec["template"]

    def template(self, role: str = "decode") -> dict[str, Any]:
        """The pod template of a role's servers. Raises NotHere when the stack lacks the role."""
        for template in self.pod_templates():
            if (template["metadata"].get("labels") or {}).get("llm-d.ai/role") == role:
                return template
        raise NotHere(f"no role {role}")

    def engine(self, role: str = "decode") -> dict[str, Any]:
        """The engine's container of a role: the one called modelserver."""
        return container(self.template(role), "modelserver")

    def picker(self) -> dict[str, Any]:
        """The endpoint picker's container."""
        return container(self.one("Deployment", "-epp")["spec"]["template"], "epp")

    def set_picker_config(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Changes the endpoint picker's config inside its ConfigMap."""
        data = self.one("ConfigMap", "-epp")["data"]
        (key,) = data
        config = yaml.safe_load(data[key])
        change(config)
        data[key] = yaml.safe_dump(config, sort_keys=False)


def _templates(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    group = spec["leaderWorkerTemplate"]
    yield from (group[key] for key in ("leaderTemplate", "workerTemplate") if key in group)


def container(template: dict[str, Any], name: str) -> dict[str, Any]:
    """The container of that name, among native sidecars too. Raises NotHere when there is none."""
    spec = template["spec"]
    for item in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        if item["name"] == name:
            found: dict[str, Any] = item
            return found
    raise NotHere(f"no container {name}")


def set_flag(target: dict[str, Any], flag: str, value: str | None = None) -> None:
    """Gives a container's command line `--flag=value` instead of what it has; inside a shell script too."""
    text = flag if value is None else f"{flag}={value}"
    args = target.setdefault("args", [])
    for index, word in enumerate(args):
        if word == flag or word.startswith(f"{flag}="):
            args[index] = text
            return
    script = _script(args)
    if script is None:
        args.append(text)
        return
    lines = args[script].splitlines()
    for index, line in enumerate(lines):
        bare = line.strip().rstrip("\\").strip().strip("'\"")
        if bare == flag or bare.startswith((f"{flag}=", f"{flag} ")):
            end = " \\" if line.rstrip().endswith("\\") else ""
            lines[index] = f"  '{text}'{end}"
            args[script] = "\n".join(lines) + "\n"
            return
    args[script] = args[script].rstrip() + f" \\\n  '{text}'\n"


def drop_flag(target: dict[str, Any], flag: str) -> None:
    """Takes a flag off a container's command line. Raises NotHere when it isn't there."""
    args = target.get("args") or []
    kept = [word for word in args if word != flag and not word.startswith(f"{flag}=")]
    script = _script(args)
    if len(kept) == len(args) and script is not None:
        lines = args[script].splitlines()
        rest = [line for line in lines if not line.strip().strip("'\"").startswith(flag)]
        if len(rest) < len(lines):
            rest[-1] = rest[-1].rstrip().rstrip("\\").rstrip()
            args[script] = "\n".join(rest) + "\n"
            return
    if len(kept) == len(args):
        raise NotHere(f"no flag {flag}")
    target["args"] = kept


def flag_value(target: dict[str, Any], flag: str) -> str:
    """What `--flag=` says on a plain command line. Raises NotHere when it isn't there."""
    for word in target.get("args") or []:
        if word.startswith(f"{flag}="):
            return str(word.partition("=")[2])
    raise NotHere(f"no flag {flag}")


def _script(args: Sequence[str]) -> int | None:
    return next((index for index, word in enumerate(args) if "\n" in word), None)


def set_env(target: dict[str, Any], name: str, value: str) -> None:
    """Gives a container a variable, instead of the one that it has."""
    env = target.setdefault("env", [])
    env[:] = [item for item in env if item["name"] != name]
    env.append({"name": name, "value": value})


def drop_env(target: dict[str, Any], name: str) -> None:
    """Takes a variable from a container. Raises NotHere when it has none of that name."""
    env = target.get("env") or []
    kept = [item for item in env if item["name"] != name]
    if len(kept) == len(env):
        raise NotHere(f"no variable {name}")
    target["env"] = kept


@dataclass(frozen=True)
class Mutation:
    """How to commit the fault that a rule guards against. `change` raises NotHere where a stack can't have it;
    `also` names codes of errors that are faults of their own in the mutated stack, not consequences.
    """

    code: str
    change: Callable[[Objects], None]
    also: tuple[str, ...] = ()


@cache
def _rendered(stack: str) -> tuple[list[dict[str, Any]], str, str]:
    values: dict[Any, tuple[Any, str]] = {}
    for key, value in STACKS[stack].items():
        parsed: Any = True if value == "true" else value
        values["spec", *key.split(".")] = (parsed, key)
    catalog = load_catalog()
    plan = build_plan(Request((flag_layer(values),)), catalog)
    rendered = render(plan, catalog.template_dirs(plan.stack.guide), None)
    return list(rendered.objects), plan.stack.kube_version, plan.stack.release


def rendered_objects(stack: str) -> list[dict[str, Any]]:
    """The objects of a stack; not to be changed."""
    return _rendered(stack)[0]


def report_of(stack: str, change: Callable[[Objects], None] | None = None) -> Report:
    """The report on a stack, after a change to its objects."""
    found, kube_version, release = _rendered(stack)
    objects = Objects(copy.deepcopy(found))
    if change is not None:
        change(objects)
    documents = [Document(item, SourceRef("stack.yaml", document=index)) for index, item in enumerate(objects.items)]
    return validate(documents, ValidateOptions(kube_version=kube_version, release=release, complete=True))
