"""What `status`, `list`, `log` and `agents` show: gathered by the running tray, else by the command itself.

A report is JSON. The tray gives one only to a command of its own version and language, which then prints the same as
if it had gathered it by itself.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from msgspec.structs import replace

from tray import __version__
from tray.agents.connection import Site
from tray.agents.packages import entry_points
from tray.approvals.catalog import HookCatalog, HookState, command_or_url
from tray.approvals.review import describe_action
from tray.doctor.agent_sites import UnsupportedRow, hooks_in_question, site, unsupported_agents
from tray.doctor.agent_status import AgentRow, agent_statuses
from tray.doctor.finding import CheckContext
from tray.doctor.hooks import broken_hooks
from tray.doctor.state_incident import loss_notice
from tray.engine.log_rows import LogEntry, log_report, row_filter
from tray.engine.needed_events import needed_events
from tray.engine.sentence import sentence
from tray.engine.stores import Stores, open_stores
from tray.errors import StoreError
from tray.ipc.health import HealthSource, StateProblem, TrayHealth
from tray.language import count, pick_language, say
from tray.model.decision import Record
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.sessions import unjudged_calls
from tray.store.journal import Journal
from tray.text import sanitise

Report = Mapping[str, object]

MAX_ROWS = 1000  # of the journal in one answer


class ConfigurationRow(TypedDict):
    """What is wrong with the settings; `problem` is "" when they are in force as written."""

    problem: str
    warnings: Sequence[str]


class HookRow(TypedDict):
    """A hook as `hooktray list --json` shows it."""

    name: str
    event: str
    agents: Sequence[str]
    source: str
    state: str
    enabled: bool
    health: str
    remedy: str | None
    runs: str
    digest: str
    approved: str | None


class ListReport(ConfigurationRow):
    rows: Sequence[HookRow]
    enabled: bool
    loss: str
    waiting: Sequence[str]  # the lines to paste


class PauseRow(TypedDict):
    until: float
    agent: str  # "" for all
    session: str  # "" for all


class ConnectionRow(TypedDict):
    """How an agent is connected, for `status`."""

    agent: str
    connected: bool
    last_event: float | None
    remedy: str


class StatusRow(TypedDict):
    """What `hooktray status --json` shows."""

    enabled: bool
    paused_until: float | None
    running: bool
    pending: int
    dropped: int
    unjudged: int
    icon: str | None
    pauses: Sequence[PauseRow]
    trouble: int
    agents: Sequence[ConnectionRow]
    problems: Sequence[StateProblem]
    unsupported: Sequence[UnsupportedRow]
    problem: str | None


class StatusReport(ConfigurationRow):
    row: StatusRow
    losses: Sequence[str]


class LogReport(TypedDict):
    entries: Sequence[LogEntry]


class ReportedAgent(TypedDict):
    row: AgentRow
    trust: str


class ReportedUnsupported(TypedDict):
    row: UnsupportedRow
    text: str


class AgentsReport(TypedDict):
    agents: Sequence[ReportedAgent]
    unsupported: Sequence[ReportedUnsupported]


class Reports:
    """The running tray's."""

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog) -> None:
        self._paths = paths
        self._stores = stores
        self._catalog = catalog

    def make(self, request: Mapping[str, object], tray: HealthSource) -> Report:
        """The report that a command asks for; empty where the command has to gather it by itself.

        Any program of the user may ask, so the request may hold anything.
        """
        if (request.get("version"), request.get("language")) != (__version__, pick_language()):
            return {}
        try:
            gather = self._requested(request, tray)
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}
        return gather()

    def _requested(self, request: Mapping[str, object], tray: HealthSource) -> Callable[[], Report]:
        """Returns the function that gathers the report."""
        match request["report"]:
            case "list":
                return lambda: list_report(self._stores, self._catalog)
            case "status":
                place = self._site(request)
                return lambda: status_report(self._stores, self._catalog, tray.health(), place)
            case "agents":
                place = replace(self._site(request), workspace=str(request["workspace"]))
                return lambda: self._agents(place, tray.health().get("unanswered"))
            case "log":
                limit, wanted = request["limit"], request["wanted"]
                if not isinstance(limit, int) or not isinstance(wanted, dict):
                    raise TypeError("a request for the log has a number and a filter")
                most, rows = max(1, min(limit, MAX_ROWS)), row_filter(wanted)
                return lambda: {"entries": log_report(self._stores.journal, most, rows)}
        return dict

    def _agents(self, place: Site, unanswered: Mapping[str, str] | None) -> Report:
        """Empty where a package brings an agent: it may have come after the tray began."""
        if any(entry_points(sys.path)):
            return {}
        self._catalog.refresh()
        return agents_report(
            self._stores.journal, _with_needs(place, self._catalog), trial=False, unanswered=unanswered
        )

    def _site(self, request: Mapping[str, object]) -> Site:
        """Where the command is. The request names these places, so connectors only read bounded files."""
        environment = request["environment"]
        if not isinstance(environment, dict):
            raise TypeError("an environment has names and values")
        return replace(
            site(self._paths, Path(str(request["cwd"]))),
            home=Path(str(request["home"])),
            environment={str(name): str(value) for name, value in environment.items()},
        )


