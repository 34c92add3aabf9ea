"""docs/rules is what the rules say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from llmdctl.validate.registry import FAMILIES, all_rules


def test_the_pages_are_up_to_date(root: Path) -> None:
    script = root / "scripts" / "make_rule_pages.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_family_is_described() -> None:
    assert {rule.code[:3] for rule in all_rules()} <= set(FAMILIES)
