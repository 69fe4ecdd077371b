"""Renders docs/tray.png, the README's picture, from the real tray: `.venv/bin/python docs/picture.py`."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from desk import Desk  # noqa: E402
from live import Live, recorded  # noqa: E402

RULE = {"event": "tool_before", "type": "rule"}
HOOKS = [
    {**RULE, "name": "no-destroying", "matcher": "rm -rf", "decision": "deny", "reason": "ask before you destroy"},
    {**RULE, "name": "no-force", "matcher": "--force", "decision": "ask", "reason": "it rewrites history"},
]
# So many alerts in a minute would be shown as one summary; the picture shows the one that blocks.
ALERTS = {name: {"notify": False} for name in ("approval_pending", "switched", "turn_end")}
PUSH = "git push --force"
STORY: list[tuple[str, str, str, dict[str, Any]]] = [
    ("claude-code", "SessionStart", "SessionStart-clear", {"cwd": "/home/you/web", "source": "startup"}),
    ("claude-code", "PreToolUse", "PreToolUse-Bash", {"cwd": "/home/you/web", "tool_input": {"command": PUSH}}),
    ("starchild", "on_session_start", "on_session_start", {"cwd": "/home/you/landing"}),
    ("shelley", "end-of-turn", "end-of-turn", {"slug": "fix-the-parser", "final_response": "All 214 tests pass."}),
    ("claude-code", "Stop", "Stop", {"cwd": "/home/you/web"}),
    (
        "claude-code",
        "PreToolUse",
        "PreToolUse-Bash",
        {"cwd": "/home/you/api", "tool_input": {"command": "rm -rf build"}},
    ),
]
SHOWN = 3  # the refusal, the question, and the number of the others


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        Desk(Path(one), size=(960, 340)) as desk,
    ):
        live = Live.fresh(desk, Path(two), configuration={"hooks": HOOKS, "alerts": ALERTS})
        for hook in HOOKS:
            live.approve(hook["name"])
        for agent, event, payload, more in STORY:
            desk.clear_notifications()
            live.relay(agent, event, {**json.loads(recorded(agent, payload)), **more})
        desk.wait_notification(lambda one: "blocked" in one.body)
        desk.wait(lambda: len(live.menu("Recent decisions")) == SHOWN, what="all of it is in the menu")
        with desk.open_menu(["Recent decisions"], live.item):
            desk.screenshot(ROOT / "docs" / "tray.png")


if __name__ == "__main__":
    main()
