"""The project of an event: the agent's own, else the repository above the folder where it works."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tray.engine.parse_event import parse_event
from tray.engine.plan import EventSearch, matches
from tray.model.event import Event, RelayRequest
from tray.model.hook import Match


def sent(agent: str, cwd: Path | str, environment: Mapping[str, str] | None = None, **more: object) -> Event:
    body = {"session_id": "s", "cwd": str(cwd), "tool_name": "Bash", "tool_input": {"command": "ls"}, **more}
    request = RelayRequest(
        agent=agent, event="PreToolUse", id="1", body=json.dumps(body).encode(), environment=environment or {}
    )
    return parse_event(request, 0)


def test_a_session_keeps_its_project_after_cd(tmp_path: Path) -> None:
    shop = {"CLAUDE_PROJECT_DIR": "/work/shop"}

    assert sent("claude-code", "/work/shop", shop).project == "shop"
    assert sent("claude-code", "/work/shop/sub", shop).project == "shop"
    assert sent("claude-code", tmp_path, shop).project == "shop"


@pytest.mark.parametrize("below", ["", "src", "src/deep"])
def test_an_agent_that_does_not_say_so_works_on_the_repository(tmp_path: Path, below: str) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    cwd = tmp_path / "shop" / below
    cwd.mkdir(parents=True, exist_ok=True)

    assert sent("codex", cwd).project == "shop"


def test_without_a_repository_it_is_the_folder_and_the_home_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()

    assert sent("codex", tmp_path / "notes").project == "notes"


def test_the_hooks_of_a_project_are_asked_after_its_session_has_left_it() -> None:
    match = Match(event="tool_before", format="claude-code", native="PreToolUse", project="/work/shop")
    shop, other = {"CLAUDE_PROJECT_DIR": "/work/shop"}, {"CLAUDE_PROJECT_DIR": "/work/other"}

    def asked(cwd: str, environment: Mapping[str, str]) -> bool:
        event = sent("claude-code", cwd, environment, hook_event_name="PreToolUse")
        return matches(match, event, EventSearch(event))

    assert asked("/tmp", shop)
    assert asked("/work/shop/sub", other)
    assert not asked("/work/other", other)
