"""A guard that prints a line before its answer, with a real tray and a real relay."""

from __future__ import annotations

import json

from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

SCRIPT = """cat >/dev/null
echo 'Checking...'
echo '{"decision":"block","reason":"ask before you destroy"}'"""


def test_a_guard_that_prints_checking_before_its_refusal_refuses(house: House, plain: Plain) -> None:
    house.hook("guard", on="tool_before", script=SCRIPT, failure="allow")
    live = Live(plain, house.root / "home")  # where the guard is approved already
    live.start()

    answer = json.loads(live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout)["hookSpecificOutput"]

    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"] == "guard (Hooktray): ask before you destroy"
    (row,) = live.wait_log(1)
    assert "the lines before it were ignored" in live.cli("why", row["id"]).stdout.decode()
