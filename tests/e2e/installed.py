"""A home with two guards and an agent that is connected to it, and the verdicts of its installed relay."""

from __future__ import annotations

import json

from desk import wait
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

LONG = 60.0  # seconds; longer than anything here takes
DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''


class Installed:
    """A home with two guards, and an agent that is connected to it."""

    def __init__(self, house: House, plain: Plain) -> None:
        self.paths, self.plain = house.paths, plain
        (plain.folder / ".claude").mkdir()
        house.hook("default", on="tool_before", tool="Bash", script=DENY)
        house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
        self.switch = house.stores.switch
        self.live = Live(plain, house.root / "home")

    def connect(self) -> None:
        self.live.start()
        self.live.connect("claude-code")
        wait(lambda: self.paths.relay_table.exists(), what="the relay's table")

    @property
    def guarded(self) -> bool:
        return "\nguard=claude-code" in self.paths.relay_table.read_text()

    def ruin(self) -> None:
        """No tray, and nothing that an engine could read."""
        self.live.process.kill()
        self.live.process.wait(LONG)
        for path in self.paths.database.parent.glob(f"{self.paths.database.name}*"):
            path.write_bytes(b"ruined")

    def verdict(self, tool: str) -> str:
        body = json.dumps(PRE_TOOL_USE | {"tool_name": tool}).encode()
        done = self.plain.run([self.paths.relay, "claude-code", "PreToolUse"], input=body, timeout=LONG)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"]) if done.stdout else "silence"
