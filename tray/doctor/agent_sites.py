"""The user's agents, for the commands, the menu and the doctor: their files, which are installed, what they sent.

`check` reports each: installed, connected, trusted, firing, its last event; and the packages that bring agents.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypedDict, cast

import msgspec
from msgspec.structs import asdict, replace

from tray.agents import relay_command
from tray.agents.connection import Site
from tray.agents.registry import AGENTS, UNSUPPORTED
from tray.approvals.catalog import HookCatalog
from tray.connect import connectors, record_present
from tray.doctor.agent_status import AgentStatus, agent_statuses
from tray.doctor.finding import Cause, CheckContext, Finding, found
from tray.edit.backups import CONNECTIONS
from tray.engine.needed_events import needed_events
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.model.decision import SkipReason
from tray.model.hook import ApprovalState, Hook
from tray.paths import Paths
from tray.store.journal import Journal, RowFilter

ROW_LIMIT = 100  # of one agent, among which our own events may be
RECENT_SECONDS = 7 * 86400.0  # seconds for which an agent without support is shown after its last event


class UnsupportedRow(TypedDict):
    """An agent without support as `--json` shows it."""

    agent: str
    line: str
    last_event: float
    supported: bool


class UnsupportedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent whose protocol Hooktray does not have, and which lately ran the hooks of another agent."""

    agent: str
    line: str  # the other one
    last_event: float
    supported: bool = False

    @property
    def row(self) -> UnsupportedRow:
        """For `--json`."""
        return cast(UnsupportedRow, asdict(self))

    @property
    def text(self) -> str:
        """What that means for the user."""
        what = f"runs Hooktray's hooks for {self.line}, and is not supported yet: its tool calls are not guarded"
        return f"{what} (last event {time.strftime('%Y-%m-%d %H:%M', time.localtime(self.last_event))})"


def hooks_in_question(catalog: HookCatalog) -> list[Hook]:
    """The hooks that run, and those that wait for approval: agents have to report the events of all of them."""
    proposed = [one.hook for one in catalog.states if one.waiting or one.state is ApprovalState.APPROVED]
    return [*proposed, *(one.hook for one in catalog.approved)]


def read_hooks(paths: Paths) -> list[Hook]:
    """The same for a command, which has no catalog. It may be the first of all, before any folder is there."""
    paths.prepare()
    stores = open_stores(paths)
    try:
        catalog = HookCatalog(paths, stores.ledger, stores.copies)
        catalog.refresh()
        return hooks_in_question(catalog)
    finally:
        stores.journal.close()


def site(
    paths: Paths,
    cwd: Path | None = None,
    *,
    scope: str = "",
    workspace: str = "",
    hooks: Iterable[Hook] = (),
) -> Site:
    """Everything that connectors look at, every scope of their settings unless one is named. It makes no folder."""
    return Site(
        paths=paths,
        relay=relay_command.relay_argv(paths),
        home=Path.home(),
        cwd=cwd or working_folder(),
        environment=os.environ,
        scope=scope,
        workspace=workspace,
        now=time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        needed=needed_events(hooks),
    )


def reading_site(paths: Paths, hooks: Iterable[Hook] = ()) -> Site:
    """Where the files of the user's agents are, seen from the home. It makes no folder and starts no process."""
    return Site(
        paths=paths, relay=(), home=Path.home(), cwd=Path.home(), environment=os.environ, scope="",
        needed=needed_events(hooks),
    )  # fmt: skip


def unsupported_agents(journal: Journal) -> list[UnsupportedAgent]:
    """The agents without support that ran a line of ours in the last days."""
    agents, since = [], time.time() - RECENT_SECONDS
    for agent in UNSUPPORTED:
        rows = journal.recent(ROW_LIMIT, RowFilter(agent=agent, since=since))
        row = next((row for row in rows if row.skip_reason is SkipReason.NOT_SUPPORTED and not row.test), None)
        if row is not None:
            agents.append(UnsupportedAgent(agent=agent, line=row.via_agent, last_event=row.at))
    return agents


def agent_states(paths: Paths, journal: Journal, hooks: Iterable[Hook]) -> list[AgentStatus]:
    """The state of each agent's connection; nothing is sent."""
    return agent_statuses(site(paths, hooks=hooks), journal)


def connected_agents(paths: Paths) -> list[str]:
    """Agents with lines of ours that lead here; one whose settings cannot be read may have some."""
    place = reading_site(paths)
    return [name for name in connectors() if _is_connected(name, place)]


def record_again(paths: Paths) -> None:
    """Record the entries of connected agents as they are, if all that `connect` recorded is lost."""
    if (paths.state / CONNECTIONS).exists():
        return
    place = site(paths, Path.home())
    for name in connected_agents(paths):
        with contextlib.suppress(HooktrayError, OSError):
            record_present(place, name)


def _is_connected(name: str, place: Site) -> bool:
    try:
        return bool(connectors()[name].relay_entries(place))
    except HooktrayError:
        return True  # unreadable: nothing to offer before that is repaired


def working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        return Path.home()  # the folder is gone


def check(context: CheckContext) -> Iterator[Finding]:
    """Unless nothing may be started, a test event of ours goes through each connected agent's own hook command."""
    journal, place = context.stores.journal, site(context.paths, hooks=hooks_in_question(context.catalog))
    states = agent_statuses(place, journal, probe=not context.static)
    for one in states:
        if one.installed or one.findings:
            # A line for each thing that was found, else one line that all is well.
            for finding in one.findings or (found(Cause.AGENT_CONNECTED, one.agent),):
                yield replace(finding, lead=_summary(one))
    yield from _packages({**(context.tray or {}).get("failed_agents", {}), **failed_agents()})
    for foreign in unsupported_agents(journal):
        yield found(Cause.AGENT_UNSUPPORTED, foreign.agent, text=foreign.text)
    if not any(one.events for one in states):
        yield found(Cause.AGENTS_NONE, "agents")


def failed_agents() -> dict[str, tuple[str, str]]:
    """Returns the first failure of each agent of a package in this process, and the remedy."""
    return {agent: (one.message, one.hint) for agent, one in AGENTS.failures.copy().items()}


def _packages(failures: Mapping[str, tuple[str, str]]) -> Iterator[Finding]:
    for agent, package in AGENTS.packaged.packages.items():
        yield found(Cause.AGENT_PACKAGE, agent, agent=AGENTS[agent].name, package=package)
    for one in AGENTS.packaged.broken:
        yield found(Cause.AGENT_BROKEN_PACKAGE, one.agent, text=one.text, remedy=one.remedy)
    for agent, (text, remedy) in failures.items():
        yield found(Cause.AGENT_BROKEN_PACKAGE, agent, text=text, remedy=remedy)


def _summary(one: AgentStatus) -> str:
    if not one.connected:
        return "installed, not connected"
    words = [f"connected ({len(one.events)} events)"]
    words += {True: ["trusted"], False: ["not trusted"], None: []}[one.trusted]
    words += {True: ["firing"], False: ["not firing"], None: []}[one.firing]
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.last_event)) if one.last_event else "never"
    return ", ".join([*words, f"last event: {last}"])
