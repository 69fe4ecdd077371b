"""What the tray itself answers where lost approvals guard."""

from __future__ import annotations

from tray.engine.lost_approvals import LostApprovals
from tray.model.decision import Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.guard import Guard
from tray.model.hook import Failure


def verdict(tool: str, *failures: Failure, names: tuple[str, ...] = ("Bash",)) -> Verdict | None:
    guards = [Guard(agent="claude-code", event="PreToolUse", failure=one, names=names) for one in failures]
    event = Event(id="e", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, tool=Tool(name=tool))
    outcome = LostApprovals(lambda: guards).judge(event)
    return outcome.output.verdict if outcome else None


def test_the_strictest_guard_of_a_call_counts() -> None:
    assert verdict("Bash", Failure.ASK) is Verdict.ASK
    assert verdict("Bash", Failure.ASK, Failure.BLOCK, Failure.ALLOW) is Verdict.DENY


def test_a_call_that_no_guard_matches_or_that_guards_let_go_on_is_nothing_to_it() -> None:
    assert verdict("Read", Failure.BLOCK) is None
    assert verdict("Bash", Failure.ALLOW) is None
    assert verdict("Bash") is None
