"""A hook of hooktray.yaml as tests of approvals declare it."""

from __future__ import annotations

from pathlib import Path

from tray.model.hook import Command, Hook, Match, Source


def hook(folder: Path, line: str, *, files: tuple[str, ...] = (), interpreter: str = "") -> Hook:
    return Hook(
        name="guard",
        source=Source(kind="hooktray", path=str(folder / "hooktray.yaml")),
        match=Match(event="tool_before"),
        action=Command(line=line, folder=str(folder), interpreter=interpreter),
        files=files,
        dialect="starchild",
    )
