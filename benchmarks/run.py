"""Compares llmdctl with other tools and prints ratios of CPU time. See README.md beside this file."""

from __future__ import annotations

import copy
import itertools
import json
import sys
import tempfile
from pathlib import Path

import measure
import tools

HERE = Path(__file__).resolve().parent
LLMDCTL = str(Path(sys.executable).parent / "llmdctl")
OBJECTS = 1000
COUNTS = (100, 1000, 10_000)
STACK = ["pd-disaggregation", "--accelerator", "nvidia-h200", "--provider", "gke"]


def report(name: str, ratio: float, aim: float, detail: str) -> None:
    """One line a benchmark; 25 % slack, because the machines are shared."""
    verdict = "ok" if ratio <= aim else "ok within slack" if ratio <= aim * 1.25 else "over"
    print(f"{name:<16} ratio {ratio:8.4f}  aim {aim:.4f}  {verdict:<16} {detail}", flush=True)


def bench_help(helm: Path) -> None:
    """Start-up: the help text against `helm version`."""
    best = measure.interleaved({"llmdctl": [[LLMDCTL, "--help"]], "helm": [[str(helm), "version"]]})
    report("help", best["llmdctl"] / best["helm"], 2.0, f"{best['llmdctl']:.3f} s : {best['helm']:.3f} s")


def bench_render(kubectl: Path, helm: Path, scratch: Path) -> None:
    """Rendering and validating one P/D stack against kustomize plus helm, which validate nothing."""
    out = str(scratch / "out")
    best = measure.interleaved(
        {
            "llmdctl": [[LLMDCTL, "render", *STACK, "-q", "-o", out]],
            "others": [
                [str(kubectl), "kustomize", str(HERE / "data" / "overlay")],
                [str(helm), "template", "bench", str(HERE / "data" / "router")],
            ],
        }
    )
    report("render", best["llmdctl"] / best["others"], 1.0, f"{best['llmdctl']:.3f} s : {best['others']:.3f} s")


TEN_TIMES = """
import sys
from pathlib import Path
from llmdctl.catalog.load import load_catalog
from llmdctl.operate.matrix import render_matrix
for _ in range(int(sys.argv[2])):
    render_matrix(load_catalog(), Path(sys.argv[1]))
"""


def bench_matrix(kubectl: Path, helm: Path, scratch: Path) -> None:
    """The whole declared matrix against kustomize plus helm once for each of its stacks, and whether ten times the work
    takes ten times as long. Five runs.
    """
    out = scratch / "matrix"
    many = [sys.executable, "-c", TEN_TIMES, str(out)]
    best = measure.interleaved(
        {
            "llmdctl": [[LLMDCTL, "render", "--all", "-q", "-o", str(out)]],
            "once": [[*many, "1"]],
            "ten": [[*many, "10"]],
            "others": [
                [str(kubectl), "kustomize", str(HERE / "data" / "overlay")],
                [str(helm), "template", "bench", str(HERE / "data" / "router")],
            ],
        },
        runs=5,
    )
    stacks = sum(1 for folder in out.glob("*/*") if folder.is_dir())
    others = stacks * best["others"]
    report("matrix", best["llmdctl"] / others, 1 / 15, f"{stacks} stacks, {best['llmdctl']:.2f} s : {others:.1f} s")
    report("matrix-linear", best["ten"] / (10 * best["once"]), 1.0, f"{best['ten']:.1f} s : 10 x {best['once']:.2f} s")


