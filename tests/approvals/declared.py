"""Hooks for the tests of approvals, and their approved copies."""

from __future__ import annotations

from pathlib import Path

from tray.approvals.command_resolver import CommandResolver
from tray.approvals.inspection import read_bundle
from tray.model.hook import Command, Failure, Hook, Match, Source
from tray.store.copies import Bundle, Copies


def hook(folder: Path, line: str, *, files: tuple[str, ...] = (), interpreter: str = "", plugin: str = "") -> Hook:
    """A hook of hooktray.yaml."""
    return Hook(
        name="guard",
        source=Source(kind="hooktray", path=str(folder / "hooktray.yaml")),
        match=Match(event="tool_before"),
        action=Command(line=line, folder=str(folder), interpreter=interpreter, plugin=plugin),
        files=files,
        dialect="starchild",
    )


def settings_hook(
    folder: Path, line: str, *, interpreter: str = "/bin/sh", project: str = "", plugin: str = ""
) -> Hook:
    """A hook of Claude Code's settings. A shell runs its line, unless `interpreter` is not a shell."""
    command = Command(
        line=line, folder=str(folder), interpreter=interpreter, shell=interpreter.endswith("sh"),
        format="claude-code", plugin=plugin, root=plugin,
    )  # fmt: skip
    return Hook(
        name="check",
        source=Source(kind="claude-code", path=str(folder / "settings.json")),
        match=Match(event="tool_before", project=project),
        action=command,
        failure=Failure.ALLOW,
        dialect="claude-code",
    )


def program(path: Path, text: str) -> Path:
    """An executable file with this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def saved(copies: Copies, declared: Hook) -> Bundle:
    """The bundle of a hook, kept as an approval keeps it."""
    bundle = read_bundle(declared)
    copies.save(bundle)
    return bundle


def argv(copies: Copies, bundle: Bundle) -> list[str]:
    """Returns the command line that starts a hook."""
    return list(CommandResolver(copies).argv(bundle.hook, bundle.digest))
