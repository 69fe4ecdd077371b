"""Connecting agents from menu or page: the state of each, and a preview of which the summary is shown first."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookCatalog
from tray.connect import apply_connect, apply_disconnect, connectors, forget
from tray.connect.hook_import import import_reminder
from tray.connect.summary import summary
from tray.desktop.opener import Opener
from tray.doctor.agent_sites import hooks_in_question, site
from tray.doctor.agent_status import AgentStatus, Arrivals, agent_statuses, check_line, probed_status
from tray.edit.diff import diff
from tray.installation import installed_relay
from tray.language import say
from tray.paths import Paths
from tray.text import printable


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


class ConnectService:
    """Reads the files each time. The user opens the preview, reads it, and applies that and nothing else.

    Agents are looked for as in the user's own login: with the tray's environment and no project.
    """

    def __init__(
        self,
        paths: Paths,
        journal: Arrivals,
        opener: Opener,
        catalog: HookCatalog,
    ) -> None:
        self._catalog = catalog
        self._paths = paths
        self._journal = journal
        self._opener = opener

    def states(self) -> list[AgentStatus]:
        return agent_statuses(self._site(), self._journal)

    def probe(self, agent: str) -> AgentStatus:
        """The state of one agent, after a test event of ours went through its own hook command."""
        return probed_status(self._site(), agent, self._journal)

    def preview(self, agent: str, *, connect: bool) -> ConnectPreview:
        """Raises HooktrayError where nothing can be written, with the place and the remedy."""
        connector = connectors()[agent]
        plan = connector.connect(self._site()) if connect else connector.disconnect(self._site())
        if not connect and (reminder := import_reminder(self._site(), agent)):
            plan = replace(plan, notes=(*plan.notes, reminder))
        return ConnectPreview(
            agent=agent, connect=connect, summary=summary(agent, plan, Path.home()), text=_text(plan), plan=plan
        )

    def review(self, agent: str, *, connect: bool) -> ConnectPreview:
        """The preview, opened in the user's own viewer."""
        preview = self.preview(agent, connect=connect)
        self._open(f"{'connect' if connect else 'disconnect'}-{agent}", f"{_head(preview)}\n\n{preview.text}")
        return preview

    def show(self) -> None:
        """All agents in one text, opened: the state of each, and what connecting it would write."""
        self._open("agents", "\n".join(map(self._describe, self.states())))

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
        preview = self.preview(one.agent, connect=True)
        if preview.is_empty:
            return text
        return f"{text}\n`hooktray connect {one.agent}` would write this:\n{preview.text}"

    def apply(self, preview: ConnectPreview) -> None:
        """Write the previewed files, and run the agent's line once.

        Raises HooktrayError if one of the files has changed since, or if the agent's line gives no answer.
        """
        if preview.connect:
            installed_relay.prepare_to_connect(self._paths, preview.agent)
            apply_connect(self._site(), preview.agent, preview.plan)
            check_line(self._site(), preview.agent)
        else:
            apply_disconnect(self._site(), preview.agent, preview.plan)
            forget(self._site(), preview.agent)
            installed_relay.update_after_disconnect(self._paths)

    def _open(self, name: str, text: str) -> None:
        self._opener.open_text(self._paths.reviews / f"{name}.txt", text)

    def _site(self) -> Site:
        return site(self._paths, Path.home(), hooks=hooks_in_question(self._catalog))


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
