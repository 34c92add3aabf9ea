"""Errors of the plan name the line of the value that they follow from, or the flag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog
from llmdctl.findings import UserError
from llmdctl.plan.build import build_plan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer, flag_layer
from llmdctl.spec.load import load_stack

HEAD = "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\n"


def refused(tmp_path: Path, catalog: Catalog, body: str, allow: bool = False) -> UserError:
    """The error of a stack whose file is the head and then `body`, from line 3 on."""
    path = tmp_path / "stack.yaml"
    path.write_text(HEAD + body)
    loaded = load_stack(str(path))
    layer = UserLayer(loaded.data, lambda at: Origin(OriginKind.FILE, str(loaded.source(at))), loaded.source)
    with pytest.raises(UserError) as caught:
        build_plan(Request((layer,), allow), catalog)
    return caught.value


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("spec:\n  guide: nope", 4),
        ("spec:\n  guide: pd-disaggregation\n  preset: nope", 5),
        ("spec:\n  guide: pd-disaggregation\n  engine: nope", 5),
        ("spec:\n  guide: pd-disaggregation\n  accelerator: nope", 5),
        ("spec:\n  guide: pd-disaggregation\n  provider: nope", 5),
        ("spec:\n  guide: pd-disaggregation\n  workload: leaderWorkerSet", 5),
        ("spec:\n  guide: pd-disaggregation\n  provider: gke\n  kubeVersion: '1.33'", 6),
        ("spec:\n  guide: pd-disaggregation\n  kubeVersion: '1.20'", 5),
        ("spec:\n  guide: pd-disaggregation\n  release: '7'", 5),
        ("spec:\n  guide: pd-disaggregation\n  images:\n    overrides:\n      nope: {tag: a}", 7),
        # A combination that is not listed: the accelerator if it was chosen, else what was.
        ("spec:\n  guide: pd-disaggregation\n  provider: aws\n  accelerator: nvidia-b200", 6),
        ("spec:\n  guide: pd-disaggregation\n  engine: sim", 5),
        ("spec:\n  guide: pd-disaggregation\n  provider: tensorwave", 5),
        # Sizes of the guide that a chosen model or accelerator does not bear.
        ("spec:\n  guide: wide-ep\n  model:\n    id: Qwen/Qwen3-32B", 6),
        ("spec:\n  guide: wide-ep\n  roles:\n    decode:\n      parallelism:\n        dataLocal: 4", 8),
        ("spec:\n  guide: wide-ep\n  workload: deployment", 5),
        ("spec:\n  guide: pd-disaggregation\n  roles:\n    decode:\n      parallelism: {tensor: 16}", 7),
        ("spec:\n  guide: wide-ep\n  roles: {decode: {resources: {limits:\n    {nvidia.com/gpu: 2}}}}", 6),
        ("spec:\n  guide: wide-ep\n  roles: {decode: {resources: {requests:\n    {amd.com/gpu: 2}}}}", 6),
        ("spec:\n  guide: optimized-baseline\n  model:\n    maxLength: 1000000000", 6),
        ("spec:\n  guide: pd-disaggregation\n  engine: sglang\n  kvTransfer:\n    backends: [UCX, LIBFABRIC]", 7),
        ("spec:\n  guide: pd-disaggregation\n  kvTransfer:\n    connector: moriio\n  release: '0.8'", 6),
    ],
)
def test_the_line_of_the_value_is_named(tmp_path: Path, catalog: Catalog, body: str, line: int) -> None:
    error = refused(tmp_path, catalog, body)
    assert error.source is not None, error.what
    assert (Path(error.source.file).name, error.source.line) == ("stack.yaml", line), error.what


@pytest.mark.parametrize(
    ("body", "line"),
    [
        # The connector is the guide's default, so that the engine is what does not fit.
        ("spec:\n  guide: pd-disaggregation\n  engine: trtllm", 5),
        ("spec:\n  guide: precise-prefix-cache-routing\n  accelerator: none\n  engine: sim", 6),
        ("spec:\n  guide: wide-ep\n  engine: sglang", 5),
        ("spec:\n  guide: optimized-baseline\n  accelerator: google-tpu-v6e\n  engine: sglang", 6),
    ],
)
def test_so_is_that_of_what_was_forced(tmp_path: Path, catalog: Catalog, body: str, line: int) -> None:
    error = refused(tmp_path, catalog, body, allow=True)
    assert error.source is not None, error.what
    assert error.source.line == line, error.what


@pytest.mark.parametrize(
    ("flags", "start"),
    [
        ({("spec", "engine"): ("nope", "--engine nope")}, "--engine nope: there is no engine"),
        ({("spec", "workload"): ("leaderWorkerSet", "--set w")}, "--set w: spec.workload: guide pd-disaggregation"),
        ({("spec", "model"): ({"maxLength": "x"}, "--set m")}, "--set m: spec.model.maxLength: "),
    ],
)
def test_flags_are_named_once(catalog: Catalog, flags: dict[Any, Any], start: str) -> None:
    guide = flag_layer({("spec", "guide"): ("pd-disaggregation", "guide argument")})
    with pytest.raises(UserError) as caught:
        build_plan(Request((guide, flag_layer(flags))), catalog)
    assert caught.value.what.startswith(start)
    assert caught.value.source is None


def test_a_value_that_nobody_chose_is_not_blamed(catalog: Catalog) -> None:
    guide = flag_layer({("spec", "guide"): ("pd-disaggregation", "guide argument")})
    tensor = flag_layer({("spec", "roles", "decode", "parallelism", "tensor"): (3, "--set t")})
    with pytest.raises(UserError) as caught:
        build_plan(Request((guide, tensor)), catalog)
    assert caught.value.what.startswith("--set t: spec.roles.decode.parallelism.tensor: 3 does not divide")
