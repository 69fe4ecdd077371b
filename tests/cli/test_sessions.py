"""`hooktray sessions`: real events of agents, through a real tray."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from desk import wait
from live import Live, recorded
from msgspec.structs import replace
from plain import Plain

from tray.cli import sessions
from tray.model.session import Session, SessionState
from tray.paths import locate
from tray.store.db import open_db
from tray.store.sessions import SessionRows

KEYS = ["session", "agent", "machine", "project", "name", "state", "since", "place", "usage_limit"]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A tray whose agents run in a pane of tmux."""
    plain = Plain(tmp_path)
    plain.environment |= {"TMUX": "/tmp/tmux-1/default,1,0", "TMUX_PANE": "%7"}
    live = Live.fresh(plain, tmp_path)
    yield live
    live.quit()
    plain.close()


def test_sessions_of_two_agents_with_their_places_and_a_usage_limit_with_its_end(live: Live) -> None:
    assert live.cli("sessions").stdout.startswith(b"No session yet.")
    prompt = {"session_id": "c-1", "cwd": "/home/dev/shop", "prompt": "Fix the login"}
    live.relay("claude-code", "UserPromptSubmit", prompt | {"hook_event_name": "UserPromptSubmit"})
    live.relay("codex", "UserPromptSubmit", prompt | {"hook_event_name": "UserPromptSubmit", "session_id": "x-1"})
    live.relay("codex", "Stop", prompt | {"hook_event_name": "Stop", "session_id": "x-1"})
    live.wait_log(3)

    def settled(*states: str) -> list[dict[str, object]]:
        rows = live.rows("sessions")
        return rows if [row["state"] for row in rows] == list(states) else []

    rows = wait(lambda: settled("working", "done"), 60, "both sessions")

    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert [(row["session"], row["agent"], row["project"], row["name"], row["place"]) for row in rows] == [
        ("c-1", "claude-code", "shop", "Fix the login", "tmux %7"),
        ("x-1", "codex", "shop", "Fix the login", "tmux %7"),
    ]
    before = live.cli("sessions").stdout.decode()
    assert "Fix the login" in before
    assert "USAGE LIMIT" not in before
    said = "You've hit your session limit · resets 3pm"
    failed = {"session_id": "c-1", "cwd": "/home/dev/shop", "hook_event_name": "StopFailure", "error": "rate_limit"}
    live.relay("claude-code", "StopFailure", failed | {"last_assistant_message": said})
    rows = wait(lambda: settled("failed", "done"), 60, "the session has failed")
    text = live.cli("sessions").stdout.decode()
    assert rows[0]["usage_limit"] == said
    assert text.splitlines()[0].endswith("USAGE LIMIT")
    assert said in text


def test_with_follow_each_change_of_a_session_is_one_row(live: Live) -> None:
    live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
    live.wait_log(1)
    wait(lambda: live.rows("sessions"), 60, "the session")
    follower = subprocess.Popen(
        live.argv("sessions", "--json", "--follow"),
        env={**os.environ, **live.place.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
    )
    assert follower.stdout is not None
    first = json.loads(follower.stdout.readline())
    live.relay("claude-code", "Stop", {"session_id": first["session"], "cwd": "/p", "hook_event_name": "Stop"})
    second = json.loads(follower.stdout.readline())
    follower.terminate()
    follower.wait(60)
    follower.stdout.close()

    assert (first["state"], second["state"]) == ("working", "done")
    assert second["session"] == first["session"]


def test_a_change_that_comes_with_the_first_rows_is_followed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = locate(str(tmp_path / "h"))
    paths.prepare()
    rows = SessionRows(open_db(paths.database, create=True))
    working = Session(agent="codex", session="x-1", state=SessionState.WORKING)
    rows.put(working)
    looks = itertools.count()
    printed: list[str] = []

    def show(row: sessions.SessionRow, *, as_json: bool) -> None:
        if not printed:
            rows.put(replace(working, state=SessionState.DONE))
        printed.append(row["state"])

    def pause(seconds: float) -> None:
        if next(looks):
            raise KeyboardInterrupt

    monkeypatch.setattr(sessions, "_print", show)
    monkeypatch.setattr(f"{sessions.__name__}.time", SimpleNamespace(sleep=pause))
    with pytest.raises(KeyboardInterrupt):
        sessions.show_sessions(paths, follow=True)

    assert printed == ["working", "done"]
