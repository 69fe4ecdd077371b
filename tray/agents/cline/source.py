"""Hooks of a Cline hooks folder: each file whose name is an event, whatever its ending."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tray.agents.cline.connector import CONNECTOR
from tray.agents.cline.protocol import EVENTS, ID, TIMEOUT
from tray.agents.protocol import agent_events
from tray.edit.file_changes import read_state
from tray.files import file_head
from tray.model.hook import Command
from tray.reading.entries import SourceHooks, SourceReader, joined
from tray.strict.document import Document

EXPECTED = f"name a folder that holds {', '.join(EVENTS)}"
NAMES = {name.lower(): name for name in EVENTS}
# How Cline starts a file whose first line names no program.
STARTERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("", ".bash", ".sh", ".zsh"), ("bash",)),
    **dict.fromkeys((".cjs", ".js", ".mjs"), ("node",)),
    **dict.fromkeys((".cts", ".mts", ".ts"), ("bun", "run")),
    ".ps1": ("pwsh", "-File"),
    ".py": ("python3",),
}


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one folder. Raises OSError when it cannot be looked into."""
    files = sorted(os.listdir(path))  # noqa: PTH208 - names are all we want
    return joined([SourceHooks(watched=(str(path),)), *(_hook(path / name, agents) for name in files)])


def _hook(path: Path, agents: Sequence[str]) -> SourceHooks:
    """One file is one source of one hook: the file itself declares it."""
    reader = SourceReader(Document(value={}, path=str(path)), agent_events(ID), agents=agents or (ID,))
    event = NAMES.get(path.stem.lower(), "")
    if not event or path.suffix.lower() not in STARTERS or not path.is_file() or CONNECTOR.parse(read_state(path)):
        return reader.result()
    action = Command(line=shlex.join([*_starter(path), str(path)]), folder=str(path.parent))
    reader.add((), reader.match((), event), action, name=path.name, timeout=TIMEOUT)
    return reader.result()


def _starter(path: Path) -> tuple[str, ...]:
    """The program that Cline starts with the file: that of its first line, else by its ending."""
    try:
        first = file_head(path, 200).split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    except OSError:
        first = ""
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = words[1:]
    return tuple(words) or STARTERS[path.suffix.lower()]
