"""`hooktray sessions`: real events of agents, through a real tray."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
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


def test_sessions_of_two_agents_with_their_places(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    plain.environment |= {"TMUX": "/tmp/tmux-1/default,1,0", "TMUX_PANE": "%7"}
    live = Live.fresh(plain, tmp_path)
    try:
        prompt = {"session_id": "c-1", "cwd": "/home/dev/shop", "prompt": "Fix the login", "hook_event_name": "X"}
        live.relay("claude-code", "UserPromptSubmit", prompt | {"hook_event_name": "UserPromptSubmit"})
        live.relay("codex", "UserPromptSubmit", prompt | {"hook_event_name": "UserPromptSubmit", "session_id": "x-1"})
        live.relay("codex", "Stop", prompt | {"hook_event_name": "Stop", "session_id": "x-1"})
        live.wait_log(3)

        def settled() -> list[dict[str, object]]:
            rows = live.cli_json("sessions")
            return rows if [row["state"] for row in rows] == ["working", "done"] else []

        rows = wait(settled, 60, "both sessions")
        text = live.cli("sessions").stdout.decode()
    finally:
        live.quit()
        plain.close()

    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert [(row["session"], row["agent"], row["project"], row["name"], row["place"]) for row in rows] == [
        ("c-1", "claude-code", "shop", "Fix the login", "tmux %7"),
        ("x-1", "codex", "shop", "Fix the login", "tmux %7"),
    ]
    assert "Fix the login" in text


def test_a_usage_limit_is_shown_with_the_time_of_its_end(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path)
    said = "You've hit your session limit · resets 3pm"
    failed = {"session_id": "c-1", "cwd": "/home/dev/shop", "hook_event_name": "StopFailure", "error": "rate_limit"}
    try:
        before = live.cli("sessions").stdout.decode()
        live.relay("claude-code", "StopFailure", failed | {"last_assistant_message": said})
        row = wait(lambda: live.cli_json("sessions"), 60, "the session")[0]
        text = live.cli("sessions").stdout.decode()
    finally:
        live.quit()
        plain.close()

    assert (row["state"], row["usage_limit"]) == ("failed", said)
    assert "USAGE LIMIT" not in before
    assert text.splitlines()[0].endswith("USAGE LIMIT")
    assert said in text


def test_followed_each_change_is_one_row(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path)
    try:
        live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
        live.wait_log(1)
        wait(lambda: live.cli_json("sessions"), 60, "the session")
        follower = subprocess.Popen(
            live.argv("sessions", "--json", "--follow"),
            env={**os.environ, **plain.environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
        )
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        stop = {"session_id": first["session"], "cwd": "/p", "hook_event_name": "Stop"}
        live.relay("claude-code", "Stop", stop)
        second = json.loads(follower.stdout.readline())
        follower.terminate()
        follower.wait(60)
        follower.stdout.close()
    finally:
        live.quit()
        plain.close()

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


def test_without_a_session_it_says_how_one_appears(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path, starts=False)

    done = live.cli("sessions")

    assert done.stdout.decode().startswith("No session yet.")
    plain.close()
