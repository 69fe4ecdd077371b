"""An agent's event, all the way: approved hook, native answer, notification, sound, journal and menu."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from desk import Desk
from desk.viewer import viewer
from desktop.ink import ink
from live import Live, recorded

from tray.desktop.artwork import IconState
from tray.notify.sound import REPEAT_SECONDS


class Case(NamedTuple):
    agent: str
    event: str
    payload: str
    kind: str  # the hook's event
    summary: str
    body: str


CASES = [
    Case("claude-code", "Stop", "Stop", "turn_end", "claude-code · sub", "Turn ended: All done."),
    Case("claude-code", "SessionEnd", "SessionEnd", "session_end", "claude-code · sub", "Session ended"),
    Case(
        "claude-code",
        "Notification",
        "Notification-permission_prompt",
        "notification",
        "claude-code · project",
        "Claude needs your permission",
    ),
    Case("shelley", "end-of-turn", "end-of-turn", "turn_end", "shelley · vm", "Turn ended: Done."),
    Case("starchild", "on_stop", "on_stop", "turn_end", "starchild · workspace", "Turn ended: All done."),
    Case(
        "starchild",
        "on_session_end",
        "on_session_end",
        "session_end",
        "starchild · workspace",
        "Session ended: ended",
    ),
    Case("x-code", "TurnComplete", "TurnComplete", "turn_end", "x-code · project", "Turn ended"),
    Case("x-code", "SessionEnd", "SessionEnd", "session_end", "x-code · project", "Session ended"),
]

# A session that ended is announced again once something happened in it.
BEGINNINGS = {
    "claude-code": ("SessionStart", "SessionStart-resume"),
    "starchild": ("on_session_start", "on_session_start"),
    "x-code": ("SessionStart", "SessionStart"),
}

ROUND_AND_TURN = "TurnComplete"  # it is the end of a round; the end of the turn follows as a decision of its own


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("e")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.agent} {case.event}")
def test_an_event_goes_all_the_way(desk: Desk, folder: Path, case: Case) -> None:
    hook = {"name": "witness", "event": case.kind, "command": "./witness.sh"}
    live = Live.fresh(desk, folder, configuration={"turn_quiet_seconds": 0.2, "hooks": [hook]})
    live.script("witness.sh", f"cat >{folder}/seen.part && mv {folder}/seen.part {folder}/seen")
    live.relay(case.agent, case.event, recorded(case.agent, case.payload))
    desk.wait(lambda: any(row["kind"] == case.kind for row in live.log()), what="the first one's row")
    first = time.monotonic()
    assert not (folder / "seen").exists(), "an unapproved hook has run"
    live.approve("witness")
    if case.kind == "session_end":
        event, payload = BEGINNINGS[case.agent]
        session = json.loads(recorded(case.agent, case.payload)).get("session_id")
        live.relay(case.agent, event, {**json.loads(recorded(case.agent, payload)), "session_id": session})
        desk.wait(lambda: any(row["event"] == event for row in live.log()), what="the session goes on")
    desk.clear_notifications()
    desk.wait(lambda: time.monotonic() - first > 2 * REPEAT_SECONDS, what="the same sound may be played again")
    silent = 3 if case.kind == "session_end" else 4 if case.event == ROUND_AND_TURN else 2

    with desk.record() as sound:
        done = live.relay(case.agent, case.event, recorded(case.agent, case.payload))
        shown = desk.wait_notification(lambda one: one.body == case.body)
        sound.wait_sound()

    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)
    assert (shown.summary, shown.app) == (case.summary, "Hooktray")
    assert sound.rms > 0.002
    desk.wait((folder / "seen").exists, what="the hook's side effect")
    row = desk.wait(lambda: _newest(live, case.event), what="the journal's row")
    assert (row["agent"], row["verdict"]) == (case.agent, "abstain")
    assert [(hook["name"], hook["status"]) for hook in row["hooks"]] == [("witness", "ok")]
    desk.wait(
        lambda: any(f"{silent} decisions without an opinion" in one.label for one in live.menu("Recent decisions")),
        what="the menu counts the decision",
    )
    desk.wait(lambda: _newest(live, case.event)["alerted"] == "sent", what="the row knows of its alert")


TOLD = "guard (Hooktray): not today"
CLAUDE_DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": TOLD}
DENIALS = [
    ("claude-code", "PreToolUse", "PreToolUse-Bash", {"hookSpecificOutput": CLAUDE_DENY}),
    ("starchild", "pre_tool_call", "pre_tool_call", {"decision": "block", "reason": TOLD}),
    ("x-code", "PreToolUse", "PreToolUse-shell", {"decision": "deny", "reason": TOLD}),
]


@pytest.mark.parametrize(("agent", "event", "payload", "native"), DENIALS, ids=[row[0] for row in DENIALS])
def test_a_denial_blocks_in_the_agents_own_form_and_says_what_and_why(
    desk: Desk, folder: Path, agent: str, event: str, payload: str, native: dict[str, Any]
) -> None:
    live = Live.fresh(desk, folder, configuration={"hooks": [{"event": "tool_before", "command": "./guard.sh"}]})
    live.script("guard.sh", 'cat >/dev/null; echo \'{"decision":"block","reason":"not today"}\'')
    assert live.relay(agent, event, recorded(agent, payload)).stdout == b""
    live.approve("guard")
    desk.clear_notifications()

    done = live.relay(agent, event, recorded(agent, payload))

    assert json.loads(done.stdout) == native
    assert done.returncode == 0
    shown = desk.wait_notification(lambda one: "blocked" in one.body)
    row = live.log()[0]
    assert shown.body == f"{row['tool']} · {row['subject']} · blocked by guard: not today"
    desk.wait(lambda: live.log()[0]["reason"] == "guard: not today", what="the journal's row")
    desk.wait(lambda: live.menu("Recent decisions")[0].label.startswith("✕"), what="the menu shows it")


def test_what_a_hung_tray_missed_is_announced_and_in_the_menu_once_it_goes_on(desk: Desk, folder: Path) -> None:
    live = Live.fresh(desk, folder)
    live.suspend()
    live.relay("claude-code", "Stop", recorded("claude-code", "Stop"), is_hung=True)

    live.resume()

    missed = "1 event was answered without the tray, which was busy: Claude Code Stop"
    desk.wait_notification(lambda one: one.body == missed)
    row = "1 decision without an opinion"
    desk.wait(lambda: any(row in one.label for one in live.menu("Recent decisions")), what="the menu shows it")


def test_approval_covers_exact_bytes_and_the_switch_stops_every_hook(desk: Desk, folder: Path) -> None:
    live = Live.fresh(desk, folder, configuration={"hooks": [{"event": "tool_before", "command": "./guard.sh"}]})
    script = live.script("guard.sh", 'cat >/dev/null; echo \'{"decision":"block","reason":"not today"}\'')
    payload = recorded("claude-code", "PreToolUse-Bash")
    live.approve("guard")

    with script.open("a") as file:
        file.write("\n")
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", payload).stdout
    assert live.states() == {"guard": "changed"}
    desk.wait_notification(lambda one: "changed since approval" in one.body)
    desk.wait(lambda: any("changed" in row.label for row in live.menu("Approvals")), what="the menu shows it")
    before = _icon(desk, live, IconState.ATTENTION)

    live.click("Hooks enabled")
    desk.wait(lambda: not live.switch().enabled, what="hooks are off")
    assert live.relay("claude-code", "PreToolUse", payload).stdout == b""
    desk.wait(lambda: [one["gate"] for one in live.log()[0]["hooks"]] == ["switch off"], what="the journal's row")
    assert len(before ^ _icon(desk, live, IconState.OFF)) > 30, "the icon has another shape"
    assert not desk.row("Hooks enabled", item=live.item).checked

    live.click("Hooks enabled")
    desk.wait(lambda: live.switch().enabled, what="hooks are on")
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", payload).stdout
    assert _icon(desk, live, IconState.ATTENTION), "the icon is back"


@pytest.fixture
def opened(desk: Desk, folder: Path) -> Iterator[Path]:
    with viewer(desk, folder) as note:
        yield note


def test_the_menu_pauses_tells_why_mutes_and_quits(desk: Desk, folder: Path, opened: Path) -> None:
    live = Live.fresh(desk, folder, configuration={"hooks": [{"event": "tool_before", "command": "./guard.sh"}]})
    live.script("guard.sh", 'cat >/dev/null; echo \'{"decision":"block","reason":"not today"}\'')
    payload = recorded("claude-code", "PreToolUse-Bash")
    live.approve("guard")
    live.relay("claude-code", "PreToolUse", payload)
    desk.wait(lambda: live.menu("Recent decisions")[0].label.startswith("✕"), what="the decision is in the menu")

    live.click("Recent decisions", "✕")
    desk.wait(opened.exists, what="the decision's page is opened")
    assert re.search(rf"/enter#[\w-]+:decisions%2F{live.log()[0]['id']}\"", Path(opened.read_text()).read_text())

    live.click("Pause", "30 minutes")
    paused = desk.wait(lambda: live.switch().paused_until, what="hooks are paused")
    assert 1700 < paused - time.time() <= 1800
    assert live.relay("claude-code", "PreToolUse", payload).stdout == b""
    assert _icon(desk, live, IconState.PAUSED)
    live.click("Pause", "Resume")
    desk.wait(lambda: not live.switch().paused_until, what="hooks run again")

    assert live.cli("off").returncode == 0
    desk.wait(lambda: live.menu("Approvals")[0].label.startswith("Switch hooks off"), what="the request is shown")
    live.click("Approvals", "Switch hooks off", "Allow")
    desk.wait(lambda: not live.switch().enabled, what="hooks are off")

    live.click("Alerts", "Mute sounds")
    desk.wait(lambda: live.menu("Alerts")[0].checked, what="sounds are muted")
    desk.clear_notifications()
    with desk.record() as sound:
        live.relay("claude-code", "Stop", recorded("claude-code", "Stop"))
        desk.wait_notification(lambda one: one.body == "Turn ended: All done.")
        live.click("Alerts", "Mute sounds")
        desk.wait(lambda: not live.menu("Alerts")[0].checked, what="sounds are heard again")
        live.relay("claude-code", "Notification", recorded("claude-code", "Notification-permission_prompt"))
        sound.wait_end(0.6)
    assert sound.seconds_heard < 1.1, "the bell of 0.7 s alone, without the muted chime of 0.6 s before it"

    live.click("Quit")
    assert live.process.wait(60) == 0


def _newest(live: Live, event: str) -> Any:
    """The latest row of this event that its hooks were asked for."""
    return next((row for row in live.log() if row["event"] == event and row["hooks"]), None)


def _icon(desk: Desk, live: Live, state: IconState) -> set[tuple[int, int]]:
    """What of the icon is drawn on the panel, once it shows this state."""
    return desk.wait(lambda: ink(desk, live.item, state), what=f"the icon says {state}")
