"""What the tray itself answers where lost approvals guard."""

from __future__ import annotations

from tray.engine.own_answers import LostApprovals
from tray.model.decision import Outcome, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.hook import Failure, Guard


def judged(tool: str, *failures: Failure, names: tuple[str, ...] = ("Bash",)) -> Outcome | None:
    guards = [Guard(agent="claude-code", event="PreToolUse", failure=one, names=names) for one in failures]
    event = Event(id="e", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, tool=Tool(name=tool))
    return LostApprovals(guards).judge(event)


def verdict(tool: str, *failures: Failure) -> Verdict | None:
    outcome = judged(tool, *failures)
    return outcome.output.verdict if outcome else None


def test_the_strictest_guard_of_a_call_counts() -> None:
    assert verdict("Bash", Failure.ASK) is Verdict.ASK
    assert verdict("Bash", Failure.ASK, Failure.BLOCK, Failure.ALLOW) is Verdict.DENY


def test_a_call_that_no_guard_matches_is_nothing_to_it() -> None:
    assert verdict("Read", Failure.BLOCK) is None
    assert verdict("Bash") is None
