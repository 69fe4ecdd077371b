"""Hooks as values, and in agents' own files: written, named as sources, and approved as a person does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from house import House, skip_without_posix_shell

from tray.model.hook import Action, Command, Failure, Hook, Match, Source

DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"no"}\''
REFUSE = "#!/bin/sh\ncat >/dev/null\necho not here >&2\nexit 2\n"  # refuses as Claude Code's format defines it
STOP = {"hook_event_name": "Stop", "session_id": "s", "cwd": "/"}
X_CODE = {
    "event": "PreToolUse",
    "session": {"cwd": "/", "modelId": "m"},
    "plugin": {"id": "hooktray@local", "dir": "/"},
    "tool": {"name": "shell", "args": {"command": "ls"}, "callId": "c1"},
}
COMMAND = Command(line="./guard.sh", folder="/c")
BEFORE_TOOL = Match(event="tool_before")


def built_hook(
    action: Action = COMMAND,
    match: Match = BEFORE_TOOL,
    *,
    source: str = "hooktray",
    path: str = "/c/hooktray.yaml",
    dialect: str = "starchild",
    failure: Failure = Failure.ALLOW,
    timeout: float = 60.0,
) -> Hook:
    """A hook named `guard`, as a file declares it."""
    return Hook(
        name="guard",
        source=Source(kind=source, path=path),
        match=match,
        action=action,
        dialect=dialect,
        failure=failure,
        timeout=timeout,
    )


def write(path: Path, content: str | Mapping[str, Any], *, executable: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o755 if executable else 0o644)
    return path


def claude(folder: Path, *handlers: Mapping[str, Any], event: str = "PreToolUse", matcher: str = "") -> Path:
    """Writes settings of Claude Code that run these commands for the event, each in its own group."""
    groups = [{"matcher": matcher, "hooks": [{"type": "command", **one}]} for one in handlers]
    return write(folder / "settings.json", {"hooks": {event: groups}})


def plugin(folder: Path, *entries: Mapping[str, Any]) -> Path:
    """A plugin of X-Code with these hooks before a tool."""
    write(folder / "hooks" / "hooks.json", {"PreToolUse": list(entries)})
    return folder


def declare(house: House, *sources: Mapping[str, Any], approve: bool = True) -> None:
    skip_without_posix_shell()
    house.configure({"sources": list(sources)})
    if approve:
        approve_all(house)


def approve_all(house: House) -> None:
    """Approves everything that waits for the user."""
    for one in house.catalog.states:
        if one.waiting:
            assert one.digest, one.health
            house.consent.approve(one.key, one.digest, "test")
