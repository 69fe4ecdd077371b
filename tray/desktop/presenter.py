"""Draws the icon and the menu from the tray's state. What a click does is in menu_controller.py."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from tray.approvals.batch import ApprovalBatch, button_label
from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.controls import Controls
from tray.desktop import menu
from tray.desktop.artwork import IconState
from tray.desktop.icon import Icon
from tray.desktop.labels import clock
from tray.desktop.menu_services import MenuServices
from tray.language import say
from tray.model.decision import Record
from tray.model.hook import ApprovalState
from tray.text import sanitise

ACTIVE_SECONDS = 3600.0  # seconds for which an agent counts after it was heard of


class Presenter:
    """What the user sees of the tray. All of it runs on one thread; `soon` brings work there."""

    def __init__(
        self,
        *,
        controls: Controls,
        catalog: HookCatalog,
        recent: Iterable[Record],
        post: Callable[[Callable[[], None]], None],
        services: MenuServices,
    ) -> None:
        self._controls = controls
        self._catalog = catalog
        self.recent = deque(recent, maxlen=menu.SHOWN_RECORDS)
        self._last_seen = {record.agent: record.at for record in reversed(self.recent)}
        self._running: dict[str, str] = {}
        self._post = post
        self._services = services
        self._icon: Icon | None = None
        self._resume: threading.Timer | None = None

    def attach(self, icon: Icon) -> None:
        """From here on, `icon` shows this face."""
        self._icon = icon
        self.show()

    def add(self, record: Record) -> None:
        """Keep it for the next drawing."""
        self.recent.appendleft(record)
        self._last_seen[record.agent] = record.at

    def status_shown(self, turn: str, text: str) -> None:
        """A hook runs and wants this shown."""
        self._running[turn] = text
        self.show()

    def status_hidden(self, turn: str) -> None:
        if self._running.pop(turn, None) is not None:
            self.show()

    def show(self) -> None:
        """Draw how things stand now."""
        if self._icon is None:
            return
        state = self.state(time.time())
        look = _icon_state(state)
        self._icon.show(look, _tooltip(look, state), menu.menu(state))
        self._watch_pause(state)

    def state(self, now: float) -> menu.MenuState:
        switch = self._controls.state
        extras = self._services
        found = self._controls.batch
        return menu.MenuState(
            now=now,
            enabled=switch.enabled,
            paused_until=switch.paused_until,
            partial_pauses=tuple(self._partial_pauses()),
            muted=switch.muted,
            dropped_rows=extras.dropped_rows(),
            agents=sum(at > now - ACTIVE_SECONDS for at in self._last_seen.values()),
            running=next(reversed(self._running.values()), ""),
            failing_hooks=extras.failing_hooks(),
            problem=self._catalog.configuration.problem,
            incident=extras.incident(),
            damage=extras.damage(),
            recent=tuple(self.recent),
            questions=extras.questions(),
            approvals=tuple(self._approvals(found)),
            batch=_batch(found),
            requests=tuple(
                menu.MenuRequest(id=one.id, what=one.summary, who=one.requester, done=one.is_undo)
                for one in self._controls.requests
            ),
            hooks=tuple(self._hooks()),
            alerts=replace(extras.alerts(), muted_classes=switch.muted_classes),
            connections=extras.agents.rows() if extras.agents else (),
            options=extras.options(),
        )

    def opened(self) -> None:
        """Somebody is about to look."""
        if self._services.agents:
            self._services.agents.refresh()

    def close(self) -> None:
        if self._resume:
            self._resume.cancel()

    def _partial_pauses(self) -> Iterable[menu.PartialPause]:
        """The pauses of some, with the name by which people know their sessions."""
        projects = {(record.agent, record.session): record.project for record in reversed(self.recent)}
        for one in self._controls.state.pauses:
            if one.agent or one.session:
                project = projects.get((one.agent, one.session), "")
                yield menu.PartialPause(until=one.until, agent=one.agent, session=one.session, project=project)

    def _hooks(self) -> Iterable[menu.MenuHook]:
        off = self._controls.state.hooks_off
        for one in self._catalog.states:
            if one.approved or one.state in (ApprovalState.DENIED, ApprovalState.REVOKED):
                yield menu.MenuHook(
                    key=one.key, name=one.hook.name, event=one.hook.match.event, enabled=one.key not in off,
                    state=one.state,
                )  # fmt: skip

    def _approvals(self, found: ApprovalBatch) -> Iterable[menu.Approval]:
        before = {one.key for one in found.hooks}
        yield from (_approval(one, one.key in before) for one in self._catalog.states if one.waiting)
        for setting in self._catalog.settings():
            if setting.waiting:
                yield menu.Approval(
                    key=setting.key, name=setting.text, event="", state=ApprovalState.PENDING,
                    digest=setting.digest, kind="setting",
                )  # fmt: skip

    def _watch_pause(self, state: menu.MenuState) -> None:
        """A pause ends by itself; the icon has to say so."""
        if self._resume:
            self._resume.cancel()
            self._resume = None
        ends = [one.until for one in self._controls.state.pauses]
        if ends:
            self._resume = threading.Timer(max(0.0, min(ends) - time.time()) + 0.05, self._post, (self.show,))
            self._resume.daemon = True
            self._resume.start()


def _batch(found: ApprovalBatch) -> menu.MenuBatch | None:
    return menu.MenuBatch(number=len(found.hooks), digest=found.digest, click=button_label(found)) if found else None


def _approval(one: HookState, before: bool) -> menu.Approval:
    return menu.Approval(
        key=one.key,
        name=one.hook.name,
        event=one.hook.match.event,
        state=one.state,
        digest=one.digest,
        removed=one.digest == REMOVED,
        missing=one.missing,
        before=before,
    )


def _icon_state(state: menu.MenuState) -> IconState:
    if not state.enabled:
        return IconState.OFF
    if state.paused_until is not None:
        return IconState.PAUSED
    troubles = state.problem or state.incident or state.damage
    waits = state.questions or state.approvals or state.requests or troubles
    return IconState.ATTENTION if waits else IconState.ON


def _tooltip(look: IconState, state: menu.MenuState) -> str:
    if look is IconState.OFF:
        words = say("hooks are off")
    elif look is IconState.PAUSED:
        words = say("hooks are paused until {time}", time=clock(state.paused_until or 0, state.now))
    elif state.incident:
        words = sanitise(state.incident, menu.STATUS_LIMIT)
    elif running := sanitise(state.running, menu.STATUS_LIMIT):
        words = running
    elif state.damage and look is IconState.ATTENTION:
        words = sanitise(state.damage, menu.STATUS_LIMIT)
    else:
        words = say("something waits for you") if look is IconState.ATTENTION else say("hooks are on")
    return f"Hooktray: {words}"
