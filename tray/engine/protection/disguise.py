"""Commands that are ours under another look, or that take us away: not clear enough to deny, so a person is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tray.engine.protection.paths import MOVERS, Finding, names
from tray.engine.shell_line import Word
from tray.model.decision import Verdict

PROGRAMS = names("hooktray hooktray-relay hooktray.exe hooktray-relay.exe")
ENDERS = names("kill killall pgrep pkill pidof skill taskkill")
FOUND = re.compile(r"(?:pgrep|pidof)\b.*(?:hooktray|tray run)")
SERVICES = names("launchctl service systemctl")
STOPPING = names("bootout disable kill mask remove stop unload")
INSTALLERS = names(
    "apt apt-get aptitude brew conda dnf dpkg pacman pip pip3 pipx python python3 rpm uv winget yum zypper"
)
REMOVING = names("-P -R -Rs -e -r --erase --purge --remove autoremove erase purge remove uninstall")
GIVING = names("parallel xargs")
BARE = re.compile(r"disableAllHooks|^--setting-sources\b|^--bare$")
FOUND = re.compile(r"(?:\$\(|`)[^)`]*(?:hooktray|tray run)")  # `kill $(pgrep -f hooktray)`
UNSEEN = "it cannot be seen what runs here;"
AWAY = "taking Hooktray away takes the user's guards away;"


def disguised(command: Sequence[Word], leader: str, line: str, verbs: frozenset[str]) -> Iterator[Finding]:
    """What deserves a question in this command of `line`, which speaks of us somewhere."""
    low = line.lower()
    if "tray" not in low or ("hook" not in low and "tray run" not in low):
        return
    start = next((place for place, word in enumerate(command) if word.leads), 0)
    texts = [word.text for word in command[start:] if word.redirected in ("", "<<<")]
    if texts and (_borrowed(texts, verbs) or _given_on(texts, leader, verbs) or _unfinished(command, texts, line)):
        yield Finding(Verdict.ASK, UNSEEN, "hooktray")
    if _takes_away(texts, leader) or (leader in ENDERS - {"pgrep", "pidof"} and FOUND.search(line)):
        yield Finding(Verdict.ASK, AWAY, "hooktray")


def unhooked(texts: Sequence[str], leader: str) -> Iterator[Finding]:
    """`claude --settings '{"disableAllHooks": true}'`: another agent, without the user's hooks."""
    if leader in ("claude", "npx") and any(BARE.search(text) for text in texts):
        yield Finding(Verdict.ASK, "an agent without the user's hooks is for a person to start;", "claude")


def _borrowed(texts: Sequence[str], verbs: frozenset[str]) -> bool:
    """`$x off`, `$(printf hook)tray off`, `hooktray{,} off`, `{hooktray,off}`: the name is made somewhere else."""
    first, *rest = texts
    told = next((text for text in rest if not text.startswith("-")), "")
    if told in verbs and (first.startswith(("$", "`")) or PurePath(first).name in ("tray", "hook")):
        return True
    name = PurePath(first).name
    return "hooktray" in name and name not in PROGRAMS and bool(verbs & set(re.split(r"\W|_", " ".join(texts))))


def _given_on(texts: Sequence[str], leader: str, verbs: frozenset[str]) -> bool:
    """`… | xargs -I{} {} off`."""
    return leader in GIVING and bool(verbs & set(texts))


def _unfinished(command: Sequence[Word], texts: Sequence[str], line: str) -> bool:
    """`hooktray $(echo off)`: what it is told comes out of another command."""
    last = command[-1]
    leads = PurePath(texts[0]).name == "hooktray" or any(word.leads and word.text == "hooktray" for word in command)
    return leads and line[last.end :].lstrip(" \t")[:2].startswith(("$(", "`"))


def _takes_away(texts: Sequence[str], leader: str) -> bool:
    """The program removed, or the tray ended."""
    named = {PurePath(text).name for text in texts[1:]}
    if leader in INSTALLERS:
        return bool(REMOVING & set(texts)) and any(re.split(r"[=<>@\[]", name)[0] == "hooktray" for name in named)
    if leader in SERVICES:
        return bool(STOPPING & set(texts)) and any("hooktray" in name for name in named)
    if leader in ENDERS:
        return leader != "pgrep" and any("hooktray" in text or "tray run" in text for text in texts)
    return leader in MOVERS and bool(PROGRAMS & named)
