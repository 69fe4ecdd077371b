"""Agents for the menu: the state of each, the preview that was shown, and the click that writes it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from tray.agents.registry import AGENTS
from tray.app.checks.agent_status import AgentStatus
from tray.app.connecting import ConnectPreview, ConnectService
from tray.app.entry_watch import EntryWatch
from tray.desktop.menu import MenuAgent
from tray.errors import HooktrayError
from tray.language import say

CHANNEL = "tray"
MAX_AGE = 60.0  # seconds after which the states are read again, where the menu's opening is not reported

log = logging.getLogger(__name__)


class AgentsMenu:
    """A refresh reads the agents' files and starts a process, so it runs on a thread of its own.

    All else is called on the presenter's thread, as is what `changed` and `inform` lead to.
    """

    def __init__(
        self,
        connecting: ConnectService,
        *,
        spawn: Callable[[Callable[[], object]], object],
        changed: Callable[[], object],
        inform: Callable[[str, str], object],
        entries: EntryWatch | None = None,
    ) -> None:
        self._connecting = connecting
        self._spawn = spawn
        self._changed = changed
        self._inform = inform
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

    def refresh(self) -> None:
        if self._is_refreshing:
            return
        self._is_refreshing, self._refreshed = True, time.monotonic()
        if self._spawn(self._load) is False:  # too much is going on
            self._is_refreshing = False

    def review(self, agent: str, *, connect: bool) -> None:
        """Shown, and kept for the click that writes it."""
        preview = self._connecting.review(agent, connect=connect)
        self._previews.pop((agent, connect), None)
        if not preview.is_empty:
            self._previews[agent, connect] = preview

    def apply(self, agent: str, digest: str) -> str:
        previews = (one for (name, _), one in self._previews.items() if name == agent)
        preview = next((one for one in previews if one.digest == digest), None)
        if preview is None:
            raise HooktrayError(say("this is not what was shown last"), hint=say("open the menu once more"))
        self._forget(agent)
        self._connecting.apply(preview)
        log.info("%s %s: %s", "connected" if preview.connect else "disconnected", agent, digest)
        self._statuses = tuple(self._connecting.states())
        text = say("{agent} is connected") if preview.connect else say("{agent} is disconnected")
        return " · ".join((text.format(agent=AGENTS[agent].name), *self._advice(agent)))

    def probe(self, agent: str) -> None:
        self._spawn(lambda: self._probe(agent))

    def put_back(self, agent: str) -> str:
        self._forget(agent)
        return self._watch().put_back(agent)

    def leave(self, agent: str, digest: str) -> str:
        return self._watch().leave(agent, digest, CHANNEL)

    def show(self) -> None:
        self._connecting.show()

    def _watch(self) -> EntryWatch:
        if self._entries is None:
            raise HooktrayError(say("nothing watches the agents' settings"))
        return self._entries

    def _load(self) -> None:
        try:
            states = tuple(self._connecting.states())
        finally:
            self._is_refreshing = False
        if states != self._statuses:
            self._statuses = states
            self._changed()

    def _probe(self, agent: str) -> None:
        one = self._connecting.probe(agent)
        self._probed[agent] = one
        name = AGENTS[agent].name
        if one.firing:
            self._inform("", say("{agent} is firing: its own line brought an event here", agent=name))
        else:
            advice = "; ".join(filter(None, (one.problem, *one.advice)))
            self._inform(say("{agent} is not firing", agent=name), advice)
        self._changed()

    def _row(self, one: AgentStatus) -> MenuAgent:
        probed = self._probed.get(one.agent)
        is_same = probed and _facts(probed) == _facts(one) and probed.stale == one.stale
        change = self._entries.change(one.agent) if self._entries else None
        digests = {
            connect: preview.digest for (name, connect), preview in self._previews.items() if name == one.agent
        }
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
            connect=digests.get(True, ""),
            disconnect=digests.get(False, ""),
        )

    def _advice(self, agent: str) -> tuple[str, ...]:
        """What is to be done next, when the agent is connected."""
        return next((one.advice[:1] for one in self._statuses if one.agent == agent and one.connected), ())

    def _forget(self, agent: str) -> None:
        self._probed.pop(agent, None)
        for connect in (True, False):
            self._previews.pop((agent, connect), None)


def _facts(one: AgentStatus) -> AgentStatus:
    """What a trial does not change."""
    return replace(one, firing=None, findings=(), last_event=None)
