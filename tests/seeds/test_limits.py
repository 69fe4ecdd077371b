"""The same as in slow_limits.py with agents that wait less long: what is heard, and what its policy decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from house import House
from msgspec.structs import replace

from tray.agents import protocol
from tray.agents.registry import AGENTS

LIMIT = 5.0  # seconds that each agent waits; the answer leaves 0.5 s earlier
LONG = 600  # seconds that no agent waits


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Agents that wait a tenth of their usual time."""
    for agent, event in (("shelley", "chat-message"), ("starchild", "pre_tool_call"), ("x-code", "PreToolUse")):
        events = cast("dict[str, Any]", AGENTS[agent].events)
        monkeypatch.setitem(events, event, replace(events[event], timeout=LIMIT))
    protocol.spec.cache_clear()
    yield
    monkeypatch.undo()
    protocol.spec.cache_clear()


CASES = {
    "shelley": ("chat-message", "prompt", b'{"message": "early", "readonly": {"conversation_id": "c"}}', "late"),
    "starchild": ("pre_tool_call", "tool_before", b'{"tool_name": "bash", "tool_input": {"command": "ls"}}', "block"),
    "x-code": ("PreToolUse", "tool_before", b'{"tool": {"name": "shell", "args": {"command": "ls"}}}', "deny"),
}
SAYS = {
    "shelley": '{"message": "late"}',
    "starchild": '{"decision": "block", "reason": "late"}',
    "x-code": '{"decision": "deny", "reason": "late"}',
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("agent", CASES)
def test_a_slow_hook_is_heard_and_one_without_end_fails_before_the_agent_stops_waiting(
    house: House, agent: str
) -> None:
    event, kind, payload, word = CASES[agent]
    last: dict[str, Any] = {"dialect": agent, "agent": agent, "timeout": LONG, "failure": "block"}
    house.hook("slow", on=kind, script=f"cat >/dev/null; sleep 1; echo '{SAYS[agent]}'", **last)

    heard = house.relay(agent, event, payload)
    house.hook("endless", on=kind, script=f"cat >/dev/null; exec sleep {LONG}", **last)
    refused = house.relay(agent, event, payload)

    assert word in heard.stdout.decode()
    assert "the agent waits no longer" in (refused.stdout + refused.stderr).decode()