def make_objects(scratch: Path, count: int = OBJECTS) -> Path:
    """Objects of built-in kinds in 50 files: the stacks of the matrix, each in a namespace of its own.

    Nothing else of an object is changed, so that references still lead somewhere and the input stays clean.
    """
    sys.path.insert(0, str(HERE.parent))
    from llmdctl.manifest import read_paths
    from llmdctl.manifest.emit import emit_yaml

    seed = scratch / "seed"
    if not seed.exists():
        measure.cpu_seconds([LLMDCTL, "render", "--all", "-q", "-o", str(seed)])
    kinds = {"Deployment", "Service", "ConfigMap", "ServiceAccount", "Role", "RoleBinding"}
    stacks = [
        [doc.object for doc in read_paths([str(folder)]).documents if doc.object["kind"] in kinds]
        for folder in sorted(seed.glob("*/*"))
        if folder.is_dir()
    ]
    target = scratch / f"objects-{count}"
    target.mkdir()
    texts: list[str] = []
    for number in itertools.count():
        for original in stacks[number % len(stacks)]:
            obj = copy.deepcopy(original)
            for place in (obj["metadata"], *obj.get("subjects", ())):
                place["namespace"] = f"bench-{number}"
            texts.append(emit_yaml(obj))
        if len(texts) >= count:
            break
    for start in range(0, count, count // 50):
        batch = texts[start : min(start + count // 50, count)]
        (target / f"{start:05}.yaml").write_text("---\n".join(batch), encoding="utf-8")
    return target


def bench_python(objects: Path, scratch: Path) -> None:
    """Against kubernetes-validate on the same objects, in one file because it starts anew for each; five runs, since
    one takes some twelve seconds.
    """
    together = scratch / "together.yaml"
    together.write_text("---\n".join(path.read_text(encoding="utf-8") for path in sorted(objects.iterdir())), "utf-8")
    other = str(Path(sys.executable).parent / "kubernetes-validate")
    best = measure.interleaved(
        {
            "llmdctl": [[LLMDCTL, "validate", str(objects), "-q", "--fail-on", "never"]],
            "python": [[other, "--strict", "-k", "1.36", str(together)]],
        },
        runs=5,
    )
    detail = f"{best['llmdctl']:.3f} s : {best['python']:.1f} s"
    report("validate-python", best["llmdctl"] / best["python"], 1 / 50, detail)


def standalone_schemas(target: Path) -> None:
    """One self-contained schema a kind, as kubeconform wants them, from the definitions of kubernetes-validate."""
    import kubernetes_validate

    base = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / "v1.36.0-local-strict"
    definitions = json.loads((base / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    target.mkdir()
    for name, kind in {
        "io.k8s.api.apps.v1.Deployment": "deployment-apps-v1",
        "io.k8s.api.core.v1.Service": "service-v1",
        "io.k8s.api.core.v1.ConfigMap": "configmap-v1",
        "io.k8s.api.core.v1.ServiceAccount": "serviceaccount-v1",
        "io.k8s.api.rbac.v1.Role": "role-rbac-v1",
        "io.k8s.api.rbac.v1.RoleBinding": "rolebinding-rbac-v1",
    }.items():
        text = json.dumps({"$ref": f"#/$defs/{name}", "$defs": definitions})
        (target / f"{kind}.json").write_text(text, encoding="utf-8")


def bench_go(objects: Path, scratch: Path, kubeconform: Path) -> None:
    """Against kubeconform with one worker, on the schemas of kubernetes-validate."""
    schemas = scratch / "schemas"
    standalone_schemas(schemas)
    location = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    go = [str(kubeconform), "-n", "1", "-strict", "-schema-location", location, str(objects)]
    best = measure.interleaved(
        {"llmdctl": [[LLMDCTL, "validate", str(objects), "-q", "--fail-on", "never"]], "kubeconform": [go]}
    )
    detail = f"{best['llmdctl']:.3f} s : {best['kubeconform']:.3f} s"
    report("validate-go", best["llmdctl"] / best["kubeconform"], 1.5, detail)


def bench_curve(scratch: Path) -> None:
    """Whether ten times the objects take ten times as long, the memory that they take, and what a second process saves.

    Differences are compared, so that the start-up does not count.
    """
    folders = {count: make_objects(scratch, count) for count in COUNTS}
    commands = {str(count): [[LLMDCTL, "validate", str(path), "-q"]] for count, path in folders.items()}
    best = measure.interleaved(commands, runs=5)
    few, some, many = (best[str(count)] for count in COUNTS)
    peaks = {count: measure.peak_mib(commands[str(count)][0]) for count in COUNTS}
    detail = ", ".join(f"{count:,}: {best[str(count)]:.2f} s {peaks[count]:.0f} MiB" for count in COUNTS)
    report("validate-curve", (many - some) / (10 * (some - few)), 1.0, detail)
    most = commands[str(COUNTS[-1])][0]
    wall = measure.interleaved({"1": [most], "2": [[*most, "--jobs", "2"]]}, runs=5, wall=True)
    report("validate-jobs", wall["2"] / wall["1"], 1.0, f"{wall['2']:.2f} s : {wall['1']:.2f} s by the clock")


def main() -> None:
    """Runs what can be run here and names the rest."""
    found = tools.kubectl_and_helm()
    conform = tools.kubeconform()
    print(json.dumps({"python": sys.version.split()[0], "runs": measure.RUNS}))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if isinstance(found, str):
            print(f"help, render     left out: {found}")
        else:
            bench_help(found[1])
            bench_render(found[0], found[1], scratch)
            bench_matrix(found[0], found[1], scratch)
        bench_curve(scratch)
        objects = make_objects(scratch)
        bench_python(objects, scratch)
        if isinstance(conform, str):
            print(f"validate-go      left out: {conform}")
        else:
            bench_go(objects, scratch, conform)


if __name__ == "__main__":
    main()
