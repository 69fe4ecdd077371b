"""The real command line of Cline: all scenes, what its hooks add, and its user's own hooks beside ours."""

from __future__ import annotations

import json

from clients.client import Session
from clients.cline import CLINE, FOLDER, OWN_HOOK
from clients.scenes import SCRIPTS, Scenes, Start
from clients.wires import Call
from connect.sites import tree
from guards import REFUSED

CONTEXTS = {"tool_before": "context-before-the-tool", "tool_after": "context-after-the-tool"}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "cline"} for event in CONTEXTS]


class TestCline(Scenes):
    client = CLINE
    scripts = SCRIPTS | {
        f"{event}.sh": f"echo '{json.dumps({'contextModification': text})}'" for event, text in CONTEXTS.items()
    }

    # The limit is fixed, and longer than a test may take.
    test_it_waits_no_longer_than_its_settings_say = None  # type: ignore[assignment]

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own hook is as it was, and it ran."""
        assert (one.home / FOLDER / "hooks" / "TaskComplete").read_text() == OWN_HOOK
        assert (one.home / "own-hook-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / FOLDER)

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_a_guard_reads_every_command_of_one_call(self, start: Start) -> None:
        one = start([], REFUSED)
        several = ["touch first", {"command": "touch", "args": ["forbidden"]}]
        one.model.calls = [Call("run_commands", {"commands": several})]

        one.turn()

        assert one.made() == set()
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]

    def test_a_form_that_it_passes_over_hides_no_command(self, start: Start) -> None:
        one = start([], REFUSED)
        one.model.calls = [Call("run_commands", {"cmd": "true", "command": "touch forbidden"})]

        one.turn()

        assert one.made() == set()
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
