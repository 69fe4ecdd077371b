"""The real Copilot CLI: all scenes, what its hooks add, its own question, a project's line of Claude Code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clients.client import LONG, Session, session
from clients.copilot_cli import COPILOT_CLI, EXISTING, program
from clients.scenes import SCRIPTS, Scenes, Start
from clients.wires import Call
from connect.sites import tree
from desk import wait
from guards import ASKED, HALT, REFUSED, REWRITE
from terminal import Terminal

CONTEXTS = {
    "session_start": "context-of-the-start",
    "prompt": "context-of-the-prompt",
    "tool_before": "context-before-the-tool",
    "tool_after": "context-after-the-tool",
}
SAYING = [{"name": event, "event": event, "command": f"./{event}.sh", "dialect": "copilot-cli"} for event in CONTEXTS]


NEVER = {"name": "never", "event": "subagent_end", "type": "rule", "decision": "deny", "reason": "never-end"}
NEVER_TURN = NEVER | {"event": "turn_end"}
SUBAGENT = {"agent_type": "general-purpose", "name": "sub", "description": "a step", "prompt": "do it"}
CAMEL = "preToolUse"  # Copilot's own name of an event, under which somebody may have written our line by hand
REFUSED_BY_HOOK = "Permission denied by a PermissionRequest hook"  # what it shows


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

    def users_files(self, one: Session) -> object:
        return tree(one.home / ".copilot")

    def test_contexts_reach_the_model(self, start: Start) -> None:
        one = start(["touch wanted"], *SAYING)

        assert one.turn().returncode == 0

        assert [text for text in CONTEXTS.values() if text not in one.model.told()] == []

    def test_a_projects_line_of_claude_code_is_answered_as_copilot_cli(self, tmp_path: Path) -> None:
        """Copilot runs the hooks of a trusted project's .claude/settings.json, too."""
        calls = [self.client.shell_call(line) for line in ("touch forbidden", "touch wanted")]
        one = session(self.client, tmp_path, calls, [REFUSED], self.scripts)
        try:
            connect_project(one, "claude-code")
            trust(one)

            one.turn()

            assert one.made() == {"wanted"}
            assert "refused-by-a-rule" in one.model.results()[0]
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "abstain"]
        finally:
            one.close()

    def test_a_projects_hooks_run_only_in_a_folder_that_its_user_trusts(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path, [self.client.shell_call("touch forbidden")], [REFUSED], self.scripts)
        try:
            connect_project(one, "copilot-cli")
            assert one.turn().returncode == 0
            assert (one.made(), one.rows()) == ({"forbidden"}, [])
            assert one.trust().startswith(f"off: start `copilot` in {one.project} and say that you trust it")
            (one.project / "forbidden").unlink()

            trust(one)

            assert one.trust() == "trusted"
            one.turn()
            assert one.made() == set()
            assert [row["verdict"] for row in one.rows("tool_before")] == ["deny"]
        finally:
            one.close()

    def test_a_line_under_the_agents_own_names_guards_as_well(self, start: Start) -> None:
        one = start(["touch forbidden", "touch original"], REFUSED, REWRITE)
        said = json.loads(one.settings.read_text())
        said["hooks"] = {CAMEL: said["hooks"]["PreToolUse"]}
        one.settings.write_text(json.dumps(said))

        one.turn()

        assert one.made() == {"rewritten"}
        assert [(row["event"], row["verdict"]) for row in one.rows()] == [
            ("PreToolUse", "deny"),
            ("PreToolUse", "abstain"),
        ]

    @pytest.mark.parametrize("never", [NEVER, NEVER_TURN], ids=["of a subagent", "of a turn"])
    def test_an_end_that_is_always_refused_comes_all_the_same(self, start: Start, never: dict[str, Any]) -> None:
        """Copilot itself limits the refusals of a turn's end, and not those of a subagent's."""
        one = start([], never)
        one.model.calls = [Call("task", SUBAGENT)] if never is NEVER else []

        assert one.turn().returncode == 0

        verdicts = [row["verdict"] for row in one.rows(str(never["event"]))]
        assert verdicts[:9] == [*["deny"] * 8, "abstain"]

    def test_a_turn_in_a_terminal(self, start: Start) -> None:
        """Our question and its own are asked there, and each is notified."""
        one = start(
            ["touch forbidden", "touch asked", "touch wanted"], REFUSED, ASKED | {"name": "ask", "matcher": "asked"}
        )
        trust(one)
        terminal = Terminal(list(program()), one.project, dict(one.environment))
        try:
            enter(terminal, "hello")
            wait(lambda: "Hook permission request" in terminal.text, LONG, "our question")
            wait(lambda: "asked-by-a-rule" in terminal.text, LONG, "its reason")
            wait(lambda: len(one.rows("notification")) == 1, LONG, "the first notification")
            terminal.type("\r")
            wait(lambda: "Do you want to run this command?" in terminal.text, LONG, "its own question")
            wait(lambda: len(one.rows("notification")) == 2, LONG, "the second notification")
            terminal.type("\r")
            one.wait_rows("turn_end")
            leave(one, terminal)
        finally:
            terminal.close()

        assert one.made() == {"asked", "wanted"}
        assert "Denied by preToolUse hook: no (Hooktray): refused-by-a-rule" in terminal.text
        assert [row["verdict"] for row in one.rows("tool_before")] == ["deny", "ask", "abstain"]
        assert [row["event"] for row in one.rows("permission_request")] == ["PermissionRequest"]

    def test_a_hook_stops_the_agent_at_its_own_question(self, start: Start) -> None:
        one = start(["touch wanted", "touch other"], HALT | {"event": "permission_request"})
        trust(one)
        terminal = Terminal(list(program()), one.project, dict(one.environment))
        try:
            enter(terminal, "hello")
            one.wait_rows("permission_request")
            wait(lambda: f"{REFUSED_BY_HOOK}: halt (Hooktray): halted-by-a-hook" in terminal.text, LONG, "the reason")
            leave(one, terminal)
        finally:
            terminal.close()

        assert (one.made(), len(one.model.requests)) == (set(), 1)  # neither the call nor another one, nor an answer


def enter(terminal: Terminal, text: str) -> None:
    wait(lambda: "Interactive" in terminal.text, LONG, "the prompt")
    terminal.type(text)
    wait(lambda: text in terminal.text, LONG, "the typed text")
    terminal.type("\r")


def leave(one: Session, terminal: Terminal) -> None:
    terminal.type("/exit")
    wait(lambda: "/exit" in terminal.text, LONG, "the typed command")
    terminal.type("\r")
    one.wait_rows("session_end")
    terminal.process.wait(LONG)


def connect_project(one: Session, agent: str) -> None:
    argv = one.live.argv("connect", agent, "--scope", "project", "--yes")
    done = subprocess.run(
        argv, cwd=one.project, env=dict(one.environment), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def trust(one: Session) -> None:
    """What its user says in its dialogue, once and for all."""
    (one.home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(one.project)]}))
