"""A home in which hooks start agents, in every way to get away from their parents."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from desk import wait
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

from tray.model.decision import Record

LONG = 60.0  # seconds; longer than anything here takes
WAYS = {
    "the hook waits for the agent": "sh {inner}",
    "in the session of the hook": "sh {inner} >/dev/null 2>&1 &",
    "in a session of its own": "setsid sh {inner} >/dev/null 2>&1 &",
    "without variables": 'setsid env -i PATH="$PATH" sh {inner} >/dev/null 2>&1 &',
    "without parents": "(setsid sh -c 'setsid sh {inner} &' >/dev/null 2>&1 &)",
    "without parents or variables": "(setsid env -i PATH=\"$PATH\" sh -c 'setsid sh {inner} &' >/dev/null 2>&1 &)",
}


class Nest:
    """A home in which hooks start agents, each of which is a script that runs a relay."""

    def __init__(self, house: House, plain: Plain, folder: Path) -> None:
        self.house, self.folder = house, folder
        self.live = Live(plain, house.root / "home")

    def agent(self, name: str, command: str) -> Path:
        """A script that acts like an agent: it reports one tool call and keeps the answer in the file `name`."""
        payload, script = self.folder / f"{name}.json", self.folder / f"{name}.sh"
        payload.write_text(json.dumps(PRE_TOOL_USE | {"tool_input": {"command": command}, "tool_use_id": name}))
        relay = shlex.join(self.live.relay_argv("claude-code", "PreToolUse"))
        parts = [shlex.quote(str(self.folder / part)) for part in (f"{name}.tmp", name)]
        script.write_text(f"{relay} <{shlex.quote(str(payload))} >{parts[0]}\nmv {parts[0]} {parts[1]}\n")
        return script

    def starter(self, matcher: str, line: str, name: str = "starter") -> None:
        script = f"cat >/dev/null; echo run >>{self.folder}/{name}-runs; {line}"
        self.house.hook(name, on="tool_before", matcher=matcher, script=script, timeout=LONG)

    def guards(self) -> None:
        note = f"cat >/dev/null; echo asked >>{self.folder}/guard-runs"
        deny = """echo '{"decision":"block","reason":"the guard says no"}'"""
        self.house.hook("guard", on="tool_before", matcher="rm -rf", script=f"{note}; {deny}")
        self.house.hook("rule", on="tool_before", matcher="mkfs", type="rule", decision="deny", reason="the rule")

    def count(self, name: str) -> int:
        path = self.folder / f"{name}-runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def answer(self, name: str) -> dict[str, Any]:
        wait((self.folder / name).exists, what=f"the answer to {name}")
        text = (self.folder / name).read_text()
        return dict(json.loads(text)["hookSpecificOutput"]) if text else {}

    def gates(self, command: str) -> dict[str, str]:
        """Each hook of this call's row with its gate."""
        return {str(hook["name"]): str(hook["gate"]) for hook in self.row(command).hooks}

    def row(self, command: str) -> Record:
        def find() -> Record | None:
            return next((row for row in self.house.stores.journal.recent(50) if command in row.payload), None)

        return wait(find, what=f"the row of {command}")
