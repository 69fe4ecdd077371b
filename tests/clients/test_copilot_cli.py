"""The real Copilot CLI: all scenes, what its hooks add, its own question, a project's line of Claude Code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from clients.client import LONG, Session, session
from clients.copilot_cli import COPILOT_CLI, EXISTING
from clients.scenes import Scenes, Start
from clients.terminals import enter, in_a_terminal, leave
from clients.wires import Call
from connect.sites import tree
from desk import wait
from guards import ASKED, HALT, REFUSED

NEVER = {"name": "never", "type": "rule", "decision": "deny", "reason": "never-end"}
SUBAGENT = {"agent_type": "general-purpose", "name": "sub", "description": "a step", "prompt": "do it"}
CAMEL = "preToolUse"  # Copilot's own name of an event, under which somebody may have written our line by hand
REFUSED_BY_HOOK = "Permission denied by a PermissionRequest hook"  # what it shows


class TestCopilotCli(Scenes):
    client = COPILOT_CLI
    contexts = ("session_start", "prompt", "tool_before", "tool_after")
    context_dialect = "copilot-cli"

    @classmethod
    def context(cls, kind: str) -> Mapping[str, str]:
        return {"additionalContext": f"context-{kind}"}

    def settings_hold_what_was_there(self, one: Session) -> None:
        """The user's own files are as they were, and the hook in there ran."""
        for name, value in EXISTING.items():
            assert json.loads((one.home / ".copilot" / name).read_text()) == value
        assert (one.home / "own-hook-ran").exists()

    def users_files(self, one: Session) -> object:
        return tree(one.home / ".copilot")

    @pytest.fixture
    def unconnected(self, tmp_path: Path) -> Iterator[Session]:
        calls = [self.client.shell_call(line) for line in ("touch forbidden", "touch wanted")]
        one = session(self.client, tmp_path, calls, [REFUSED])
        yield one
        one.close()

    def test_a_projects_line_of_claude_code_is_answered_as_copilot_cli(self, unconnected: Session) -> None:
        """Copilot runs the hooks of a trusted project's .claude/settings.json, too."""
        connect_project(unconnected, "claude-code")
        trust(unconnected)

        unconnected.turn()

        assert unconnected.made() == {"wanted"}
        assert "refused-by-a-rule" in unconnected.model.results()[0]
        assert [row["verdict"] for row in unconnected.rows("tool_before")] == ["deny", "abstain"]

    def test_a_projects_hooks_run_only_in_a_folder_that_its_user_trusts(self, unconnected: Session) -> None:
        connect_project(unconnected, "copilot-cli")
        assert unconnected.turn().returncode == 0
        assert (unconnected.made(), unconnected.rows()) == ({"forbidden", "wanted"}, [])
        said = f"off: start `copilot` in {unconnected.project} and say that you trust it"
        assert unconnected.trust().startswith(said)
        (unconnected.project / "forbidden").unlink()

        trust(unconnected)

        assert unconnected.trust() == "trusted"
        unconnected.turn()
        assert unconnected.made() == {"wanted"}
        assert [row["verdict"] for row in unconnected.rows("tool_before")] == ["deny", "abstain"]

    def test_a_line_under_the_agents_own_names_guards_as_well(self, connected: Session) -> None:
        def camel(text: str) -> str:
            said = json.loads(text)
            return json.dumps(said | {"hooks": {CAMEL: said["hooks"]["PreToolUse"]}})

        with connected.edited(camel):
            calls = {name: self.calls()[name] for name in ("forbidden", "original")}
            turn = connected.ask(calls, reports_its_end=False)

        assert turn.made == {"rewritten"}
        found = [(row["event"], row["verdict"]) for row in turn.rows]
        assert found == [("PreToolUse", "deny"), ("PreToolUse", "abstain")]

    @pytest.mark.parametrize(("event", "calls"), [("subagent_end", [Call("task", SUBAGENT)]), ("turn_end", [])])
    def test_a_turn_that_hooks_always_refuse_to_end_ends_after_eight_refusals(
        self, start: Start, event: str, calls: list[Call]
    ) -> None:
        """Copilot itself limits the refusals of a turn's end, and not those of a subagent's."""
        one = start([], NEVER | {"event": event})
        one.model.calls = calls

        assert one.turn().returncode == 0

        assert [row["verdict"] for row in one.rows(event)][:9] == [*["deny"] * 8, "abstain"]

    def test_a_turn_in_a_terminal(self, start: Start) -> None:
        """Hooktray's question and Copilot's own appear, each with a notification; a hook stops the latter."""
        one = start(
            [f"touch {name}" for name in ("forbidden", "asked", "wanted", "halted", "other")],
            *(REFUSED, ASKED | {"name": "ask", "matcher": "asked"}),
            HALT | {"event": "permission_request", "matcher": "halted"},
        )
        trust(one)
        with in_a_terminal(one) as terminal:
            wait(lambda: "Interactive" in terminal.text, LONG, "the prompt")
            enter(terminal, "hello")
            wait(lambda: "Hook permission request" in terminal.text, LONG, "our question")
            wait(lambda: "asked-by-a-rule" in terminal.text, LONG, "its reason")
            wait(lambda: len(one.rows("notification")) == 1, LONG, "the first notification")
            terminal.type("\r")
            wait(lambda: "Do you want to run this command?" in terminal.text, LONG, "its own question")
            wait(lambda: len(one.rows("notification")) == 2, LONG, "the second notification")
            terminal.type("\r")
            wait(lambda: f"{REFUSED_BY_HOOK}: halt (Hooktray): halted-by-a-hook" in terminal.text, LONG, "the reason")
            leave(one, terminal, "/exit")

        assert one.made() == {"asked", "wanted"}
        assert len(one.model.requests) == 4  # neither the last call nor an answer
        assert "Denied by preToolUse hook: no (Hooktray): refused-by-a-rule" in terminal.text
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "ask", "abstain", "abstain"]
        assert {row["event"] for row in one.rows("permission_request")} == {"PermissionRequest"}


def connect_project(one: Session, agent: str) -> None:
    argv = one.live.argv("connect", agent, "--scope", "project", "--yes")
    done = subprocess.run(
        argv, cwd=one.project, env=dict(one.environment), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def trust(one: Session) -> None:
    """What its user says in its dialogue, once and for all."""
    (one.home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(one.project)]}))
