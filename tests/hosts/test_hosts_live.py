"""Each agent's own loop with a real relay in its configuration, a running tray behind it, and a hook that answers.

The agent has nothing to complain of in whatever we answer, for all of its events.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headless
import patient_relay
import pytest
from desk import wait
from hosts import claude_code, shelley, starchild, x_code
from hosts.process import Hook, Report
from house import House
from plain import Plain

from tray.agents.protocol import spec
from tray.agents.registry import AGENTS
from tray.model.event import Capability

TESTS = Path(__file__).parents[1]
RUNS: dict[str, Callable[[str, str, bytes, Hook | None], Report]] = {
    "claude-code": claude_code.run,
    "shelley": shelley.run,
    "starchild": starchild.run,
    "x-code": x_code.run,
}
# The hook says what the test has written beside it; it runs as the approved copy, so it asks where it came from.
HOOK = """cat >/dev/null
cat "$HOOK_SOURCE_DIR/out"
cat "$HOOK_SOURCE_DIR/err" >&2
exit "$(cat "$HOOK_SOURCE_DIR/code")\"
"""
REFUSED = {"behavior": "deny", "message": "no"}
REQUEST = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": REFUSED}}


@dataclass
class Agent:
    """One agent whose hooks are our relay, and the folder in which our hook finds its answer."""

    name: str
    home: Path
    folder: Path

    def says(self, out: object = "", err: str = "", code: int = 0) -> None:
        (self.folder / "out").write_text(out if isinstance(out, str) else json.dumps(out))
        (self.folder / "err").write_text(err)
        (self.folder / "code").write_text(str(code))

    def line(self, event: str) -> str:
        command = [sys.executable, "-I", "-S", patient_relay.__file__, "--home", str(self.home), self.name, event]
        return shlex.join(command)

    def asked(self, event: str) -> Report:
        hook = Hook(command=shlex.split(self.line(event)))
        return RUNS[self.name]("", event, AGENTS[self.name].protocol.sample(event), hook)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    plain = Plain(tmp_path)
    yield plain
    plain.close()


def served(name: str, plain: Plain, tmp_path: Path) -> Agent:
    """A tray that runs, with one approved hook for each of the agent's events, in the agent's own dialect."""
    house = House(tmp_path)
    house.script("hook.sh", HOOK)
    entry = {"command": "./hook.sh", "dialect": name, "failure": "block", "agent": name}
    kinds = sorted({each.kind.value for each in AGENTS[name].events.values()})
    house.configure({"hooks": [entry | {"name": kind, "event": kind} for kind in kinds]})
    for one in house.catalog.states:
        house.consent.approve(one.key, one.digest, "test")
    house.close()
    home = tmp_path / "home"
    plain.start([sys.executable, "-I", "-m", "tray", "--home", str(home), "run", "--headless"])
    wait(lambda: headless.is_open(house.paths.socket), what="the tray answers")
    return Agent(name, home, house.paths.config.parent)


def refuse(agent: Agent, event: str) -> None:
    match agent.name:
        case "claude-code" if event == "PermissionRequest":
            agent.says(REQUEST)
        case "claude-code":
            agent.says(err="no", code=2)
        case "shelley":
            agent.says(err="no", code=1)
        case "starchild":
            agent.says({"decision": "block", "reason": "no"})
        case "x-code":
            agent.says({"decision": "deny", "reason": "no"})


CHANGES: dict[tuple[str, str], tuple[object, dict[str, Any]]] = {
    ("claude-code", "PreToolUse"): (
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "true"}, "additionalContext": "c"}},  # noqa: E501
        {"input": {"command": "true"}, "context": "c"},
    ),
    ("claude-code", "SessionStart"): ("remember\n", {"context": "remember"}),
    ("claude-code", "WorktreeCreate"): ("made it\n/tree\n", {"answer": "/tree"}),
    ("shelley", "chat-message"): ({"message": "other"}, {"prompt": "other"}),
    ("shelley", "new-conversation"): ({"prompt": "other", "slug": "s"}, {"prompt": "other", "slug": "s"}),
    ("shelley", "slash/files"): ("  text\n", {"prompt": "  text\n"}),
    ("shelley", "system-prompt"): ("Be brief.", {"prompt": "Be brief."}),
    ("starchild", "on_outbound_message"): ({"notification": "x"}, {"message": "x"}),
    ("starchild", "pre_tool_call"): ({"tool_input": {"command": "true"}}, {"input": {"command": "true"}}),
    ("starchild", "pre_llm_call"): ({"context": "c", "systemMessage": "n"}, {"context": "c", "note": "n"}),
    ("x-code", "PostToolUse"): ({"decision": "modify", "output": "x"}, {"output": "x"}),
    ("x-code", "PreToolUse"): ({"decision": "modify", "args": {"command": "true"}}, {"input": {"command": "true"}}),
    ("x-code", "UserPromptSubmit"): ({"decision": "allow", "context": "c"}, {"context": "c"}),
}  # fmt: skip


def silent(agent: Agent, event: str) -> None:
    """No opinion: nothing is said, and the system's prompt stays what it was."""
    agent.says(AGENTS[agent.name].protocol.sample(event).decode() if event == "system-prompt" else "")


