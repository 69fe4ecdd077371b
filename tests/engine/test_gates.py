"""Which gate keeps a hook from running, by how deep below other hooks its event comes from."""

from __future__ import annotations

import pytest
from agents.recordings import built
from engine.declared import COMMAND, built_hook

from tray.engine.gates import MAX_DEPTH, gate
from tray.model.decision import Gate, Verdict
from tray.model.event import EventKind
from tray.model.hook import Action, Rule

RULE = Rule(verdict=Verdict.DENY, reason="no")


@pytest.mark.parametrize(
    ("action", "depth", "expected"),
    [
        (COMMAND, 0, None),
        (COMMAND, MAX_DEPTH, None),
        (COMMAND, MAX_DEPTH + 1, Gate.TOO_DEEP),
        (RULE, MAX_DEPTH + 1, None),
    ],
)
def test_a_hook_runs_three_levels_below_other_hooks_and_a_rule_at_any(
    action: Action, depth: int, expected: Gate | None
) -> None:
    event = built(id="1", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, depth=depth)

    assert gate(built_hook(action), event, switch_gate=None) is expected
