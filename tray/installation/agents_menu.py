"""Agents for the menu and the page: the state of each, what connecting would write, and the click that writes it."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookCatalog
from tray.connect import apply_connect, apply_disconnect, connectors, forget
from tray.connect.hook_import import import_reminder
from tray.connect.summary import summary
from tray.desktop.menu.state import MenuAgent, MenuPreview
from tray.desktop.opener import Opener
from tray.desktop.presenter import Presenter
from tray.doctor.agent_sites import hooks_in_question, site
from tray.doctor.agent_status import AgentStatus, Arrivals, agent_statuses, check_line, probed_status
from tray.edit.diff import diff
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.installation.entry_watch import EntryWatch
from tray.language import say
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.text import printable
from tray.threads import Queue, Workers

CHANNEL = "tray"
MAX_AGE = 60.0  # seconds after which the states are read again, where the menu's opening is not reported

log = logging.getLogger(__name__)


class ConnectPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What connecting or disconnecting one agent would write: in a line and in full; `plan` is applied."""

    agent: str
    connect: bool
    summary: str
    text: str
    plan: Plan

    @property
    def is_empty(self) -> bool:
        return not self.plan.changes

    @property
    def digest(self) -> str:
        """Ties a click to this preview and no other."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class AgentsMenu:
    """A refresh reads the agents' files and starts a process, so it runs on a thread of its own.

    Each refresh reads the files again. It looks for agents in the tray's environment, as in the user's own login, and
    in no project.

    All else is called on the presenter's thread, which is that of the queue. `view` is set before it runs anything.
    """

    view: Presenter

    def __init__(
        self,
        paths: Paths,
        journal: Arrivals,
        opener: Opener,
        catalog: HookCatalog,
        *,
        queue: Queue,
        workers: Workers,
        alerts: AlertService,
        entries: EntryWatch,
    ) -> None:
        self._paths, self._journal, self._opener, self._catalog = paths, journal, opener, catalog
        self._queue, self._workers = queue, workers
        self._alerts = alerts
        self._entries = entries
        self._statuses: tuple[AgentStatus, ...] = ()
        self._probed: dict[str, AgentStatus] = {}
        self._previews: dict[tuple[str, bool], ConnectPreview] = {}
        self._refreshed = -MAX_AGE
        self._is_refreshing = False

    def rows(self) -> tuple[MenuAgent, ...]:
        if time.monotonic() - self._refreshed >= MAX_AGE:
            self.refresh()
        return tuple(self._row(one) for one in self._statuses)

    def read_offered(self) -> tuple[MenuAgent, ...]:
        """The agents that are here and not connected, read at once, with what connecting them would write."""
        self._read()
        return tuple(self._row(one) for one in self._statuses if one.installed and not one.connected)

    def refresh(self) -> None:
        if self._is_refreshing:
            return
        self._is_refreshing, self._refreshed = True, time.monotonic()
        if not self._workers.spawn(self._load):  # too much is going on
            self._is_refreshing = False

    def review(self, agent: str, *, connect: bool) -> None:
        """Open the difference, and keep it for the click that writes it."""
        preview = self._preview(agent, connect=connect)
        self._open(f"{'connect' if connect else 'disconnect'}-{agent}", f"{_head(preview)}\n\n{preview.text}")
        self._previews.pop((agent, connect), None)
        if not preview.is_empty:
            self._previews[agent, connect] = preview

    def apply(self, agent: str, digest: str) -> str:
        preview = self._write(agent, digest)
        self._read()
        text = say("{agent} is connected") if preview.connect else say("{agent} is disconnected")
        return " · ".join((text.format(agent=AGENTS[agent].name), *self._advice(agent)))

    def connect_all(self, digests: Collection[str]) -> str:
        """Each by itself: what is wrong with one agent's files does not keep the others waiting."""
        offered = [one for one in self._previews.values() if one.connect and one.digest in digests]
        if len(offered) != len(digests):
            if not any(one.connect for one in self.read_offered()):  # it was answered elsewhere meanwhile
                return say("Nothing is left to connect")
            raise _not_shown()
        done, errors = [], list[HooktrayError]()
        for preview in offered:
            try:
                done.append(self._write(preview.agent, preview.digest).agent)
            except HooktrayError as error:
                errors.append(error)
        self._read()
        names = ", ".join(AGENTS[agent].name for agent in done)
        if errors:
            left = "; ".join(error.message for error in errors)
            hint = say("connected: {names}", names=names) if names else errors[0].hint
            raise HooktrayError(left, hint=hint)
        advice = [
            f"{AGENTS[agent].name}: {text}" if len(done) > 1 else text
            for agent in done
            for text in self._advice(agent)
        ]
        return " · ".join((say("Connected: {names}", names=names), *advice))

    def _write(self, agent: str, digest: str) -> ConnectPreview:
        """Write the previewed files, and run the agent's line once.

        Raises HooktrayError if one of the files has changed since, or if the agent's line gives no answer.
        """
        previews = (one for (name, _), one in self._previews.items() if name == agent)
        preview = next((one for one in previews if one.digest == digest), None)
        if preview is None:
            raise _not_shown()
        self._forget(agent)
        if preview.connect:
            installed_relay.prepare_to_connect(self._paths, agent)
            apply_connect(self._site(), agent, preview.plan)
            check_line(self._site(), agent)
        else:
            apply_disconnect(self._site(), agent, preview.plan)
            forget(self._site(), agent)
            installed_relay.update_after_disconnect(self._paths)
        log.info("%s %s: %s", "connected" if preview.connect else "disconnected", agent, digest)
        return preview

    def probe(self, agent: str) -> None:
        def probe() -> None:
            tried = probed_status(self._site(), agent, self._journal)
            self._queue.post(partial(self._show_probe, tried))

        self._workers.spawn(probe)

    def put_back(self, agent: str) -> str:
        self._forget(agent)
        return self._entries.put_back(agent)

    def leave(self, agent: str, digest: str) -> str:
        return self._entries.leave(agent, digest, CHANNEL)

    def show(self) -> None:
        """All agents in one text, opened: the state of each, and what connecting it would write."""
        self._open("agents", "\n".join(map(self._describe, self._states())))

    def _load(self) -> None:
        before = self._statuses, self._previews
        try:
            self._read()
        finally:
            self._is_refreshing = False
        if (self._statuses, self._previews) != before:
            self._queue.post(self.view.show)

    def _read(self) -> None:
        """The state of each agent, and what connecting or disconnecting it would write."""
        statuses = tuple(self._states())
        previews = {}
        for one in statuses:
            choices = [True] if one.installed and (not one.connected or one.stale) else []
            for connect in [*choices, False] if one.events else choices:
                with contextlib.suppress(HooktrayError):  # the row has what is wrong with its files
                    preview = self._preview(one.agent, connect=connect)
                    if not preview.is_empty:
                        previews[one.agent, connect] = preview
        self._statuses, self._previews = statuses, previews

    def _show_probe(self, one: AgentStatus) -> None:
        self._probed[one.agent] = one
        name = AGENTS[one.agent].name
        if one.firing:
            self._alerts.inform("", say("{agent} is firing: its own line brought an event here", agent=name))
        else:
            advice = "; ".join(filter(None, (one.problem, *one.advice)))
            self._alerts.inform(say("{agent} is not firing", agent=name), advice)
        self.view.show()

    def _row(self, one: AgentStatus) -> MenuAgent:
        probed = self._probed.get(one.agent)
        is_same = probed and _facts(probed) == _facts(one) and probed.stale == one.stale
        change = self._entries.change(one.agent)
        return MenuAgent(
            agent=one.agent,
            name=AGENTS[one.agent].name,
            package=one.package,
            installed=one.installed,
            connected=one.connected,
            trusted=one.trusted,
            firing=probed.firing if probed and is_same else None,
            stale=one.stale,
            last_event=one.last_event,
            changed=change.text if change else "",
            changed_digest=change.digest if change else "",
            advice=one.problem or next(iter(one.advice), "") if one.connected or one.problem else "",
            is_wanted=change is not None and change.is_wanted,
            connect=self._menu_preview(one.agent, connect=True),
            disconnect=self._menu_preview(one.agent, connect=False),
        )

    def _states(self) -> list[AgentStatus]:
        return agent_statuses(self._site(), self._journal)

    def _preview(self, agent: str, *, connect: bool) -> ConnectPreview:
        """Raises HooktrayError where nothing can be written, with the place and the remedy."""
        connector = connectors()[agent]
        plan = connector.connect(self._site()) if connect else connector.disconnect(self._site())
        if not connect and (reminder := import_reminder(self._site(), agent)):
            plan = replace(plan, notes=(*plan.notes, reminder))
        return ConnectPreview(
            agent=agent, connect=connect, summary=summary(agent, plan, Path.home()), text=_text(plan), plan=plan
        )

    def _describe(self, one: AgentStatus) -> str:
        last = "no event yet"
        if one.last_event:
            last = time.strftime("last event %Y-%m-%d %H:%M", time.localtime(one.last_event))
        state = ", ".join(
            [
                "installed" if one.installed else "not found here",
                f"{len(one.events)} events connected" if one.connected else "not connected",
                *{True: ["trusted"], False: ["not trusted"], None: []}[one.trusted],
                last,
            ]
        )
        lines = [f"{one.agent}: {state}", *filter(None, (*one.files, one.problem, *one.advice))]
        text = printable("\n  ".join(lines)) + "\n"
        if one.problem or not one.installed:
            return text
        preview = self._preview(one.agent, connect=True)
        if preview.is_empty:
            return text
        return f"{text}\n`hooktray connect {one.agent}` would write this:\n{preview.text}"

    def _open(self, name: str, text: str) -> None:
        self._opener.open_text(self._paths.reviews / f"{name}.txt", text)

    def _site(self) -> Site:
        return site(self._paths, Path.home(), hooks=hooks_in_question(self._catalog))

    def _menu_preview(self, agent: str, *, connect: bool) -> MenuPreview | None:
        one = self._previews.get((agent, connect))
        return MenuPreview(digest=one.digest, summary=one.summary, difference=one.text) if one else None

    def _advice(self, agent: str) -> tuple[str, ...]:
        """What is to be done next, when the agent is connected."""
        return next((one.advice[:1] for one in self._statuses if one.agent == agent and one.connected), ())

    def _forget(self, agent: str) -> None:
        self._probed.pop(agent, None)
        for connect in (True, False):
            self._previews.pop((agent, connect), None)


def _not_shown() -> HooktrayError:
    return HooktrayError(say("this is not what was shown last"), hint=say("open the menu once more"))


def _facts(one: AgentStatus) -> AgentStatus:
    """What a trial does not change."""
    return replace(one, firing=None, findings=(), last_event=None)


def _head(preview: ConnectPreview) -> str:
    name = AGENTS[preview.agent].name
    if preview.is_empty:
        return say("{agent}: there is nothing to write", agent=name)
    text = (
        say("What connecting {agent} would write:")
        if preview.connect
        else say("What disconnecting {agent} would write:")
    )
    how = say("To write it: the tray's menu, Settings, Agents, {agent}", agent=name)
    return f"{text.format(agent=name)}\n{preview.summary}\n{how}"


def _text(plan: Plan) -> str:
    difference = "".join(diff(change) for change in plan.changes)
    notes = "".join(f"{note}\n" for note in plan.notes)
    whole = f"{difference}\n{notes}" if difference else "Nothing is to be written."
    return printable(whole, len(whole)) + "\n"
