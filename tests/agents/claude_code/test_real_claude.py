"""A connected Claude Code, the real program: every event arrives, and every answer has its effect in the client."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from connect.claude import Terminal, claude, environment, settle_in
from connect.model import Call, Model
from connect.trays import by_person, started
from desk import wait
from live import PYTHON, Live
from plain import Plain

from tray.app import open_stores
from tray.cli.views import log_row
from tray.paths import locate

__all__ = ["claude"]

pytestmark = [pytest.mark.xdist_group("claude"), by_person]  # one worker: what cannot be fetched is tried once

LONG = 40.0  # seconds
CALLS: list[Call] = [
    ("Bash", {"command": "touch forbidden", "description": "first"}),
    ("Bash", {"command": "touch original", "description": "second"}),
]


def said(event: str, context: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})


SCRIPTS = {
    "start": ("session_start", f"echo '{said('SessionStart', 'context-of-the-start')}'"),
    "prompt": ("prompt", f"echo '{said('UserPromptSubmit', 'context-of-the-prompt')}'"),
    "after": ("tool_after", f"echo '{said('PostToolUse', 'context-after-the-tool')}'"),
    "stop": (
        "turn_end",
        'grep -q \'"stop_hook_active":true\' || echo \'{"decision": "block", "reason": "once-more-please"}\'',
    ),
}
DENIED = {
    "name": "no",
    "event": "tool_before",
    "type": "rule",
    "matcher": "forbidden",
    "decision": "deny",
    "reason": "denied-by-a-rule",
}
REWRITE = '{"tool_input": {"command": "touch rewritten"}}'


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A running tray whose hooks a person has approved."""
    hooks: list[dict[str, Any]] = [DENIED]
    for name, (event, _) in SCRIPTS.items():
        hooks.append({"name": name, "event": event, "command": f"./{name}.sh", "dialect": "claude-code"})
    hooks.append({"name": "rewrite", "event": "tool_before", "matcher": "original", "command": "./rewrite.sh"})
    scripts = {f"{name}.sh": script for name, (_, script) in SCRIPTS.items()}
    live = started(tmp_path, hooks, scripts | {"rewrite.sh": f"echo '{REWRITE}'"})
    yield live
    assert isinstance(live.place, Plain)
    live.place.close()


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model(CALLS)
    yield model
    model.close()


@pytest.fixture
def project(tmp_path: Path, live: Live) -> Path:
    """A folder to work in, and a connected Claude Code in the same home."""
    done = live.place.run([PYTHON, "-I", "-m", "tray", "--home", live.home, "connect", "claude-code", "--yes"])
    assert done.returncode == 0, done.stderr.decode()
    project = tmp_path / "project"
    project.mkdir()
    return project


def rows(live: Live, event: str) -> list[dict[str, Any]]:
    """The journal's rows of one event, oldest first."""
    journal = open_stores(locate(str(live.home)), migrate=False).journal
    try:
        return [log_row(record) for record in reversed(journal.recent(1000)) if record.event == event]
    finally:
        journal.close()


def check_the_turn(live: Live, model: Model, project: Path) -> None:
    assert {path.name for path in project.iterdir()} == {"rewritten"}
    denied, rewritten = model.results()
    assert "denied-by-a-rule" in denied
    assert "denied-by-a-rule" not in rewritten
    for words in ("context-of-the-start", "context-of-the-prompt", "context-after-the-tool", "once-more-please"):
        assert words in model.told()
    verdicts = {event: [row["verdict"] for row in rows(live, event)] for event in ("PreToolUse", "Stop")}
    assert verdicts == {"PreToolUse": ["deny", "abstain"], "Stop": ["deny", "abstain"]}
    assert rows(live, "PreToolUse")[1]["rewrites"]
    others = [rows(live, event) for event in ("SessionStart", "UserPromptSubmit", "PostToolUse")]
    assert [len(some) for some in others] == [1, 1, 1]
    assert not all(row["offline"] for some in others for row in some)  # it was the tray that spoke


def test_a_printed_turn(claude: Path, live: Live, model: Model, project: Path, tmp_path: Path) -> None:
    argv = [str(claude), "-p", "hello", "--allowedTools", "Bash"]

    done = subprocess.run(
        argv,
        cwd=project,
        env=environment(tmp_path, model.url),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=90,
    )

    assert (done.returncode, done.stdout.strip()) == (0, b"All done."), done.stderr
    wait(lambda: rows(live, "SessionEnd"), LONG, "the session's end")
    check_the_turn(live, model, project)


def test_with_hooktray_gone_the_client_is_undisturbed(
    claude: Path, live: Live, model: Model, project: Path, tmp_path: Path
) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("/tray/", "/gone/tray/"))
    argv = [str(claude), "-p", "hello " + "x" * 100_000, "--allowedTools", "Bash", "--output-format", "stream-json"]

    done = subprocess.run(
        [*argv, "--verbose"],
        cwd=project,
        env=environment(tmp_path, model.url),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=90,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert {path.name for path in project.iterdir()} == {"forbidden", "original"}
    assert not re.search(r"[Hh]ook (error|reported|failed)", model.told())
    assert rows(live, "Stop") == []


def test_an_interactive_turn(claude: Path, live: Live, model: Model, project: Path, tmp_path: Path) -> None:
    settle_in(tmp_path, project)
    terminal = Terminal([claude, "--permission-mode", "default"], project, environment(tmp_path, model.url))
    try:
        wait(lambda: rows(live, "SessionStart"), LONG, "the session's start")
        wait(lambda: b"\xe2\x9d\xaf" in terminal.drawn or b">" in plain(terminal), LONG, "the prompt")
        terminal.type("hello")
        wait(lambda: b"hello" in plain(terminal), LONG, "the typed text")
        terminal.type("\r")
        wait(lambda: rows(live, "Notification"), LONG, "the question for permission")
        terminal.type("\r")
        wait(lambda: len(rows(live, "Stop")) == 2, LONG, "the second stop")
        terminal.type("/exit")
        wait(lambda: b"/exit" in plain(terminal), LONG, "the typed command")
        terminal.type("\r")
        wait(lambda: rows(live, "SessionEnd"), LONG, "the session's end")
        terminal.process.wait(LONG)
    finally:
        terminal.close()
        (tmp_path / "drawn").write_bytes(terminal.drawn)

    check_the_turn(live, model, project)
    assert [row["event"] for row in rows(live, "PermissionRequest")] == ["PermissionRequest"]


def plain(terminal: Terminal) -> bytes:
    """What was drawn, without the colours and jumps."""
    return re.sub(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]", b"", bytes(terminal.drawn))
