"""The real command line of Cline: all scenes, what its hooks add, and its user's own hooks beside ours."""

from __future__ import annotations

from collections.abc import Mapping

from clients.client import Session, Turn
from clients.cline import CLINE, FOLDER, OWN_HOOK
from clients.scenes import Scenes
from clients.wires import Call
from connect.sites import tree

# Forms of its call that hide the refused command behind another one.
SEVERAL = {"commands": ["touch first", {"command": "touch", "args": ["forbidden"]}]}
PASSED_OVER = {"cmd": "true", "command": "touch forbidden"}


class TestCline(Scenes):
    client = CLINE
    contexts = ("tool_before", "tool_after")
    context_dialect = "cline"

    # The limit is fixed, and longer than a test may take.
    test_it_waits_no_longer_than_its_settings_say = None  # type: ignore[assignment]

    @classmethod
    def context(cls, kind: str) -> Mapping[str, str]:
        return {"contextModification": f"context-{kind}"}

    @classmethod
    def asked(cls, one: Session, calls: Mapping[str, Call]) -> Turn:
        """Runs each refused call in its own turn, because a refusal ends the turn."""
        refused = ("masked", "forbidden", "asked")
        first = one.ask({name: calls[name] for name in calls if name not in refused})
        for name in refused:
            turn = one.ask({name: calls[name]})
            first.made.update(turn.made)
            first.rows.extend(row for row in turn.rows if row["kind"].startswith("tool_"))
        return first

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own hook is as it was, and it ran."""
        assert (one.home / FOLDER / "hooks" / "TaskComplete").read_text() == OWN_HOOK
        assert (one.home / "own-hook-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / FOLDER)

    def test_a_guard_reads_every_command_of_one_call_and_every_form_of_it(self, connected: Session) -> None:
        for form in (SEVERAL, PASSED_OVER):
            turn = connected.ask({"hidden": Call("run_commands", form)})

            assert (turn.made, turn.verdicts("tool_before")) == (set(), ["deny"])
