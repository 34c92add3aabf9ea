"""Flag tables: complete, with provenance, and made by the script from source that it only reads."""

from __future__ import annotations

import ast
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from llmdctl.engines import known_versions, load_table
from llmdctl.engines.tables import DATA

TABLES = [
    ("vllm", "0.22.0"),
    ("vllm", "0.23.0"),
    ("vllm", "0.26.0"),
    ("vllm", "0.29.0"),
    ("vllm", "0.30.0"),
    ("sglang", "0.5.12"),
    ("sglang", "0.5.13.post1"),
    ("sglang", "0.5.16"),
    ("sglang", "0.5.20"),
]


def script(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("make_flag_table", root / "scripts" / "make_flag_table.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["make_flag_table"] = module
    spec.loader.exec_module(module)
    return module


def test_versions_are_listed_in_order() -> None:
    assert known_versions("vllm") == ["0.22.0", "0.23.0", "0.26.0", "0.29.0", "0.30.0"]
    assert known_versions("sglang") == ["0.5.12", "0.5.13.post1", "0.5.16", "0.5.20"]
    assert known_versions("nothing") == []


@pytest.mark.parametrize(("engine", "version"), TABLES)
def test_provenance_names_the_package(engine: str, version: str) -> None:
    provenance = json.loads((DATA / f"{engine}-{version}.provenance.json").read_text(encoding="utf-8"))
    assert (provenance["package"], provenance["version"]) == (engine, version)
    assert len(provenance["sha256"]) == 64
    assert provenance["licence"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("engine", "version", "flag", "known"),
    [
        # engine-rules E: what came and went between versions.
        ("vllm", "0.26.0", "--calculate-kv-scales", True),
        ("vllm", "0.30.0", "--calculate-kv-scales", False),
        ("vllm", "0.26.0", "--max-num-partial-prefills", True),
        ("vllm", "0.30.0", "--max-num-partial-prefills", False),
        ("vllm", "0.30.0", "--long-prefill-token-threshold", True),
        ("vllm", "0.30.0", "--enable-scale-out", True),
        ("vllm", "0.30.0", "--task", False),
        ("vllm", "0.30.0", "-tp", True),
        ("vllm", "0.30.0", "--tensor_parallel_size", True),
        ("vllm", "0.30.0", "--no-enable-prefix-caching", True),
        ("vllm", "0.30.0", "--no-port", False),
        ("vllm", "0.30.0", "--kv-transfer-config.kv_role", True),
        ("vllm", "0.30.0", "--port.x", False),
        ("sglang", "0.5.20", "--disaggregation-bootstrap-port", True),
        ("sglang", "0.5.20", "--tp", True),
        ("sglang", "0.5.20", "--tensor-parallel-size", True),
        ("sglang", "0.5.20", "--no-enable-metrics", False),
        ("sglang", "0.5.16", "--page-size", True),
    ],
)
def test_flags_of_a_version(engine: str, version: str, flag: str, known: bool) -> None:
    table = load_table(engine, version)
    assert table is not None
    assert (table.flag(flag) is not None) is known


def test_json_flags_know_their_fields() -> None:
    table = load_table("vllm", "0.30.0")
    assert table is not None
    assert {"NixlConnector", "MooncakeConnector", "MultiConnector"} <= set(table.kv_connectors)
    assert {"kv_role", "kv_connector", "kv_load_failure_policy"} <= set(table.kv_transfer_fields)
    assert "endpoint" in table.kv_events_fields
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST" in table.env


def test_an_unknown_version_has_no_table() -> None:
    assert load_table("vllm", "9.9.9") is None
    assert load_table("vllm", "../vllm-0.30.0") is None


@pytest.mark.parametrize(("engine", "version"), [row for row in TABLES if row[1] in ("0.26.0", "0.30.0", "0.5.20")])
def test_agreement_with_an_independent_reading(shared: Path, engine: str, version: str) -> None:
    theirs = json.loads((shared / "facts" / "engine-flags" / f"{engine}-{version}.json").read_text())["flags"]
    ours = json.loads((DATA / f"{engine}-{version}.json").read_text(encoding="utf-8"))["flags"]
    assert set(ours) == set(theirs)
    # "other" says that the other reading could not tell.
    told = [name for name in theirs if theirs[name].get("kind") not in ("other", "unknown", None)]
    differing = {name for name in told if theirs[name]["kind"] != ours[name]["kind"]}
    assert len(differing) <= 0.03 * len(told), sorted(differing)
    for name in told:
        assert set(ours[name].get("aliases", [])) == set(theirs[name].get("aliases", [])), name


@pytest.mark.parametrize(
    ("annotation", "kind", "choices"),
    [
        ("bool", "bool", []),
        ("bool | None", "bool", []),
        ("Optional[int]", "int", []),
        ("float", "float", []),
        ("str | None", "str", []),
        ("list[str] | None", "list", []),
        ("dict[str, Any]", "json", []),
        ("KVTransferConfig | None", "json", []),
        ("Literal['a', 'b']", "enum", ["a", "b"]),
        ("Mode | str", "enum-open", ["x", "y"]),
        ("'Mode'", "enum", ["x", "y"]),
    ],
)
def test_kinds_of_annotations(root: Path, annotation: str, kind: str, choices: list[str]) -> None:
    module = script(root)
    names = module.Names()
    names.read(ast.parse("Mode = Literal['x', 'y']"))
    node = ast.parse(annotation, mode="eval").body
    assert module.kind_of(node, names, {"KVTransferConfig"}) == (kind, choices)


def test_sglang_fields_are_read_from_their_annotations(root: Path) -> None:
    module = script(root)
    names = module.Names()
    tree = ast.parse(
        "CHOICES = ['a', 'b']\n"
        "class Group:\n"
        "  tp_size: A[int, Arg(help='x', aliases=['--tensor-parallel-size', '--tp'])] = 1\n"
        "  mode: A[str, Arg(help='x', choices=CHOICES)] = 'a'\n"
        "  hidden: A[int, Arg(no_cli=True)] = 1\n"
        "  plain: int = 3\n"
    )
    names.read(tree)
    flags: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            module.read_field(node.target.id, node.annotation, node.value, flags, names)
    assert flags == {
        "--tp-size": {"kind": "int", "default": "1", "aliases": ["--tensor-parallel-size", "--tp"]},
        "--mode": {"kind": "enum", "choices": ["a", "b"], "default": "'a'"},
    }
