#!/usr/bin/env bash
# What action.yml runs. Everything comes in through the environment, so that no input is ever read as shell:
#   LLMDCTL_PATHS    files and folders, one a line
#   LLMDCTL_ARGS     further options, one word a line
#   LLMDCTL_FAIL_ON  error, warning, info or never
#   LLMDCTL_SARIF    file for SARIF; none when empty
set -euo pipefail

words=()
add_lines() {
  local line
  while IFS= read -r line; do
    if [ -n "$line" ]; then words+=("$line"); fi
  done <<<"$1"
}

add_lines "${LLMDCTL_PATHS:-}"
add_lines "${LLMDCTL_ARGS:-}"
words+=(--fail-on "${LLMDCTL_FAIL_ON:-error}" -o github)
if [ -n "${LLMDCTL_SARIF:-}" ]; then words+=(-o "sarif=$LLMDCTL_SARIF"); fi
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
words+=(-o "markdown=$summary")

status=0
llmdctl validate "${words[@]}" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
exit "$status"
