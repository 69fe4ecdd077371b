"""What `list` prints to be pasted, and what the asking commands say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from live import Live
from plain import Plain

from tray.cli import run_command

GATE = "To ask for approval: hooktray "
SETTING = "To ask for that: hooktray "
LLM = {"base_url": "https://llm.example.com/v1", "model": "m"}
HOOKS = [
    {"event": "turn_end", "command": "/bin/true it 'is done'"},
    {"event": "tool_before", "command": "/bin/true it 'is done'"},
    {"event": "turn_end", "name": "first", "command": "/bin/true"},
    {"event": "turn_end", "name": "second", "command": "/bin/true"},
    {"event": "turn_end", "command": "/bin/true -- \x1b[31m"},
    {"event": "turn_end", "type": "prompt", "prompt": "Are the tests green?"},
    {"event": "turn_end", "type": "agent", "prompt": "Is it documented?"},
    {"event": "turn_end", "name": "-n", "type": "prompt", "prompt": "Well?"},
    {"event": "tool_before", "type": "http", "url": "https://guard.example.com/hook"},
    {"event": "tool_before", "type": "rule", "matcher": "curl", "decision": "ask", "reason": "no"},
    {"event": "PreToolUse", "agent": "claude-code", "name": "native", "command": "/bin/true 1"},
    {"event": "slash/files", "agent": "shelley", "command": "/bin/true files"},
]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    plain = Plain(tmp_path)
    slash = tmp_path / "hooks" / "slash"
    slash.mkdir(parents=True)
    for name in ("files", "end-of-turn"):
        (slash / name).write_text("#!/bin/sh\n")
        (slash / name).chmod(0o755)
    settings = tmp_path / "settings.json"
    handler = {"type": "command", "command": "/bin/false claude"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}))
    sources = [{"shelley": str(slash.parent)}, {"claude-code": str(settings)}]
    live = Live.fresh(plain, tmp_path, configuration={"hooks": HOOKS, "sources": sources, "llm": LLM})
    yield live
    plain.close()


def said(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> str:
    run_command(["--home", str(home), *words])
    return capsys.readouterr().out


def test_every_line_that_list_prints_to_be_pasted_is_taken(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, live.home, "list").splitlines()
    gates = [line.removeprefix(GATE) for line in lines if line.startswith(GATE)]
    settings = [line.partition(SETTING)[2] for line in lines if SETTING in line]

    answers = {line: said(capsys, live.home, *shlex.split(line)).splitlines()[0] for line in (*gates, *settings)}

    assert len({*answers.values()}) == len(answers) == len(live.states()) + 1, "each means another"
    assert all(answer.endswith(" waits for your approval") for answer in answers.values())
    assert settings == ["approve llm"]
    for gate in (
        "slash/files '/bin/true files'",
        "tool_before https://guard.example.com/hook",
        "turn_end 'turn_end prompt'",
    ):
        assert f"approve {gate}" in gates


def test_without_an_icon_the_way_to_the_page_is_told(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    asked = said(capsys, live.home, "approve", "first")
    shown = said(capsys, live.home, "status")
    live.quit()
    gone = said(capsys, live.home, "status")

    assert "Approve it on the page (`hooktray open`), or set a passphrase: `hooktray passphrase`" in asked
    assert "waiting for you: `hooktray open` shows them." in shown
    assert "waiting for you: start the tray; its menu and `hooktray open` show them." in gone