def read_status(paths: Paths, health: TrayHealth | None) -> StatusReport:
    """The report where the tray gives none. Raises StoreError, with the problems that a running tray reports."""
    try:
        stores = open_stores(paths)
    except StoreError as error:
        reported = [problem["text"] for problem in (health or {}).get("problems", ())]
        raise StoreError(error.message, hint="\n  ".join([*reported, error.hint])) from error
    return status_report(stores, HookCatalog(paths, stores.ledger, stores.copies), health, site(paths))


def status_report(stores: Stores, catalog: HookCatalog, health: TrayHealth | None, place: Site) -> StatusReport:
    """Whether hooks run, and what waits; `health` is what the running tray reports of itself, None when none runs."""
    catalog.refresh()
    place = _with_needs(place, catalog)
    state = stores.switch.state()
    paused = state.paused_until if state.paused_until and state.paused_until > time.time() else None
    waiting = [one for one in catalog.states if one.waiting and one.digest]
    settings = sum(setting.waiting for setting in catalog.settings())
    known: TrayHealth = health or {}
    failing = say("The journal cannot be written") + f": {known['journal']}" if known.get("journal") else ""
    loss = loss_notice(stores)
    shown = "" if known.get("problems") else loss  # a running tray reports it as a problem
    losses = tuple(filter(None, (shown, failing)))
    agents = agent_statuses(place, stores.journal, unanswered=known.get("unanswered"))
    silent = tuple(dict.fromkeys(one.silence for one in agents if one.silence))
    problems = (catalog.configuration.problem, loss, failing, *silent, *catalog.configuration.warnings)
    ran = unjudged_calls.lately(stores.journal)
    broken = broken_hooks(CheckContext(paths=place.paths, stores=stores, catalog=catalog, static=True))
    row: StatusRow = {
        "enabled": state.enabled,
        "paused_until": paused,
        "running": health is not None,
        "pending": len(waiting) + settings + known.get("requests", 0),
        "dropped": stores.journal.dropped,
        "unjudged": unjudged_calls.number(place.paths) + sum(number for number, _ in ran),
        "icon": known.get("icon") or None,
        "pauses": [{"until": one.until, "agent": one.agent, "session": one.session} for one in state.pauses],
        "trouble": len(broken | {*known.get("troubled", ())}),
        "agents": [
            {
                "agent": one.agent,
                "connected": one.connected,
                "last_event": one.last_event,
                "remedy": one.advice[0] if one.advice and (one.stale or one.silence) else "",
            }
            for one in agents
            if one.installed or one.last_event
        ],
        "problems": [*known.get("problems", []), *(_unjudged_problem(*one) for one in ran)],
        "unsupported": [one.row for one in unsupported_agents(stores.journal)],
        "problem": "\n".join(filter(None, problems)) or None,
    }
    return {"row": row, "losses": (*losses, *silent), **configuration_row(catalog)}


