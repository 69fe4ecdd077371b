"""Each agent: installed, connected, trusted, firing, its last event; and the packages that bring agents."""

from __future__ import annotations

import time
from collections.abc import Iterator

from msgspec.structs import replace

from tray.agents.registry import AGENTS
from tray.doctor.agent_sites import unsupported_agents
from tray.doctor.agent_status import AgentStatus, agent_statuses
from tray.doctor.context import CheckContext
from tray.doctor.finding import Cause, Finding
from tray.ipc.health import TrayHealth


def check(context: CheckContext) -> Iterator[Finding]:
    """Unless nothing may be started, a test event of ours goes through each connected agent's own hook command."""
    journal = context.stores.journal
    states = agent_statuses(context.site(), journal, probe=not context.static)
    for one in states:
        if one.installed or one.findings:
            yield from _report(one)
    yield from _packages(context.tray or {})
    for foreign in unsupported_agents(journal):
        yield Finding(cause=Cause.AGENT_UNSUPPORTED, name=foreign.agent, values={"text": foreign.text})
    if not any(one.events for one in states):
        yield Finding(cause=Cause.AGENTS_NONE, name="agents")


def failed_agents() -> dict[str, tuple[str, str]]:
    """Returns the first failure of each agent of a package in this process, and the remedy."""
    return {agent: (one.message, one.hint) for agent, one in AGENTS.failures.copy().items()}


def _packages(tray: TrayHealth) -> Iterator[Finding]:
    for agent, package in AGENTS.packages.items():
        values = {"agent": AGENTS[agent].name, "package": package}
        yield Finding(cause=Cause.AGENT_PACKAGE, name=agent, values=values)
    for one in AGENTS.broken:
        yield Finding(
            cause=Cause.AGENT_BROKEN_PACKAGE, name=one.agent, values={"text": one.text, "remedy": one.remedy}
        )
    for agent, (text, remedy) in {**tray.get("failed_agents", {}), **failed_agents()}.items():
        yield Finding(cause=Cause.AGENT_BROKEN_PACKAGE, name=agent, values={"text": text, "remedy": remedy})


def _report(one: AgentStatus) -> Iterator[Finding]:
    """A line for each thing that was found, else one line that all is well."""
    lead = _message(one)
    for finding in one.findings or (Finding(cause=Cause.AGENT_CONNECTED, name=one.agent),):
        yield replace(finding, lead=lead)


def _message(one: AgentStatus) -> str:
    if not one.connected:
        return "installed, not connected"
    words = [f"connected ({len(one.events)} events)"]
    words += {True: ["trusted"], False: ["not trusted"], None: []}[one.trusted]
    words += [{True: "firing", False: "not firing"}[one.firing]] if one.firing is not None else []
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.last_event)) if one.last_event else "never"
    return ", ".join([*words, f"last event: {last}"])
