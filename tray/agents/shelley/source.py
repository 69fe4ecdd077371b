"""Hooks of a Shelley hooks folder: one executable per name, and one per slash command below `slash/`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tray.agents import relay_command
from tray.agents.protocol import agent_events
from tray.agents.registry import AGENTS
from tray.agents.shelley.protocol import AGENT
from tray.files import file_head
from tray.model.event import TYPED_KINDS, Capability
from tray.model.hook import Command, Failure
from tray.reading.entries import OWN_RELAY, RELAY_COMMAND, SourceHooks, SourceReader, joined
from tray.strict.document import Document

TIMEOUT = 30.0  # seconds, fixed
NAMES = ("chat-message", "end-of-turn", "new-conversation", "system-prompt")
SLASH = "slash"
EXPECTED = f"name a folder that holds {', '.join(NAMES)} or {SLASH}/"
COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
SHIM_LINES = 3  # of the executable that `connect` writes


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one folder. Raises OSError when it cannot be looked into."""
    present = set(os.listdir(path))  # noqa: PTH208 - names are all we want
    commands = sorted(os.listdir(path / SLASH)) if (path / SLASH).is_dir() else []  # noqa: PTH208
    names = [name for name in NAMES if name in present]
    names += [f"{SLASH}/{name}" for name in commands if COMMAND.fullmatch(name)]
    hooks = [_hook(path / name, name, agents) for name in names]
    return joined([SourceHooks(watched=(str(path), str(path / SLASH))), *hooks])


def _hook(path: Path, name: str, agents: Sequence[str]) -> SourceHooks:
    """One executable is one source of one hook: the file itself declares it."""
    reader = SourceReader(Document(value={}, path=str(path)), agent_events(AGENT), agents=agents or (AGENT,))
    script = "" if path.is_dir() else _shell_script(path)
    if path.is_dir() or _is_shim(script):
        return reader.result()
    if not _executable(path):
        reader.warn((), f"{name} has no executable bit, so it is not a hook", f"chmod +x {shlex.quote(str(path))}")
        return reader.result()
    action = Command(line=shlex.quote(str(path)), folder=str(path.parent))
    # Another agent's slash commands are one event: there it goes by the command's name.
    match = reader.match((), name, tool=path.name if path.parent.name == SLASH else "")
    failure = Failure.ALLOW if name == "end-of-turn" else Failure.BLOCK
    for agent in agents:
        if not _carries_rewrite(agent, match.event):
            what = f"{name} is not asked by {agent}: a rewrite cannot be carried"
            reader.warn((), what, f"leave {agent} out of `agent:` of this source")
    inactive = OWN_RELAY if RELAY_COMMAND.search(script) else ""
    reader.add((), match, action, name=name, timeout=TIMEOUT, failure=failure, inactive=inactive)
    return reader.result()


def _carries_rewrite(agent: str, kind: str) -> bool:
    """Whether the hook would be asked there: its answer about what a person typed is a rewrite."""
    specs = [one for one in AGENTS[agent].events.values() if one.kind == kind]
    return kind not in TYPED_KINDS or any(Capability.REWRITE_PROMPT in one.can for one in specs)


def _shell_script(path: Path) -> str:
    """What it begins with, if it is a script for `/bin/sh`; else ""."""
    try:
        head = file_head(path, 4096)
    except OSError:
        return ""
    return head.decode("utf-8", "replace") if head.startswith(b"#!/bin/sh") else ""


def _is_shim(script: str) -> bool:
    """Whether it is the executable that `connect` writes, and nothing else."""
    lines = script.strip().splitlines()
    return 0 < len(lines) <= SHIM_LINES and relay_command.parse(lines[-1]) is not None


def _executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o111)
    except OSError:
        return False
