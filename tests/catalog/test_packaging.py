"""The built-in catalog is there however llmdctl was installed, and wherever it is run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

PROBE = """
import sys
from llmdctl.catalog.load import load_catalog
from llmdctl.catalog.roots import builtin_directory
catalog = load_catalog()
guides = catalog.guides
print(builtin_directory(), len(guides), catalog.images.default_release, len(catalog.template_dirs("pd-disaggregation")))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A copy of what a release is made from, so that building leaves nothing in the checkout."""
    target = tmp_path_factory.mktemp("tree")
    for name in ("llmdctl", "guides", "images"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(root / name, target / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(root / name, target / name)
    return target


def build(tree: Path, kind: str, out: Path) -> Path:
    """Calls the build backend in a process of its own; `kind` is wheel, sdist or editable."""
    code = f"from setuptools import build_meta; print('built', build_meta.build_{kind}({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.strip().rpartition("built ")[2]


def probe(cwd: Path, *search: Path, sites: tuple[Path, ...] = ()) -> list[str]:
    """Loads the catalog in a Python that finds llmdctl only in `search`, and its dependencies where they are."""
    # The dependencies' own directory is no site directory here, so that its .pth files (ours among them) do not count.
    head = f"import site, sys; sys.path[:0] = {[str(path) for path in search]!r}\n"
    head += "".join(f"site.addsitedir({str(path)!r})\n" for path in sites)
    head += f"sys.path.append({str(Path(yaml.__file__).parent.parent)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", head + PROBE], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def expected(root: Path) -> list[str]:
    own = (root / "guides" / "pd-disaggregation" / "templates").is_dir()
    return [str(len(list((root / "guides").glob("[!_]*/guide.yaml")))), "1.0", "2" if own else "1"]


def test_wheel_holds_guides_and_images(tree: Path, root: Path, tmp_path: Path) -> None:
    wheel = build(tree, "wheel", tmp_path / "dist")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shutil.unpack_archive(wheel, unpacked, "zip")
    for name in ("guides", "images"):
        files = {path.relative_to(tree) for path in (tree / name).rglob("*") if path.is_file()}
        assert {f"llmdctl/_builtin/{file.as_posix()}" for file in files} <= names
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    directory, *rest = probe(foreign, unpacked)
    assert directory == str(unpacked / "llmdctl/_builtin")
    assert rest == expected(root)


def test_sdist_builds_the_same_wheel(tree: Path, tmp_path: Path) -> None:
    sdist = build(tree, "sdist", tmp_path / "dist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    wheel = build(source, "wheel", tmp_path / "dist")
    direct = build(tree, "wheel", tmp_path / "direct")
    with zipfile.ZipFile(wheel) as from_sdist, zipfile.ZipFile(direct) as from_tree:
        assert set(from_sdist.namelist()) == set(from_tree.namelist())


def test_editable_install_reads_the_checkout(tree: Path, root: Path, tmp_path: Path) -> None:
    wheel = build(tree, "editable", tmp_path / "dist")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not any("_builtin" in name for name in names)
    shutil.unpack_archive(wheel, site, "zip")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    directory, *rest = probe(foreign, sites=(site,))
    assert directory == str(tree)
    assert rest == expected(root)


def test_the_checkout_reads_itself_from_anywhere(root: Path, tmp_path: Path) -> None:
    directory, *rest = probe(tmp_path, root)
    assert directory == str(root)
    assert rest == expected(root)