def check(agent: Agent, event: str) -> None:
    silent(agent, event)
    missing = event == "WorktreeCreate"  # a hook that names no path has failed, and is to block
    report = agent.asked(event)
    assert (report.verdict, report.changes, report.warnings) == ("deny" if missing else "none", {}, []), event

    refuse(agent, event)
    report = agent.asked(event)
    refused = Capability.DENY in spec(agent.name, event).can
    assert (report.verdict, report.changes, report.warnings) == ("deny" if refused else "none", {}, []), event
    assert not refused or event.startswith("Elicitation") or report.reason.split()[-1] in ("no", "1"), event

    if (agent.name, event) in CHANGES:
        said, changes = CHANGES[agent.name, event]
        agent.says(said)
        assert agent.asked(event) == Report(changes=changes), event


def configuration(agent: Agent, event: str, folder: Path) -> tuple[str, Path]:
    """The agent's own configuration, which runs our relay on this event."""
    line = agent.line(event)
    match agent.name:
        case "claude-code":
            path = folder / "settings.json"
            path.write_text(json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": line}]}]}}))
            return "hosts.claude_code", path
        case "shelley":
            path = folder / event
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\nexec {line}\n")
            path.chmod(0o755)
            return "hosts.shelley", folder
        case "starchild":
            path = folder / "shell_hooks.yaml"
            path.write_text(json.dumps({"hooks": [{"event": event, "command": line}]}))
            return "hosts.starchild", path
    (folder / "hooks").mkdir()
    (folder / "hooks" / "hooks.json").write_text(json.dumps({event: [{"command": line, "timeout": 30000}]}))
    return "hosts.x_code", folder


COMMON = {"shelley": "slash/files", "starchild": "pre_tool_call"}


@pytest.mark.parametrize("name", RUNS)  # tests/clients has others, as real programs
def test_the_agent_takes_every_answer_without_a_complaint(name: str, plain: Plain, tmp_path: Path) -> None:
    agent = served(name, plain, tmp_path)

    for event in AGENTS[name].events:
        check(agent, "slash/files" if event == "slash/<command>" else event)

    event = COMMON.get(name, "PreToolUse")
    refuse(agent, event)
    report = through_its_configuration(agent, event, tmp_path / "own")
    assert (report["verdict"], report["warnings"]) == ("deny", [])


def through_its_configuration(agent: Agent, event: str, folder: Path) -> dict[str, Any]:
    """The loop as a program, which finds our relay where the agent has its hooks."""
    folder.mkdir()
    module, path = configuration(agent, event, folder)
    done = subprocess.run(
        [sys.executable, "-m", module, "--config", str(path), event],
        input=AGENTS[agent.name].protocol.sample(event),
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report