def _unjudged_problem(number: int, last: Record) -> StateProblem:
    text = count("{n} call of {agent} ran unjudged", "{n} calls of {agent} ran unjudged", number, agent=last.agent)
    return {
        "problem": "unjudged",
        "cause": last.agent,
        "at": last.at,
        "solved": False,
        "text": f"{text}; " + say("the last: {what}", what=sentence(last)),
    }


def agents_report(
    journal: Journal, place: Site, *, trial: bool, unanswered: Mapping[str, str] | None = None
) -> AgentsReport:
    """How each agent is connected, and the agents without support; `trial` sends an event through each line."""
    found = agent_statuses(place, journal, probe=trial, unanswered=unanswered)
    return {
        "agents": [{"row": one.row, "trust": one.trust_word} for one in found],
        "unsupported": [{"row": one.row, "text": one.text} for one in unsupported_agents(journal)],
    }


def _with_needs(place: Site, catalog: HookCatalog) -> Site:
    return replace(place, needed=needed_events(hooks_in_question(catalog)))


# ---- `list` ----


def read_hooks(paths: Paths) -> ListReport:
    """The report where no tray answers. Raises StoreError."""
    stores = open_stores(paths)
    return list_report(stores, HookCatalog(paths, stores.ledger, stores.copies))


def list_report(stores: Stores, catalog: HookCatalog) -> ListReport:
    """Every hook, and the lines to paste for those that wait."""
    catalog.refresh()
    return {
        "rows": hook_rows(catalog),
        "enabled": stores.switch.state().enabled,
        "loss": loss_notice(stores),
        "waiting": list(_waiting_lines(catalog)),
        **configuration_row(catalog),
    }


def configuration_row(catalog: HookCatalog) -> ConfigurationRow:
    return {"problem": catalog.configuration.problem, "warnings": catalog.configuration.warnings}


def hook_rows(catalog: HookCatalog) -> list[HookRow]:
    """One row per hook, in order."""
    return [
        {
            "name": one.hook.name,
            "event": one.hook.match.event,
            "agents": list(one.hook.match.agents),
            "source": str(one.hook.source),
            "state": one.state.value,
            "enabled": one.hook.enabled,
            "health": one.health or "ok",
            "remedy": one.remedy or None,
            "runs": describe_action(one.hook.action),
            "digest": one.digest,
            "approved": one.approved or None,
        }
        for one in catalog.states
    ]


def _waiting_lines(catalog: HookCatalog) -> Iterator[str]:
    """The line to paste for each hook and each setting that waits."""
    for one in catalog.states:
        if one.state is ApprovalState.PENDING and one.digest:
            name = shlex.quote(_hook_name(one, catalog))
            yield f"To ask for approval: hooktray approve {one.hook.match.event} {name}"
    for setting in catalog.settings():
        if setting.waiting:
            yield (
                f"`{sanitise(setting.text, 300)}` counts once it is confirmed. To ask for that: "
                f"hooktray approve {shlex.quote(setting.key.removeprefix('setting:'))}"
            )


def _hook_name(one: HookState, catalog: HookCatalog) -> str:
    """Returns a word that names only this hook: its command or URL, else its name, digest or key.

    It skips words with control characters, which a hook from a foreign source may contain.
    """
    event = one.hook.match.event
    for word in (command_or_url(one.hook), one.hook.name, one.digest[:12]):
        is_plain = word and sanitise(word, 300) == word and not word.startswith("-")
        if is_plain and [each for each in catalog.find(word) if each.hook.match.event == event] == [one]:
            return word
    return sanitise(one.key, 300)
