"""The files by which agents learn that their user is at the desktop."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.recordings import built

from tray.model.event import EventKind
from tray.notify.alert_gate import Attention
from tray.sessions.presence_files import INTERVAL, PresenceFiles

VARIABLE = "CLAUDE_CLIENT_PRESENCE_FILE"


class Kept:
    """The files. Stands in for the presence and the timer, which the test sets."""

    def __init__(self) -> None:
        self.is_away = False
        self.timers: list[tuple[float, Callable[[], object]]] = []
        self.files = PresenceFiles(self, self)

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        answer(Attention(is_away=self.is_away))

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        self.timers.append((seconds, work))

    def event(self, path: object, kind: EventKind = EventKind.PROMPT, session: str = "s", **more: str) -> None:
        environment = {VARIABLE: str(path)}
        fields: dict[str, Any] = {"agent": "claude-code", **more}
        self.files.observe(built(id="e", name="X", kind=kind, session=session, environment=environment, **fields))

    def later(self) -> None:
        (seconds, work), self.timers = self.timers[-1], []
        assert seconds == INTERVAL
        work()


def test_the_file_is_there_while_somebody_is(tmp_path: Path) -> None:
    kept, path = Kept(), tmp_path / "here"
    kept.event(path)
    present = path.exists()
    kept.is_away = True
    kept.later()
    away = path.exists()
    kept.is_away = False
    kept.later()

    assert (present, away, path.exists()) == (True, False, True)


def test_it_goes_with_the_last_session_that_wants_it_and_with_the_tray(tmp_path: Path) -> None:
    kept, path, other = Kept(), tmp_path / "here", tmp_path / "other"
    kept.event(path)
    kept.event(path, session="s2")
    kept.event(other, session="s3")
    kept.later()
    kept.event(path, EventKind.SESSION_END)
    first = path.exists()
    kept.event(path, EventKind.SESSION_END, session="s2")
    second = path.exists()
    kept.files.close()

    assert (first, second, other.exists()) == (True, False, False)


def test_a_presence_file_that_existed_or_was_changed_is_not_deleted(tmp_path: Path) -> None:
    kept = Kept()
    precious, link, path, other = (tmp_path / name for name in ("precious", "link", "here", "other"))
    precious.write_text("kept")
    link.symlink_to(tmp_path / "elsewhere")
    for one in (precious, link, path, other):
        kept.event(one, session=one.name)
    kept.later()
    path.write_text("mine")
    os.replace(path, other)  # noqa: PTH105
    kept.is_away = True
    kept.later()
    kept.files.close()

    assert (precious.read_text(), other.read_text()) == ("kept", "mine")
    assert link.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_only_agents_that_have_such_a_variable_and_whole_paths_count(tmp_path: Path) -> None:
    kept = Kept()
    kept.event(tmp_path / "a", agent="codex")
    kept.event("relative")

    assert not (tmp_path / "a").exists()
    assert kept.timers == []
