"""Each agent's own loop with a real relay in its configuration, a running tray behind it, and a hook that answers.

For every event that can be refused or changed, the agent accepts the whole answer.
"""

from __future__ import annotations

import json
import shlex
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
from hosts.process import Report
from house import House
from plain import Plain

from tray.agents.protocol import spec
from tray.agents.registry import AGENTS
from tray.model.event import Capability

RUNS: dict[str, Callable[[str, str, bytes], Report]] = {
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
EXAMPLES = {"slash/<command>": "slash/files"}
REFUSED = {"behavior": "deny", "message": "no"}
REQUEST = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": REFUSED}}


@dataclass
class Agent:
    """One agent whose hooks are our relay, and the folder in which our hook finds its answer."""

    name: str
    home: Path
    folder: Path
    config: Path  # what the agent itself reads

    def says(self, out: object = "", err: str = "", code: int = 0) -> None:
        (self.folder / "out").write_text(out if isinstance(out, str) else json.dumps(out))
        (self.folder / "err").write_text(err)
        (self.folder / "code").write_text(str(code))

    def asked(self, event: str) -> Report:
        return RUNS[self.name](str(self.config), event, AGENTS[self.name].protocol.sample(event))


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
    line = [sys.executable, "-I", "-S", patient_relay.__file__, "--home", str(home), name]
    return Agent(name, home, house.paths.config.parent, configured(name, shlex.join(line), tmp_path / "own"))


def configured(name: str, line: str, folder: Path) -> Path:
    """Writes the agent's own configuration, which runs the relay for each event."""
    events = [EXAMPLES.get(event, event) for event in AGENTS[name].events]
    if name == "shelley":
        for event in events:
            path = folder / event
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\nexec {line} {event}\n")
            path.chmod(0o755)
        return folder
    entries = {
        "claude-code": {event: [{"hooks": [{"type": "command", "command": f"{line} {event}"}]}] for event in events},
        "starchild": [{"event": event, "command": f"{line} {event}"} for event in events],
        "x-code": {event: [{"command": f"{line} {event}", "timeout": 30000}] for event in events},
    }
    file = folder / {"claude-code": "settings.json", "starchild": "shell_hooks.yaml", "x-code": "plugin.json"}[name]
    folder.mkdir()
    file.write_text(json.dumps({"hooks": entries[name]}))
    return folder if name == "x-code" else file


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


# The output of a hook without a verdict, and the agent's reaction.
SILENCE: dict[str, dict[str, tuple[str, str]]] = {
    "claude-code": {
        "Notification": ("", "none"),
        "PreToolUse": ("", "none"),
        "WorktreeCreate": ("", "deny"),  # a hook that names no path has failed and blocks
    },
    "shelley": {"system-prompt": (AGENTS["shelley"].protocol.sample("system-prompt").decode(), "none")},
    "starchild": {"pre_tool_call": ("", "none")},
    "x-code": {"PreToolUse": ("", "none")},
}


def check(agent: Agent, event: str) -> None:
    """Checks the refusal and the changes that this event permits."""
    if Capability.DENY in spec(agent.name, event).can:
        refuse(agent, event)
        report = agent.asked(event)
        assert (report.verdict, report.changes, report.warnings) == ("deny", {}, []), event
        assert event.startswith("Elicitation") or report.reason.split()[-1] in ("no", "1"), event

    if (agent.name, event) in CHANGES:
        said, changes = CHANGES[agent.name, event]
        agent.says(said)
        assert agent.asked(event) == Report(changes=changes), event


@pytest.mark.parametrize("name", RUNS)  # tests/clients has others, as real programs
def test_the_agent_takes_every_answer_without_a_complaint(name: str, plain: Plain, tmp_path: Path) -> None:
    agent = served(name, plain, tmp_path)

    for event in AGENTS[name].events:
        check(agent, EXAMPLES.get(event, event))
    for event, (said, verdict) in SILENCE[name].items():
        agent.says(said)
        report = agent.asked(event)
        assert (report.verdict, report.changes, report.warnings) == (verdict, {}, []), event
