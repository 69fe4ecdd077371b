"""The project of an event; and a call that two lines report: one decision, and each line gets it."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from clock import Clock
from desk import wait
from house import House
from msgspec.structs import replace

from tray.engine.plan import EventSearch, matches
from tray.engine.receive import LARGEST_REPORT, REPORT_MEMORY, CallReports, parse_event
from tray.execution.process import CANCELLED
from tray.model.decision import Answer, Decision, Outcome, Status, Verdict
from tray.model.event import Event, RelayRequest
from tray.model.hook import Match

SESSION = "3b137d64-23a4-48a0-95a7-745a777a6328"
CALL = {
    "session_id": SESSION,
    "transcript_path": f"/home/dev/.qwen/projects/-p/chats/{SESSION}.jsonl",
    "cwd": "/p",
    "hook_event_name": "PreToolUse",
    "timestamp": "2026-11-22T11:15:01.506Z",
    "tool_name": "run_shell_command",
    "tool_input": {"command": "rm -rf build"},
    "tool_use_id": "toolu_1",
}
COUNTING = 'echo x >>"{}/turns"; echo \'{{"decision":"block","reason":"no"}}\''


@pytest.fixture
def turns(house: House, tmp_path: Path) -> Path:
    """Where a guard that refuses each call counts its turns."""
    house.hook("guard", on="tool_before", script=COUNTING.format(tmp_path))
    return tmp_path / "turns"


def report(house: House, line: str, payload: dict[str, Any] = CALL) -> Answer:
    answer = house.relay(line, "PreToolUse", payload, id=f"{line:0>32}")
    assert isinstance(answer, Answer)
    return answer


def count(turns: Path) -> int:
    return len(turns.read_text().splitlines())


def test_the_second_line_gets_the_first_ones_decision(house: House, turns: Path) -> None:
    first = report(house, "qwen-code")

    second = report(house, "claude-code", CALL | {"timestamp": "2026-11-22T11:15:01.900Z"})

    assert second == first
    assert json.loads(second.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "guard (Hooktray): no"
    assert count(turns) == len(house.decisions) == 1
    assert (house.last.agent, house.last.via_agent, house.last.verdict) == ("qwen-code", "", Verdict.DENY)


def test_a_line_of_another_agent_is_named_in_the_row(house: House, turns: Path) -> None:
    report(house, "claude-code")

    assert (house.last.agent, house.last.via_agent) == ("qwen-code", "claude-code")


def test_the_same_line_again_is_judged_again(house: House, turns: Path) -> None:
    report(house, "qwen-code")
    report(house, "qwen-code")

    assert count(turns) == len(house.decisions) == 2


OTHERS = {
    "another input": {"tool_input": {"command": "rm -rf /"}},
    "another id": {"tool_use_id": "toolu_2"},
    "no id": {"tool_use_id": ""},
    "another event": {"hook_event_name": "PostToolUse", "tool_response": {"llmContent": "x"}},
    "another session": {"session_id": "b", "transcript_path": "/home/dev/.qwen/projects/-p/chats/b.jsonl"},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_is_not_the_same_call_is_judged_by_itself(house: House, turns: Path, other: dict[str, Any]) -> None:
    house.hook("after", on="tool_after", script=COUNTING.format(turns.parent))
    report(house, "qwen-code")

    report(house, "claude-code", CALL | other)

    assert count(turns) == len(house.decisions) == 2


def test_a_second_report_waits_for_the_first_ones_decision(house: House, tmp_path: Path) -> None:
    house.hook(
        "slow",
        on="tool_before",
        script=f"touch {tmp_path}/on; until [ -e {tmp_path}/go ]; do sleep 0.05; done\n" + COUNTING.format(tmp_path),
    )
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda line=line: answers.append(report(house, line)), name=line)
        for line in ("qwen-code", "claude-code")
    ]
    threads[0].start()
    wait((tmp_path / "on").exists, what="the first report's hook")
    threads[1].start()
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join(60)

    assert len(answers) == 2
    assert answers[0] == answers[1]
    assert count(tmp_path / "turns") == len(house.decisions) == 1


def test_without_the_id_of_a_call_each_report_is_judged(house: House, tmp_path: Path) -> None:
    house.hook("watch", on="notification", script=f'echo x >>"{tmp_path}/turns"')
    told = {"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "May I?"}
    note = {key: value for key, value in CALL.items() if not key.startswith("tool")} | told

    assert house.relay("qwen-code", "Notification", note) == Answer()
    assert house.relay("claude-code", "Notification", note) == Answer()

    assert count(tmp_path / "turns") == 2


def event_of(line: str, id: str) -> Event:
    request = RelayRequest(
        agent="qwen-code", event="PreToolUse", id=id, body=json.dumps(CALL).encode(), via_agent=line
    )
    return parse_event(request, 1)


CUT = Decision(outcomes=(Outcome(hook="guard", status=Status.FAILED, cause=CANCELLED),))


@pytest.mark.parametrize("cut", [None, CUT], ids=["handed back", "cancelled"])
def test_a_first_report_without_a_decision_leaves_the_second_to_be_judged(cut: Decision | None) -> None:
    reports, first = CallReports(), event_of("", "1")
    assert reports.earlier(first) is None
    found = reports.earlier(event_of("claude-code", "2"))
    assert found is not None

    if cut is None:
        reports.decided(first, None)
    else:
        reports.decided(first, cut)

    assert reports.wait(found, 20) is None
    assert reports.earlier(event_of("claude-code", "3")) is None


@pytest.mark.parametrize("is_waiting", [True, False], ids=["before", "after"])
def test_a_second_report_is_judged_by_itself_once_the_first_line_reports_the_call_again(is_waiting: bool) -> None:
    reports, answers = CallReports(), queue.Queue[Decision | None]()
    reports.earlier(event_of("", "1"))
    found = reports.earlier(event_of("claude-code", "2"))
    assert found is not None
    waiter = threading.Thread(target=lambda: answers.put(reports.wait(found, 600)), daemon=True)
    if is_waiting:
        waiter.start()
        wait(lambda: found.signal is not None, what="the second report waits")

    assert reports.earlier(event_of("", "3")) is None

    if not is_waiting:
        waiter.start()
    assert answers.get(timeout=60) is None


def test_a_decision_counts_for_ten_seconds() -> None:
    clock = Clock(0.0)
    reports, first = CallReports(clock), event_of("", "1")
    reports.earlier(first)
    reports.decided(first, Decision(verdict=Verdict.DENY))

    clock.now = 9.9
    found = reports.earlier(event_of("claude-code", "2"))
    assert found is not None
    assert reports.wait(found, 0) == Decision(verdict=Verdict.DENY)
    clock.now = 10.1
    assert reports.earlier(event_of("claude-code", "3")) is None


def test_large_calls_are_kept_in_a_bounded_memory_the_last_ones_first() -> None:
    reports, body = CallReports(), b" " * LARGEST_REPORT

    def call(line: str, number: int) -> Event:
        one = event_of(line, f"{line}{number}")
        assert one.tool is not None
        return replace(one, body=body, tool=replace(one.tool, call=str(number)))

    for number in range(20):
        assert reports.earlier(call("", number)) is None

    assert len(reports._reports) == REPORT_MEMORY // LARGEST_REPORT
    assert reports.earlier(call("claude-code", 19)) is not None
    assert reports.earlier(call("claude-code", 0)) is None, "it is judged twice"


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


def test_without_a_repository_the_project_is_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(tmp_path))
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
