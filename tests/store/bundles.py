"""A bundle of a hook's files, as an approval keeps it."""

from __future__ import annotations

from tray.model.hook import Command, Hook, Match, Source
from tray.store.copies import Bundle

HOOK = Hook(
    name="guard",
    source=Source(kind="hooktray", path="/work/hooktray.yaml"),
    match=Match(event="tool_before"),
    action=Command(line="python3 guard.py", folder="/work"),
    files=("lib/*.py",),
    dialect="starchild",
)


def bundle(text: str) -> Bundle:
    """Five files with this text."""
    contents = {f"/work/{number}/guard.py": text.encode() for number in range(5)}
    return Bundle(hook=HOOK, contents=contents, executable=frozenset(contents))
