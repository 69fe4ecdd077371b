"""The real Copilot CLI: all scenes, what its hooks add, its own question, a project's line of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path

from clients.client import Session, session
from clients.copilot_cli import COPILOT_CLI, EXISTING
from clients.scenes import SCRIPTS, Scenes, Start
from connect.sites import tree

CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_before": "context-before-the-tool",
    "tool_after": "context-after-the-tool",
}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "copilot-cli"} for event in CONTEXTS]


class TestCopilotCli(Scenes):
    client = COPILOT_CLI
    scripts = SCRIPTS | {
        f"{event}.sh": f"echo '{json.dumps({'additionalContext': text})}'" for event, text in CONTEXTS.items()
    }

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own files are as they were, and the hook in there ran."""
        for name, value in EXISTING.items():
            assert json.loads((one.home / ".copilot" / name).read_text()) == value
        assert (one.home / "own-hook-ran").exists()

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path)
        try:
            before = tree(one.home / ".copilot")
            one.connect()
            connected = one.settings.read_bytes()
            again = one.hooktray("connect", self.client.agent, "--yes")
            assert (again.returncode, one.settings.read_bytes()) == (0, connected)

            done = one.hooktray("disconnect", self.client.agent, "--yes")

            assert done.returncode == 0, done.stderr.decode()
            assert tree(one.home / ".copilot") == before
        finally:
            one.close()

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []
