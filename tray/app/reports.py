"""What `status`, `list`, `log` and `agents` show: gathered by the running tray, else by the command itself.

A report is JSON. The tray gives one only to a command of its own version and language, which then prints the same as
if it had gathered it by itself.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tray import __version__
from tray.agents.connection import Site
from tray.agents.packages import entry_points
from tray.app import Stores, unjudged_calls
from tray.app.agent_sites import hooks_in_question, last_events, recorded_sessions, site, unsupported_agents
from tray.app.checks.agent_status import agent_statuses
from tray.app.checks.checklist import broken_hooks
from tray.approvals.catalog import HookCatalog, HookState, command_or_url
from tray.approvals.review import describe_action
from tray.engine.log_rows import log_report, row_filter
from tray.engine.needed_events import needed_events
from tray.language import pick_language
from tray.lazy_dataclass import replace
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.store.db import Database
from tray.store.journal import Journal
from tray.text import sanitise

Report = Mapping[str, Any]

MAX_ROWS = 1000  # of the journal in one answer


class Reports:
    """The running tray's."""

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog) -> None:
        self._paths = paths
        self._stores = stores
        self._catalog = catalog

    def make(self, request: Mapping[str, Any], health: Callable[[], Mapping[str, Any]]) -> Report:
        """The report that a command asks for; empty where the command has to gather it by itself.

        Any program of the user may ask, so the request may hold anything.
        """
        if (request.get("version"), request.get("language")) != (__version__, pick_language()):
            return {}
        try:
            gather = self._gatherer(request, health)
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}
        return gather()

    def _gatherer(
        self, request: Mapping[str, Any], health: Callable[[], Mapping[str, Any]]
    ) -> Callable[[], Mapping[str, Any]]:
        match request["report"]:
            case "agents":
                place = replace(self._site(request), workspace=str(request["workspace"]))
                return lambda: self._agents(place)
            case "list":
                return lambda: list_report(self._stores, self._catalog)
            case "log":
                limit, wanted = max(1, min(int(request["limit"]), MAX_ROWS)), row_filter(request["wanted"])
                return lambda: {"entries": log_report(self._stores.journal, limit, wanted)}
            case "status":
                place = self._site(request)
                return lambda: status_report(self._stores, self._catalog, health(), place)
        return dict

    def _agents(self, place: Site) -> Report:
        """Empty where a package brings an agent: it may have come after the tray began."""
        if any(entry_points(sys.path)):
            return {}
        self._catalog.refresh()
        return agents_report(self._stores.journal, _with_needs(place, self._catalog), trial=False)

    def _site(self, request: Mapping[str, Any]) -> Site:
        """Where the command is. The request names these places, so connectors only read bounded files."""
        return replace(
            site(self._paths, Path(request["cwd"])),
            home=Path(request["home"]),
            environment={str(name): str(value) for name, value in request["environment"].items()},
        )


def status_report(stores: Stores, catalog: HookCatalog, health: Report | None, place: Site) -> Report:
    """Whether hooks run, and what waits; `health` is what the running tray reports of itself, None when none runs."""
    catalog.refresh()
    place = _with_needs(place, catalog)
    state = stores.switch.state()
    paused = state.paused_until if state.paused_until and state.paused_until > time.time() else None
    waiting = [one for one in catalog.states if one.waiting and one.digest]
    settings = sum(setting.waiting for setting in catalog.settings())
    losses = tuple(filter(None, (damage_notice(stores.database), stores.ledger.state.tampered)))
    problems = (catalog.configuration.problem, *losses, *catalog.configuration.warnings)
    known = health or {}
    row = {
        "enabled": state.enabled,
        "paused_until": paused,
        "running": health is not None,
        "pending": len(waiting) + settings + known.get("requests", 0),
        "dropped": stores.journal.dropped,
        "unjudged": unjudged_calls.number(place.paths),
        "icon": known.get("icon") or None,
        "pauses": [asdict(one) for one in state.pauses],
        "trouble": len(broken_hooks(place.paths, stores, catalog) | {*known.get("troubled", ())}),
        "agents": [
            {
                "agent": one.agent,
                "connected": one.connected,
                "last_event": one.last_event,
                "remedy": one.advice[0] if one.stale and one.advice else "",
            }
            for one in agent_statuses(place, last_events(stores.journal))
            if one.installed or one.last_event
        ],
        "problems": known.get("problems", []),
        "unsupported": [asdict(one) for one in unsupported_agents(stores.journal)],
        "problem": "\n".join(filter(None, problems)) or None,
    }
    return {"row": row, "losses": losses, **_configuration(catalog)}


def agents_report(journal: Journal, place: Site, *, trial: bool) -> Report:
    """How each agent is connected, and the agents without support; `trial` sends an event through each line."""
    is_recorded = recorded_sessions(journal) if trial else None
    found = agent_statuses(place, last_events(journal), is_recorded)
    return {
        "agents": [{"row": one.row, "trust": one.trust_word} for one in found],
        "unsupported": [{"row": asdict(one), "text": one.text} for one in unsupported_agents(journal)],
    }


def _with_needs(place: Site, catalog: HookCatalog) -> Site:
    return replace(place, needed=needed_events(hooks_in_question(catalog)))


def list_report(stores: Stores, catalog: HookCatalog) -> Report:
    """Every hook, and the lines to paste for those that wait."""
    catalog.refresh()
    return {
        "rows": hook_rows(catalog),
        "enabled": stores.switch.state().enabled,
        "loss": damage_notice(stores.database) or stores.ledger.state.tampered,
        "waiting": list(_waiting_lines(catalog)),
        **_configuration(catalog),
    }


def _configuration(catalog: HookCatalog) -> Report:
    return {"problem": catalog.configuration.problem, "warnings": catalog.configuration.warnings}


def hook_rows(catalog: HookCatalog) -> list[dict[str, Any]]:
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
    """What names only this hook: its command or URL, else its name. A foreign one may hold control characters."""
    words = (command_or_url(one.hook), one.hook.name, one.digest[:12])
    usable = (word for word in words if word and _is_plain(word) and _is_unambiguous(word, one, catalog))
    return next(usable, sanitise(one.key, 300))


def _is_plain(word: str) -> bool:
    return sanitise(word, 300) == word and not word.startswith("-")


def _is_unambiguous(word: str, one: HookState, catalog: HookCatalog) -> bool:
    return [other for other in catalog.find(word) if other.hook.match.event == one.hook.match.event] == [one]


def damage_notice(database: Database) -> str:
    """The damage of the database that no person has seen yet; "" for none."""
    file = database.damage()
    if file is None:
        return ""
    what = f"the database was damaged and set aside as {file}" if file else "the database was lost"
    return f"{what}: all approvals are gone\n  approve the hooks again: tray's menu, Approvals, or `hooktray open`"
