"""Puts the built-in catalog into built distributions; everything else is in pyproject.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CATALOG = ("guides", "images")


class BuildWithCatalog(build_py):
    """Copies guides/ and images/ to llmdctl/_builtin; an editable install reads them where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "llmdctl", "_builtin")
        shutil.rmtree(target, ignore_errors=True)
        for name in CATALOG:
            shutil.copytree(Path(__file__).parent / name, target / name)


setup(cmdclass={"build_py": BuildWithCatalog})
