"""Writes catalog/data/server.json: which listed combinations a real API server takes, as a dry run with strict fields.

Needs Go (it builds a control plane, which takes minutes the first time) and the CRDs: `make_server_coverage.py CRDS`
names a folder with the CustomResourceDefinitions that the guides need. tests/cluster holds the file to what is so.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from llmdctl.catalog.coverage import SERVER_FILE
from llmdctl.catalog.load import load_catalog
from llmdctl.manifest import read_paths
from llmdctl.operate.matrix import render_matrix

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from control_plane import VERSION, running

RELEASE = "1.0"


def main() -> int:
    """Asks a server that it starts, and writes the file."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    taken = []
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch) / "state") as plane:
        plane.install_crds(Path(sys.argv[1]))
        plane.create_namespace("llm-d")
        target = Path(scratch) / "matrix"
        for outcome in render_matrix(load_catalog(), target, release=RELEASE, check=False).rendered:
            folder = outcome.variant.folder
            refused = plane.refusals(document.object for document in read_paths([str(target / folder)]).documents)
            print("\n".join([f"{folder}: refused", *refused]) if refused else f"{folder}: taken")
            taken += [] if refused else [folder]
    names = ",\n".join(f"  {json.dumps(name)}" for name in sorted(taken))
    head = f' "kubernetes": {json.dumps(VERSION)},\n "release": {json.dumps(RELEASE)},\n'
    SERVER_FILE.write_text(f'{{\n{head} "variants": [\n{names}\n ]\n}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
