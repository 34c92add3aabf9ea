"""Reading simple shell lines without running them: words, assignments, variables; everything else stays opaque."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from llmdctl.engines.command import Opaque, Word
from llmdctl.findings.frozen import frozen

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONE_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^{}]*\})")
_SEPARATORS = ("&&", "||", ";;", ";", "|", "&", "\n")
_PREFIXES = frozenset({"exec", "nohup", "env", "then", "do", "else", "time"})


@frozen
class Command:
    """One simple command: its words after expansion, without redirections and leading assignments."""

    words: tuple[Word, ...]


def expand_kubernetes(text: str, env: Mapping[str, str]) -> Word:
    """What the kubelet makes of `$(VAR)` in command and args; a variable that it does not know stays as written."""
    if "$" not in text:
        return text
    unknown = False

    def replace(match: re.Match[str]) -> str:
        nonlocal unknown
        if match[0] == "$$":
            return "$"
        name = match[1]
        if name in env:
            return env[name]
        unknown = True
        return match[0]

    expanded = re.sub(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)", replace, text)
    return Opaque(expanded) if unknown else expanded


def commands(script: str, env: Mapping[str, str]) -> Iterator[Command]:
    """The simple commands of a script, in order. Variables assigned on the way are known to later commands.

    Control flow is not followed: both branches of an `if` are yielded. Never raises.
    """
    known: dict[str, str | None] = dict(env)
    for raw in _split(script):
        words: list[Word] = []
        for token in raw:
            # Assignments count only in front of the program.
            match = _ASSIGNMENT.fullmatch(token) if not words else None
            if match:
                value = _expand(match[2], known)
                known[match[1]] = value if isinstance(value, str) else None
            elif not words and token in (*_PREFIXES, "export"):
                continue
            else:
                words.extend(_fields(token, known))
        if words:
            yield Command(tuple(words))


def _fields(token: str, known: Mapping[str, str | None]) -> list[Word]:
    """The words that a token becomes: an unquoted variable by itself is split at blanks, and vanishes when empty."""
    word = _expand(token, known)
    if isinstance(word, str) and _LONE_VARIABLE.fullmatch(token):
        return list(word.split())
    return [word]


def _split(script: str) -> Iterator[list[str]]:
    """Raw words by command. Quotes are kept for expansion; comments, redirections and continuations are dropped."""
    script = script.replace("\\\r\n", " ").replace("\\\n", " ")
    current: list[str] = []
    position = 0
    while position < len(script):
        char = script[position]
        separator = next((mark for mark in _SEPARATORS if script.startswith(mark, position)), None)
        if separator:
            if current:
                yield current
            current = []
            position += len(separator)
        elif char.isspace():
            position += 1
        elif char == "#":
            end = script.find("\n", position)
            position = len(script) if end < 0 else end
        elif char in "<>" or re.match(r"\d+[<>]", script[position:]):
            position = _skip_redirection(script, position)
        else:
            word, position = _word(script, position)
            current.append(word)
    if current:
        yield current


def _skip_redirection(script: str, position: int) -> int:
    match = re.match(r"\d*(>>|>&|<<<|<<|<|>)\s*&?\d*", script[position:])
    position += match.end() if match else 1
    if position < len(script) and not script[position].isspace() and script[position] not in ";&|":
        _, position = _word(script, position)
    return position


def _word(script: str, position: int) -> tuple[str, int]:
    start = position
    while position < len(script):
        char = script[position]
        if char == "\\":
            position += 2
        elif char in "'\"":
            end = _closing(script, position + 1, char)
            position = end + 1
        elif script.startswith("$(", position) or script.startswith("${", position):
            position = _balanced(script, position + 1)
        elif char.isspace() or char in ";&|<>":
            break
        else:
            position += 1
    position = min(position, len(script))
    return script[start:position], position if position > start else start + 1


def _closing(script: str, position: int, quote: str) -> int:
    while position < len(script):
        if script[position] == "\\" and quote == '"':
            position += 2
            continue
        if script[position] == quote:
            return position
        position += 1
    return len(script)


def _balanced(script: str, position: int) -> int:
    depth = 0
    while position < len(script):
        char = script[position]
        depth += (char in "({") - (char in ")}")
        position += 1
        if depth == 0:
            break
    return position


def _expand(token: str, known: Mapping[str, str | None]) -> Word:
    """Removes quotes and puts in variables; Opaque when a part is not known before the pod runs."""
    out: list[str] = []
    opaque = False
    position = 0
    quote = ""
    while position < len(token):
        char = token[position]
        if quote != "'" and char == "\\" and position + 1 < len(token):
            following = token[position + 1]
            # Inside double quotes a backslash only escapes these.
            out.append(following if not quote or following in '"\\$`' else char + following)
            position += 2
        elif char == quote:
            quote = ""
            position += 1
        elif not quote and char in "'\"":
            quote = char
            position += 1
        elif char in "$`" and quote != "'":
            text, length, unknown = _variable(token, position, known)
            # What a shell splits in the middle of a word is not followed.
            unknown = unknown or (not quote and len(text.split()) > 1 and not _LONE_VARIABLE.fullmatch(token))
            out.append(text)
            opaque = opaque or unknown
            position += length
        else:
            out.append(char)
            position += 1
    text = "".join(out)
    return Opaque(text) if opaque else text


def _variable(token: str, position: int, known: Mapping[str, str | None]) -> tuple[str, int, bool]:
    """Text, length and whether it is unknown, for what starts with `$` or a backtick at `position`."""
    rest = token[position:]
    braced = re.match(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^${}]*))?\}", rest)
    plain = _NAME.match(rest[1:]) if rest.startswith("$") else None
    if braced:
        value = known.get(braced[1])
        if value is None and braced[1] not in known and braced[2] is not None:
            value = braced[2]
        return (value, braced.end(), False) if value is not None else (braced[0], braced.end(), True)
    if plain:
        value = known.get(plain[0])
        written = f"${plain[0]}"
        return (value, len(written), False) if value is not None else (written, len(written), True)
    if rest.startswith(("$(", "${")):
        length = _balanced(rest, 1)
        return rest[:length], length, True
    if rest.startswith("`"):
        end = rest.find("`", 1)
        length = len(rest) if end < 0 else end + 1
        return rest[:length], length, True
    if rest[:2] in ("$@", "$*", "$?", "$#", "$$", "$!"):
        return rest[:2], 2, True
    return "$", 1, False
