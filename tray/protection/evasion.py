"""Commands that are ours under another look, or that take us away: not clear enough to deny, so a person is asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from tray.agents.agent import KnownAgent
from tray.agents.registry import known_agents
from tray.lazy_pattern import lazy_pattern
from tray.model.decision import Verdict
from tray.protection.file_effects import MOVERS, ProtectionFinding
from tray.shell.split import ShellWord
from tray.text.words import word_set

HOOKTRAY_PROGRAMS = word_set("hooktray hooktray-relay hooktray.exe hooktray-relay.exe")
KILLERS = word_set("kill killall pgrep pkill pidof skill taskkill")
SERVICES = word_set("launchctl service systemctl")
STOP_WORDS = word_set("bootout disable kill mask remove stop unload")
INSTALLERS = word_set(
    "apt apt-get aptitude brew conda dnf dpkg pacman pip pip3 pipx python python3 rpm uv winget yum zypper"
)
REMOVE_WORDS = word_set("-P -R -Rs -e -r --erase --purge --remove autoremove erase purge remove uninstall")
ARGUMENT_RUNNERS = word_set("parallel xargs")
EXPORTERS = word_set("declare export readonly typeset")
ASSIGNMENT = lazy_pattern(r"([A-Za-z_]\w*)=")
HOMES = ("HOME", "USERPROFILE")
# Of agents that have no pattern of their own.
WITHOUT_HOOKS = lazy_pattern(
    r"(?i)--(?:no|disable|without|skip)[-= ]hooks?\b.*|[\w.\"'-]*hooks[\w.\"]*\s*[=:]\s*false|.*AllHooks.*", re.DOTALL
)
PROCESS_LOOKUP = lazy_pattern(r"(?:\$\(|`)[^)`]*(?:hooktray|tray run)")  # `kill $(pgrep -f hooktray)`
UNCLEAR_TEXT = "it cannot be seen what runs here;"
REMOVAL_TEXT = "taking Hooktray away takes the user's guards away;"


def find_evasion(
    command: Sequence[ShellWord], program: str, line: str, verbs: frozenset[str]
) -> Iterator[ProtectionFinding]:
    """What deserves a question in this command of `line`, which speaks of us somewhere."""
    low = line.lower()
    if "tray" not in low or ("hook" not in low and "tray run" not in low):
        return
    start = next((place for place, word in enumerate(command) if word.is_command), 0)
    texts = [word.text for word in command[start:] if word.redirect in ("", "<<<")]
    if texts and (
        _has_built_name(texts, verbs) or _passes_verb(texts, program, verbs) or _has_built_verb(command, texts, line)
    ):
        yield ProtectionFinding(Verdict.ASK, UNCLEAR_TEXT, "hooktray")
    if _removes_hooktray(texts, program) or (program in KILLERS - {"pgrep", "pidof"} and PROCESS_LOOKUP.search(line)):
        yield ProtectionFinding(Verdict.ASK, REMOVAL_TEXT, "hooktray")


def find_disabled_hooks(
    texts: Sequence[str], program: str, exported: Collection[str] = ()
) -> Iterator[ProtectionFinding]:
    """Another agent, without the user's hooks: by an option, or with another home; `exported` is set before it."""
    names = {*exported, *assigned_names(texts, program)}
    for agent in known_agents():
        if not program or program not in (agent.starters or agent.programs) or not _is_agent(agent, texts, program):
            continue
        options = (*texts, *(" ".join(pair) for pair in pairwise(texts)))
        pattern = agent.without_hooks
        is_bare = any(pattern.search(text) if pattern else WITHOUT_HOOKS.fullmatch(text) for text in options)
        if is_bare or names & {*HOMES, agent.home_variable}:
            subject = min(agent.programs, default=program)
            yield ProtectionFinding(
                Verdict.ASK, "an agent without the user's hooks is for a person to start;", subject
            )


def assigned_names(texts: Sequence[str], program: str) -> Iterator[str]:
    """The variables that a command sets: `A=1 program`, `env A=1 program`, `export A=1`."""
    for text in texts:
        if PurePath(text).name == program and program not in EXPORTERS:
            return
        if found := ASSIGNMENT.match(text):
            yield found[1]


def _is_agent(agent: KnownAgent, texts: Sequence[str], program: str) -> bool:
    """A program that starts many others starts this agent only when a word names it."""
    own = agent.programs | {agent.id}
    return program in own or any(name in text for name in own for text in texts)


def _has_built_name(texts: Sequence[str], verbs: frozenset[str]) -> bool:
    """`$x off`, `$(printf hook)tray off`, `hooktray{,} off`, `{hooktray,off}`: the name is made somewhere else."""
    first, *rest = texts
    verb = next((text for text in rest if not text.startswith("-")), "")
    if verb in verbs and (first.startswith(("$", "`")) or PurePath(first).name in ("tray", "hook")):
        return True
    name = PurePath(first).name
    if "hooktray" not in name or name in HOOKTRAY_PROGRAMS:
        return False
    verb_word = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(verbs)))})(?![^\W_])")
    return any(map(verb_word.search, texts))


def _passes_verb(texts: Sequence[str], program: str, verbs: frozenset[str]) -> bool:
    """`… | xargs -I{} {} off`."""
    return program in ARGUMENT_RUNNERS and bool(verbs & set(texts))


def _has_built_verb(command: Sequence[ShellWord], texts: Sequence[str], line: str) -> bool:
    """`hooktray $(echo off)`: its verb comes out of another command."""
    last = command[-1]
    runs_hooktray = PurePath(texts[0]).name == "hooktray" or any(
        word.is_command and word.text == "hooktray" for word in command
    )
    return runs_hooktray and line[last.end :].lstrip(" \t")[:2].startswith(("$(", "`"))


def _removes_hooktray(texts: Sequence[str], program: str) -> bool:
    """The program removed, or the tray ended."""
    named = {PurePath(text).name for text in texts[1:]}
    if program in INSTALLERS:
        return bool(REMOVE_WORDS & set(texts)) and any(re.split(r"[=<>@\[]", name)[0] == "hooktray" for name in named)
    if program in SERVICES:
        return bool(STOP_WORDS & set(texts)) and any("hooktray" in name for name in named)
    if program in KILLERS:
        return program != "pgrep" and any("hooktray" in text or "tray run" in text for text in texts)
    return program in MOVERS and bool(HOOKTRAY_PROGRAMS & named)
