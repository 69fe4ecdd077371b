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

HOOKS = [
    {"name": "no-destroying", "event": "tool_before", "command": "./no-destroying.sh"},
    {"name": "done", "event": "turn_end", "command": "./done.sh"},
]
# So many alerts in a minute would be told in one summary; the picture shows the one that blocks.
ALERTS = {name: {"notify": False} for name in ("approval_pending", "switched", "turn_end")}
GUARD = 'grep -q "rm -rf" && echo \'{"decision":"block","reason":"rm -rf is not for agents"}\'; exit 0'
STORY: list[tuple[str, str, str, dict[str, Any]]] = [
    ("claude-code", "SessionStart", "SessionStart-clear", {"cwd": "/home/you/web", "source": "startup"}),
    ("claude-code", "PreToolUse", "PreToolUse-Bash", {"cwd": "/home/you/web", "tool_input": {"command": "npm test"}}),
    ("starchild", "on_session_start", "on_session_start", {"cwd": "/home/you/landing"}),
    ("shelley", "end-of-turn", "end-of-turn", {"slug": "fix-the-parser", "final_response": "All 214 tests pass."}),
    ("claude-code", "Stop", "Stop", {"cwd": "/home/you/web"}),
    ("x-code", "PreToolUse", "PreToolUse-shell", {"session": {"cwd": "/home/you/api", "modelId": "m"}}),
]


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        Desk(Path(one), size=(960, 340)) as desk,
    ):
        live = Live.fresh(desk, Path(two), configuration={"hooks": HOOKS, "alerts": ALERTS})
        live.script("no-destroying.sh", GUARD)
        live.script("done.sh", "cat >/dev/null")
        for hook in HOOKS:
            live.approve(hook["name"])
        for agent, event, payload, more in STORY:
            desk.clear_notifications()
            live.relay(agent, event, {**json.loads(recorded(agent, payload)), **more})
        desk.wait_notification(lambda one: "blocked" in one.body)
        desk.wait(lambda: len(live.menu("Recent decisions")) == len(STORY), what="all of it is in the menu")
        with desk.open_menu(["Recent decisions"], live.item):
            desk.screenshot(ROOT / "docs" / "tray.png")


if __name__ == "__main__":
    main()
