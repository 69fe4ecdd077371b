"""`hooktray review`: what would be approved, and what to type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live import Live
from plain import Plain

HOOKS = [
    {"name": "no-destroying", "event": "tool_before", "type": "rule", "matcher": "rm -rf", "decision": "deny"},
    {"name": "lost", "event": "turn_end", "command": "./nowhere.sh"},
]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    plain = Plain(tmp_path)
    yield Live.fresh(plain, tmp_path, configuration={"hooks": HOOKS}, starts=False)
    plain.close()


def test_a_hook_is_shown_without_a_tray_with_the_commands_that_decide(live: Live) -> None:
    shown = live.cli("review", "no-destroying")

    lines = shown.stdout.decode().splitlines()
    assert shown.returncode == 0
    assert (
        '| {"name": "no-destroying", "event": "tool_before", "type": "rule", "matcher": "rm -rf", "decision": "deny"}'
        in lines
    )
    assert "  May do   refuses it; starts no program" in lines
    assert lines[-1].startswith("To approve it: `hooktray approve ")
    assert live.rows("list")[0]["state"] == "pending"


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("review", "no-destroyin"), "did you mean `no-destroying`?"),
        (("review", "lost"), "cannot be decided as it stands"),
        (("approve",), "name a hook, or a file with `--source`"),
        (("approve", "lost", "--source", "x"), "name a hook, or a file with `--source`"),
    ],
)
def test_what_cannot_be_shown_or_asked_is_an_error_with_a_remedy(
    live: Live, argv: tuple[str, ...], error: str
) -> None:
    done = live.cli(*argv)

    assert done.returncode in (1, 2)
    assert error in done.stderr.decode()
