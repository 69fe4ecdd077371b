"""Each agent: installed, connected, trusted, firing, its last event; and the packages that bring agents."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tray.agents.registry import AGENTS
from tray.app.agent_sites import last_events, recorded_sessions, unsupported_agents
from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, attention, broken, ok
from tray.connect.agent_status import AgentStatus, agent_statuses

REMEDY = "switch other agents' hooks off in its settings, or do without guards there: docs/connect.md"


def check(context: CheckContext) -> Iterator[CheckResult]:
    """Unless nothing may be started, a test event of ours goes through each connected agent's own hook command."""
    journal = context.stores.journal
    is_recorded = None if context.static else recorded_sessions(journal)
    states = agent_statuses(context.site(), last_events(journal), is_recorded)
    yield from (_result(one) for one in states if one.installed or one.problem)
    yield from _packages()
    for foreign in unsupported_agents(journal):
        yield attention("agent", foreign.agent, foreign.text, REMEDY)
    if not any(one.connected for one in states):
        yield attention("agents", "agents", "none is connected, so none tells Hooktray anything", "hooktray connect")


def _packages() -> Iterator[CheckResult]:
    for agent, package in AGENTS.packages.items():
        yield ok("package", agent, f"{AGENTS[agent].name}, a third-party agent, of {package}")
    for one in AGENTS.broken:
        yield broken("package", one.agent, one.text, one.remedy)


def _result(one: AgentStatus) -> CheckResult:
    message, advice = _message(one), "; ".join(one.advice)
    if one.problem:
        return broken("agent", one.agent, f"{message}: {one.problem}", advice or f"hooktray connect {one.agent}")
    return attention("agent", one.agent, message, advice) if advice else ok("agent", one.agent, message)


def _message(one: AgentStatus) -> str:
    if not one.connected:
        return "installed, not connected"
    words = [f"connected ({len(one.events)} events)"]
    words += {True: ["trusted"], False: ["not trusted"], None: []}[one.trusted]
    words += [{True: "firing", False: "not firing"}[one.firing]] if one.firing is not None else []
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.last_event)) if one.last_event else "never"
    return ", ".join([*words, f"last heard of: {last}"])
