"""Makes tests/findings/data/sarif-2.1.0.json.gz, which the tests check our SARIF with, from a published package.

Run it where npm works: `python scripts/make_sarif_schema.py`. Descriptions are dropped. The package, its version, its
licence and the sha256 of the file are written beside it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

PACKAGE, VERSION = "@microsoft/jest-sarif", "1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
TARGET = Path(__file__).resolve().parent.parent / "tests" / "findings" / "data"


def without_descriptions(value: Any) -> Any:
    """The schema's rules alone; a property that is itself called `description` stays."""
    if isinstance(value, dict):
        return {
            key: without_descriptions(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    return [without_descriptions(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Fetches the package and writes both files."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}", "--pack-destination", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as package:
            member = package.extractfile(MEMBER)
            assert member is not None
            original = member.read()
            about = package.extractfile("package/package.json")
            assert about is not None
            licence = json.load(about)["license"]
    TARGET.mkdir(parents=True, exist_ok=True)
    text = json.dumps(without_descriptions(json.loads(original)), separators=(",", ":")).encode()
    (TARGET / "sarif-2.1.0.json.gz").write_bytes(gzip.compress(text, mtime=0))
    provenance = {
        "script": "scripts/make_sarif_schema.py",
        "package": PACKAGE,
        "version": VERSION,
        "licence": licence,
        "file": MEMBER,
        "sha256": hashlib.sha256(original).hexdigest(),
        "changes": "descriptions dropped",
    }
    (TARGET / "sarif-2.1.0.provenance.json").write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
