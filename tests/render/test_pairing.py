"""The pairing job of topology-aware-accelerators: its script, run by a real shell over a tree that looks like sysfs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUIDE = "topology-aware-accelerators"


@pytest.fixture
def script(render_stack: Callable[..., Any]) -> str:
    job = next(item for item in render_stack(GUIDE).objects if item["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][:2] == ["/bin/sh", "-ec"]
    return str(container["command"][2])


def sysfs(tmp_path: Path, gpus: dict[str, str], nics: dict[str, str]) -> Path:
    """Devices by PCI address (GPUs) or name (NICs), each below the root complex that it maps to."""
    tree = tmp_path / "sys"
    (tree / "bus/pci/devices").mkdir(parents=True)
    (tree / "class/infiniband").mkdir(parents=True)
    for address, root in gpus.items():
        device = tree / "devices" / root / f"{address[:-4]}01.0" / address
        device.mkdir(parents=True)
        (tree / "bus/pci/devices" / address).symlink_to(device)
    for name, root in nics.items():
        device = tree / "devices" / root / "bridge" / name
        device.mkdir(parents=True)
        (tree / "class/infiniband" / name).mkdir()
        (tree / "class/infiniband" / name / "device").symlink_to(device)
    return tree


def run(script: str, tree: Path, tmp_path: Path, addresses: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs the script beside an nvidia-smi that prints addresses in its own spelling."""
    tools = tmp_path / "bin"
    tools.mkdir()
    listing = "\n".join(f"0000{address.upper()}" for address in addresses)
    (tools / "nvidia-smi").write_text(f"#!/bin/sh\nprintf '%s\\n' '{listing}'\n")
    (tools / "nvidia-smi").chmod(0o755)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "SYSFS": str(tree)}
    return subprocess.run(["/bin/sh", "-ec", script], env=environment, capture_output=True, text=True, check=False)


def test_pairs_below_one_root_pass(script: str, tmp_path: Path) -> None:
    gpus = {"0000:4b:00.0": "pci0000:4a", "0000:9b:00.0": "pci0000:9a"}
    tree = sysfs(tmp_path, gpus, {"mlx5_0": "pci0000:4a", "mlx5_1": "pci0000:9a"})
    done = run(script, tree, tmp_path, list(gpus))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accelerator 0000:4b:00.0 below pci0000:4a has a NIC" in done.stdout
    assert "nic mlx5_1 below pci0000:9a" in done.stdout


def test_a_nic_below_another_root_fails(script: str, tmp_path: Path) -> None:
    gpus = {"0000:4b:00.0": "pci0000:4a"}
    done = run(script, sysfs(tmp_path, gpus, {"mlx5_6": "pci0000:9a"}), tmp_path, list(gpus))
    assert done.returncode == 1
    assert "accelerator 0000:4b:00.0 below pci0000:4a has NO NIC" in done.stdout


def test_no_accelerator_fails(script: str, tmp_path: Path) -> None:
    done = run(script, sysfs(tmp_path, {}, {"mlx5_0": "pci0000:4a"}), tmp_path, [])
    assert done.returncode == 1
    assert "no accelerator is visible" in done.stdout
