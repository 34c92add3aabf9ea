"""Throws damaged text at the readers of input that nobody here wrote: manifests, shell lines, router configs.

`python benchmarks/fuzz.py [COUNT] [SEED]`; 100,000 inputs by default, a third for each reader. Exit status 1 when one
raised anything, or took longer than a second. `fuzz_cel.py` does the same to the CEL evaluator.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from llmdctl.engines.command import parse
from llmdctl.engines.shell import commands
from llmdctl.engines.tables import load_table
from llmdctl.findings.versions import Version
from llmdctl.manifest import read_text
from llmdctl.router.lint import lint

TOO_LONG = 1.0
MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: "decode", labels: &labels {app: vllm, weight: 1e3, on: yes}}
spec:
  replicas: 0x10
  template:
    metadata:
      labels: {<<: *labels, role: decode}
    spec:
      containers:
        - name: modelserver
          args: ['--port=8000', "--served-model-name=\\u00e9"]
          command:
            - sh
            - -c
            - |
              exec vllm serve m \\
                --port 8000
---
- ? a
  : !!str 2026-12-01
- [".inf", ~, 012, 0o14, 1_000]
- >-
    folded
    text
"""
SCRIPT = """\
set -eo pipefail; export START=$((LWS_WORKER_INDEX * 8))
if [ -z "${MODEL:-}" ]; then MODEL='a b'; fi
# a comment
exec vllm serve "$MODEL" --port=${PORT:=8000} --data-parallel-start-rank $START \\
  --kv-transfer-config='{"kv_connector":"NixlConnector","kv_role":"kv_both"}' --config.a.b=1 2>&1 | tee /tmp/log &
cat <<EOF > /tmp/x
$(date) `id`
EOF
"""
CONFIG = """\
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
featureGates: [flowControl]
plugins:
- {type: queue-scorer, name: queue}
- {type: max-score-picker, parameters: {maxNumOfEndpoints: 2}}
- {type: single-profile-handler}
- {type: utilization-detector}
schedulingProfiles:
- name: default
  plugins: [{pluginRef: queue, weight: 2}, {pluginRef: max-score-picker}]
flowControl: {maxBytes: 1Gi, saturationDetector: {pluginRef: utilization-detector}, priorityBands: [{priority: 1}]}
"""
PIECES = (
    *("{", "}", "[", "]", ":", ": ", "- ", "? ", "#", "&a ", "*a", "<<: *a", "!!binary ", "|", ">", "---\n", "...\n"),
    *(
        "'",
        '"',
        "\\",
        "\n",
        "\t",
        "$",
        "${",
        "$((",
        "`",
        "(",
        ")",
        ";",
        "&&",
        "||",
        "<<EOF",
        "\x00",
        "\ufeff",
        "\u2028",
    ),
    *("1e999", "0x", "-", "=", "--", "null", "\U0001f600", "9" * 400, " " * 300, "--port=", "parameters: "),
)


def damaged(chance: random.Random, text: str) -> str:
    """The text with pieces dropped, doubled, moved and put in; at times with one piece very often."""
    for _ in range(chance.choice((0, 1, 1, 2, 3, 8, 40))):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 1, 1, 5, 60)))
        put = chance.choice((chance.choice(PIECES), "", text[start:end] * 2, text[end : end + 30]))
        text = text[:start] + put + text[end:]
    if chance.random() < 0.01:
        start = chance.randint(0, len(text))
        piece = chance.choice(PIECES)
        text = text[:start] + piece * min(chance.choice((100, 1000, 5000)), 100_000 // len(piece)) + text[start:]
    return text[chance.randint(0, len(text)) :] if chance.random() < 0.1 else text


def read_manifest(text: str) -> str:
    """The YAML reader."""
    reading = read_text(text, "f.yaml")
    return "refused" if reading.errors else "read"


def read_script(text: str) -> str:
    """The shell-line reader, and the parser of the engine's own command line."""
    found = list(commands(text, {"MODEL": "m", "LWS_WORKER_INDEX": "1"}))
    for command in found:
        parse("vllm", command.words, TABLE)
    return f"{min(len(found), 3)} commands"


def read_config(text: str) -> str:
    """The router's config: whatever the YAML holds, for a known and an unknown version."""
    reading = read_text(text, "f.yaml")
    if reading.errors:
        return "refused"
    faults = [lint(document.object, version) for document in reading.documents for version in VERSIONS]
    return "faults" if any(faults) else "clean"


TABLE = load_table("vllm", "0.30.0")
VERSIONS = (None, Version.parse("0.10.0"))
READERS: dict[str, tuple[str, Callable[[str], str]]] = {
    "manifest": (MANIFEST, read_manifest),
    "script": (SCRIPT, read_script),
    "config": (CONFIG, read_config),
}


def main(count: int = 100_000, seed: int = 1) -> int:
    """Prints for each reader how many inputs gave what, and the slowest."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    bad = 0
    for name, (text, read) in READERS.items():
        seen: Counter[str] = Counter()
        slowest: tuple[float, str] = (0.0, "")
        for _ in range(count // len(READERS)):
            given = damaged(chance, text)
            start = time.process_time()
            try:
                found: Any = read(given)
            except Exception as fault:  # noqa: BLE001 - what this program looks for
                found = f"crash {type(fault).__name__}"
                bad += 1
                print(f"{name}: {fault!r} on {given[:2000]!r}")
            slowest = max(slowest, (time.process_time() - start, given))
            seen[found] += 1
        bad += slowest[0] > TOO_LONG
        told = ", ".join(f"{what} {number}" for what, number in seen.most_common())
        print(f"{name}: {told}; slowest {slowest[0] * 1000:.0f} ms for {len(slowest[1])} characters")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
