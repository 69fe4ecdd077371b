"""No code of ours opens a file of the database: closing it would drop every lock that the process has on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import audited
import pytest
from damage import damage_table
from live import PYTHON, Live, recorded
from plain import Plain

from tray.paths import locate

PROGRAM = (audited.__file__,)
GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
COMMANDS = ("list", "status", "log", "stats", "export", "doctor")
PROMPT = {"session_id": "s-1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "/hooks doctor"}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path, configuration=GUARD, starts=False, program=PROGRAM)
    live.script("guard.sh", "exit 0")
    yield live
    plain.close()


def command(live: Live, words: str) -> None:
    done = live.place.run([PYTHON, "-I", *PROGRAM, "--home", str(live.home), *words.split()], timeout=60)
    assert done.returncode in (0, 1), done.stderr.decode()


def use(live: Live, *commands: str) -> None:
    """Sends events, runs these commands, and types `doctor` into an agent."""
    live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
    before = len(live.log())
    live.relay("claude-code", "UserPromptSubmit", PROMPT)
    row, *_ = live.wait_log(before + 1)
    for words in (*commands, f"why {row['id']}"):
        command(live, words)


def test_a_file_that_is_opened_by_hand_is_noticed(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    code = "import sys, audited, pathlib; home = pathlib.Path(sys.argv[1]); audited.watch(home); \
(home / 'hooktray.db').read_bytes()"
    (tmp_path / "hooktray.db").write_bytes(b"x")

    plain.run([sys.executable, "-c", code, tmp_path], {"PYTHONPATH": str(Path(audited.__file__).parent)})

    assert len(audited.opened(tmp_path)) == 1


def test_the_tray_and_the_commands_open_the_database_only_by_sqlite_also_when_it_is_damaged(live: Live) -> None:
    paths = locate(str(live.home))
    live.start()
    use(live, *COMMANDS)
    live.quit()
    damage_table(paths.database, "journal")
    command(live, "list")
    live.start()
    use(live, "status")

    assert list(paths.state.glob("hooktray.db.damaged-*"))
    assert audited.opened(live.home) == []
