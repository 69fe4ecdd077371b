"""Agents without support run our line for Claude Code: the real relay, the real tray, a real desktop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agents.foreign_payloads import Sent, before_tool
from desk import Desk
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

from tray.agents.registry import UNSUPPORTED

DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"no"}\''
NEEDS_YOU = {"session_id": "s-9", "cwd": "/w/web", "hook_event_name": "Notification", "message": "The last one"}
FOREIGN = [before_tool(name) for name in UNSUPPORTED if name != "devin"]


def guarded(house: House) -> None:
    """A guard that refuses every tool, approved before the tray starts."""
    house.hook("guard", on="tool_before", script=DENY, failure="block")


def runs_our_line(live: Live, one: Sent, **environment: str) -> tuple[int, bytes, bytes]:
    done = live.place.run(
        live.relay_argv("claude-code", one.word), environment, input=json.dumps(one.payload).encode(), timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def denied(live: Live) -> bool:
    """True if a call of Claude Code is denied, although it has the variables of other agents' terminals."""
    inherited = {"COPILOT_CLI": "1", "CURSOR_VERSION": "3.19.10", "QWEN_CODE_SESSION_ID": "q"}
    _, stdout, _ = runs_our_line(live, Sent("claude-code", "PreToolUse", "PreToolUse", PRE_TOOL_USE), **inherited)
    return bool(json.loads(stdout)["hookSpecificOutput"]["permissionDecision"] == "deny")


def is_unasked(row: dict[str, Any], one: Sent) -> bool:
    shown = (row["agent"], row["event"], row["verdict"], row["reason"], row["hooks"])
    return shown == (one.agent, one.event, "abstain", "not supported yet", [])


def test_each_agent_gets_its_own_neutral_answer_with_and_without_the_tray(
    plain: Plain, house: House, tmp_path: Path
) -> None:
    guarded(house)
    live = Live(plain, tmp_path / "home")
    live.start()

    for one in FOREIGN:
        assert runs_our_line(live, one) == (0, b"", b""), one.agent
    assert denied(live)
    rows = live.wait_log(len(FOREIGN) + 1)[::-1]
    assert all(is_unasked(row, one) for row, one in zip(rows, FOREIGN, strict=False))
    assert not any(row["offline"] for row in rows)

    live.kill()
    for one in FOREIGN[:2]:
        assert runs_our_line(live, one) == (0, b"", b""), one.agent
    assert denied(live)
    rows = live.wait_log(len(FOREIGN) + 4)[::-1][len(FOREIGN) + 1 :]
    assert all(is_unasked(row, one) for row, one in zip(rows, FOREIGN[:2], strict=False))
    assert all(row["offline"] for row in rows)


def test_commands_show_who_is_not_guarded(plain: Plain, house: House, tmp_path: Path) -> None:
    guarded(house)
    live = Live(plain, tmp_path / "home")
    live.start()
    runs_our_line(live, before_tool("windsurf"))
    (row,) = live.wait_log(1)
    plainly = "windsurf is not supported yet: no hook was asked"

    assert plainly in live.cli("log", "--agent", "windsurf").stdout.decode()
    assert plainly in live.cli("why", row["id"]).stdout.decode()
    assert "windsurf: not supported yet, its tool calls are not guarded" in live.cli("status").stdout.decode()
    assert live.rows("status")[0]["unsupported"][0]["agent"] == "windsurf"
    shown = "runs Hooktray's hooks for claude-code, and is not supported yet: its tool calls are not guarded"
    assert f"windsurf: {shown}" in live.cli("agents").stdout.decode()
    assert f"agent: windsurf: {shown}" in live.cli("doctor", "--static").stdout.decode()
    assert live.rows("agents")[-1] | {"last_event": 0} == {
        "agent": "windsurf",
        "line": "claude-code",
        "last_event": 0,
        "supported": False,
    }


def test_the_user_is_notified_once_of_each_agent_also_after_a_restart(
    desk: Desk, house: House, tmp_path: Path
) -> None:
    guarded(house)
    live = Live(desk, tmp_path / "home")
    live.start()
    desk.clear_notifications()
    for _ in range(3):
        runs_our_line(live, before_tool("windsurf"))
    runs_our_line(live, before_tool("hermes"))
    assert sorted(unguarded(live)) == ["Hermes", "Windsurf"]
    desk.wait(
        lambda: any("not supported yet: no hook was asked" in row.label for row in live.menu("Recent decisions")),
        what="the menu has the decision",
    )

    live.quit()
    live.start()
    desk.clear_notifications()
    runs_our_line(live, before_tool("windsurf"))
    assert unguarded(live) == []


def unguarded(live: Live) -> list[str]:
    """The agents that notifications name as not guarded, once all that was due has been shown."""
    live.relay("claude-code", "Notification", NEEDS_YOU)
    live.desk.wait_notification(lambda shown: "The last one" in shown.body, deadline=30)
    bodies = [shown.body for shown in live.desk.notifications() if "are not guarded" in shown.body]
    return [body.partition(" runs Hooktray")[0] for body in bodies]
