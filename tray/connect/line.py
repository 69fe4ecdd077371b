"""The line that an agent runs for each event: safe when Hooktray is gone, and recognised when it is read again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from tray import relays
from tray.dialects import DIALECTS

BETWEEN = frozenset({"&&", "||", ";", "|", "then", "{", "("})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one of our lines says."""

    agent: str
    event: str = ""
    home: str = ""


def relay(home: Path | None) -> tuple[str, ...]:
    """The relay up to AGENT [EVENT]: the native one where it runs, else the portable one."""
    return tuple(relays.argv(str(home) if home else ""))


def shell(words: Sequence[str], *, otherwise: str = "cat >/dev/null") -> str:
    """For an agent that has a shell read it. Gone without a trace: the input is read to its end, nothing is said.

    CPython exits 2 for a script that is not there, which agents take for a refusal: so it is looked for first.
    """
    if sys.platform == "win32":
        return subprocess.list2cmdline(words)
    there = [f"[ -x {shlex.quote(words[0])} ]"]
    there += [f"[ -r {shlex.quote(word)} ]" for word in words[1:] if word.endswith("relay.py")]
    return f"{' && '.join(there)} && exec {shlex.join(words)} || {otherwise}"


def argv(words: Sequence[str]) -> str:
    """For an agent that splits the line into words and starts the first one."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(("/bin/sh", "-c", shell(words)))


def shim(words: Sequence[str], *, otherwise: str) -> bytes:
    """An executable of its own, for an agent that knows files and no lines."""
    said = shell(words, otherwise=otherwise)
    return f"#!/bin/sh\n# Written by `hooktray connect`; `hooktray disconnect` takes it away.\n{said}\n".encode()


def parse(line: str | Sequence[str]) -> Line | None:
    """What a line of ours says; None for anybody else's, whatever it mentions."""
    try:
        words = shlex.split(line, comments=True) if isinstance(line, str) else list(line)
    except ValueError:
        return None
    if len(words) == 3 and PurePath(words[0]).name in {"sh", "bash", "dash"} and words[1] == "-c":
        return parse(words[2])
    for part in _parts(words):
        if found := _parsed(part[1:] if part[:1] == ["exec"] else part):
            return found
    return None


def _parts(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        parts.append([]) if word in BETWEEN else parts[-1].append(word)
    return parts


def _parsed(words: Sequence[str]) -> Line | None:
    program = PurePath(words[0].replace("\\", "/")).name.removesuffix(".exe") if words else ""
    rest = list(words[1:])
    home = ""
    if program.startswith("python"):
        while rest[:1] in (["-I"], ["-S"]):
            rest = rest[1:]
        if not rest or PurePath(rest[0].replace("\\", "/")).parts[-2:] != ("tray", "relay.py"):
            return None
        rest = rest[1:]
    elif program == "hooktray":
        home, rest = _home(rest)
        if rest[:1] != ["relay"]:
            return None
        rest = rest[1:]
    elif program != "hooktray-relay":
        return None
    found, rest = _home(rest)
    if not 1 <= len(rest) <= 2 or rest[0] not in DIALECTS:
        return None
    return Line(agent=rest[0], event=rest[1] if len(rest) > 1 else "", home=found or home)


def _home(words: list[str]) -> tuple[str, list[str]]:
    if words[:1] == ["--home"]:
        return (words[1] if len(words) > 1 else ""), words[2:]
    if words and words[0].startswith("--home="):
        return words[0].removeprefix("--home="), words[1:]
    return "", words
