"""What to do about a hook that failed, by the words of the cause."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from tray.app.checks.finding import LLM_REMEDY, OUTPUT_REMEDY
from tray.approvals.inspection import program_of
from tray.approvals.variables import grant_command
from tray.execution.environment import withheld_in
from tray.model.hook import Command, Hook

APPROVE_AGAIN = "then approve the change"
# The first one whose words are in the cause counts.
REMEDIES = (
    ("exit 127", "a program that the script starts is not there: install it, or write its whole path"),
    ("interpreter not executable", "make the interpreter executable, or name another one in its first line"),
    ("interpreter not found", f"install it, or correct the script's first line (and its line ends), {APPROVE_AGAIN}"),
    ("no interpreter line", f"begin the script with a line such as `#!/bin/sh`, {APPROVE_AGAIN}"),
    ("not executable", "chmod +x {quoted}"),
    ("script not found", f"put the script back, or correct the command in {{source}}, {APPROVE_AGAIN}"),
    ("is another program than", f"approve the hook again: {{program}} was replaced since, {APPROVE_AGAIN}"),
    ("not found", f"install it, or correct the command in {{source}}, {APPROVE_AGAIN}"),
    ("timed out", "make it quicker, or raise its `timeout:` (now {timeout:g} s) in {source}"),
    ("no llm configured", LLM_REMEDY),
    ("output", OUTPUT_REMEDY),
    (
        "approved copy",
        "approve the hook again in the tray's menu, or start the tray: it mends the copy from the file",
    ),
    ("address", "correct `url:` in {source}; a local address needs `allow_local:`"),
)


def remedy(cause: str, hook: Hook) -> str:
    """What to do; "" when the cause has none of these words."""
    if names := withheld_in(cause):
        return f"if it shall have it: `{grant_command(names, hook.name)}`"
    text = next((text for words, text in REMEDIES if words in cause), "")
    program = _program(hook)
    return text.format(program=program, quoted=shlex.quote(program), source=hook.source, timeout=hook.timeout)


def _program(hook: Hook) -> str:
    if not isinstance(hook.action, Command):
        return "it"
    with contextlib.suppress(ValueError, IndexError):
        return program_of(hook, hook.action) or hook.action.line
    return str(Path(hook.action.folder))
