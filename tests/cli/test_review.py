"""`hooktray review`: what would be approved, and what to type."""

from __future__ import annotations

import json

import pytest
from cli.commands import Commands
from every import every
from house import House

from tray.cli.command_line import UsageError
from tray.errors import HooktrayError

HOOKS = [
    {"name": "no-destroying", "event": "tool_before", "type": "rule", "matcher": "rm -rf", "decision": "deny"},
    {"name": "lost", "event": "turn_end", "command": "./nowhere.sh"},
]


def test_a_hook_is_shown_without_a_tray_with_the_commands_that_decide(house: House, typed: Commands) -> None:
    house.configure({"hooks": HOOKS})

    lines = typed("review", "no-destroying").splitlines()

    assert f"| {json.dumps(HOOKS[0])}" in lines
    assert "  May do   refuses it; starts no program" in lines
    assert lines[-1].startswith("To approve it: `hooktray approve ")
    assert house.state("no-destroying").state.value == "pending"


@every(
    ("argv", "error"),
    [
        (("review", "no-destroyin"), "did you mean `no-destroying`?"),
        (("review", "lost"), "cannot be decided as it stands"),
        (("approve",), "name a hook, or a file with `--source`"),
        (("approve", "lost", "--source", "x"), "name a hook, or a file with `--source`"),
    ],
)
def test_what_cannot_be_shown_or_asked_is_an_error_with_a_remedy(
    house: House, typed: Commands, argv: tuple[str, ...], error: str
) -> None:
    house.configure({"hooks": HOOKS})

    with pytest.raises((HooktrayError, UsageError)) as refused:
        typed(*argv)

    assert error in str(refused.value)
