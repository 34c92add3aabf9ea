"""The routing sidecar's flags by version."""

from __future__ import annotations

import pytest

from llmdctl.findings.versions import Version
from llmdctl.router.sidecar import parse_sidecar, sidecar_args

OLD, MIDDLE, NEW = Version((0, 9, 0)), Version((0, 10, 0)), Version((1, 0, 0))


@pytest.mark.parametrize(
    ("version", "args"),
    [
        ("0.9.0", ["--port=8000", "--vllm-port=8200", "--kv-connector=nixlv2", "--secure-proxy=false"]),
        ("0.10.0", ["--port=8000", "--model-server-port=8200", "--kv-connector=nixlv2", "--secure-proxy=false"]),
        ("1.0.0", ["--port=8000", "--model-server-port=8200", "--kv-connector=nixlv2", "--secure-serving=false"]),
        ("main", ["--port=8000", "--model-server-port=8200", "--kv-connector=nixlv2", "--secure-serving=false"]),
    ],
)
def test_names_that_the_version_knows(version: str, args: list[str]) -> None:
    made = sidecar_args(version, port=8000, model_server_port=8200, kv_connector="nixlv2", secure_serving=False)
    assert made == args


@pytest.mark.parametrize(
    ("args", "version", "expected"),
    [
        ([], OLD, 8001),
        ([], MIDDLE, 8200),
        ([], None, None),
        (["--vllm-port=8100"], OLD, 8100),
        (["--vllm-port", "8100"], NEW, 8100),
        (["--vllm-port=8100", "--model-server-port=8300"], NEW, 8300),
        (["--model-server-port=8300", "--vllm-port=8100"], NEW, 8300),
        (["--model-server-port=$(PORT)"], NEW, None),
    ],
)
def test_the_engines_port(args: list[str], version: Version | None, expected: int | None) -> None:
    assert parse_sidecar(args, version).model_server_port == expected


def test_the_rest_of_the_command_line() -> None:
    args = ["--secure-proxy", "--port", "9000", "--data-parallel-size=8", "--kv-connector", "sglang", "--port=9001"]
    parsed = parse_sidecar(args, NEW)
    assert (parsed.port, parsed.data_parallel_size, parsed.kv_connector) == (9001, 8, "sglang")
    flag = parsed.flag("port")
    assert flag is not None and flag.index == 6


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0", "1.0.0"])
def test_what_is_built_is_parsed(version: str) -> None:
    args = sidecar_args(
        version, port=1, model_server_port=2, kv_connector="mooncake", secure_serving=True, data_parallel_size=4
    )
    parsed = parse_sidecar(args, Version.parse(version))
    read = (parsed.port, parsed.model_server_port, parsed.kv_connector, parsed.data_parallel_size)
    assert read == (1, 2, "mooncake", 4)
