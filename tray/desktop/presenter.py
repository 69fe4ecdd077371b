"""Draws the icon and the menu from the tray's state. What a click does is in menu_controller.py."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable

from tray.approvals.batch import button_label
from tray.approvals.catalog import REMOVED, HookCatalog
from tray.approvals.controls import Controls
from tray.desktop.artwork import IconState
from tray.desktop.icon import Icon
from tray.desktop.labels import clock
from tray.desktop.linux import collapses_submenus
from tray.desktop.menu import menu
from tray.desktop.menu.questions import waiting_number
from tray.desktop.menu.recent import RECORD_LIMIT
from tray.desktop.menu.state import (
    AlertsState,
    Approval,
    MenuBatch,
    MenuHook,
    MenuQuestion,
    MenuRequest,
    MenuState,
    PartialPause,
)
from tray.desktop.menu.status import STATUS_LIMIT, status, tampered, trouble
from tray.desktop.menu_parts import MenuParts
from tray.engine.sentence import tool_text
from tray.language import count, say
from tray.model.decision import Record
from tray.model.hook import ApprovalState
from tray.text import sanitise

ACTIVE_SECONDS = 3600.0  # seconds for which an agent counts after its last event


class Presenter:
    """What the user sees of the tray. All of it runs on one thread, that of the queue.

    It shows the decisions that are in `recent`, newest first, and when each agent sent its last event.
    """

    def __init__(
        self,
        *,
        controls: Controls,
        catalog: HookCatalog,
        recent: Iterable[Record],
        parts: MenuParts,
    ) -> None:
        self._controls = controls
        self._catalog = catalog
        self.recent = deque(recent, maxlen=RECORD_LIMIT)
        self.last_events = {one.agent: one.at for one in reversed(self.recent) if not one.test}
        self._running: dict[str, str] = {}
        self._parts = parts
        self._icon: Icon | None = None
        self._resume: threading.Timer | None = None

    def attach(self, icon: Icon) -> None:
        """From here on, `icon` shows this."""
        self._icon = icon
        self.show()

    def status_shown(self, turn: str, text: str) -> None:
        """A hook runs and wants this shown."""
        self._running[turn] = text
        self.show()

    def status_hidden(self, turn: str) -> None:
        if self._running.pop(turn, None) is not None:
            self.show()

    def show(self) -> None:
        """Draw the present state."""
        if self._icon is None:
            return
        state = self.state(time.time())
        self._icon.show(*look(state), menu(state))
        self._watch_pause()

    def state(self, now: float) -> MenuState:
        switch = self._controls.state
        parts, alerts = self._parts, self._parts.alerts
        incident = parts.lost_state.incident
        return MenuState(
            now=now,
            enabled=switch.enabled,
            paused_until=switch.paused_until,
            partial_pauses=tuple(self._partial_pauses()),
            muted=switch.muted,
            dropped_rows=parts.journal.dropped,
            active_agents=sum(at > now - ACTIVE_SECONDS for at in self.last_events.values()),
            running=next(reversed(self._running.values()), ""),
            failing_hooks=len(parts.doctor.failing_hooks(alerts.failing_hooks)),
            unjudged=parts.audit.unseen,
            problem=self._catalog.configuration.problem,
            incident=incident.headline if incident else parts.connections.problem,  # or why agents get no answer
            recent=tuple(self.recent),
            sessions=parts.sessions.sessions,
            questions=tuple(self._questions()),
            approvals=tuple(self._approvals()),
            batches=tuple(self._batches()),
            requests=tuple(
                MenuRequest(id=one.id, summary=one.summary, requester=one.requester, is_undo=one.is_undo)
                for one in self._controls.requests
            ),
            hooks=tuple(self._hooks()),
            alerts=AlertsState(
                muted_classes=switch.muted_classes,
                snoozed_until=alerts.snoozed_until,
                quiet_hours=alerts.quiet_hours,
                quiet_hours_on=alerts.quiet_hours_on,
                sound_pack=alerts.sound_pack,
                deferred=alerts.deferred,
            ),
            agents=parts.agents.rows(),
            at_login=parts.login.is_on(),
            has_passphrase=self._controls.passphrase.is_set,
            flat=collapses_submenus(os.environ),
        )

    def opened(self) -> None:
        """The menu is about to be shown."""
        self._parts.agents.refresh()

    def close(self) -> None:
        if self._resume:
            self._resume.cancel()

    def _partial_pauses(self) -> Iterable[PartialPause]:
        """The pauses of some, with the project that people know their sessions by."""
        projects = {(record.agent, record.session): record.project for record in reversed(self.recent)}
        for one in self._controls.state.pauses:
            if one.agent or one.session:
                project = projects.get((one.agent, one.session), "")
                yield PartialPause(until=one.until, agent=one.agent, session=one.session, project=project)

    def _questions(self) -> Iterable[MenuQuestion]:
        for one in self._parts.alerts.open_questions:
            event = one.event
            yield MenuQuestion(
                id=one.id,
                agent=event.agent,
                project=event.project,
                subject=tool_text(event),
                session=event.session,
                is_form=one.form is not None,
            )

    def _hooks(self) -> Iterable[MenuHook]:
        off = self._controls.state.hooks_off
        for one in self._catalog.states:
            if one.approved or one.state in (ApprovalState.DENIED, ApprovalState.REVOKED):
                yield MenuHook(
                    key=one.key, name=one.hook.name, event=one.hook.match.event, enabled=one.key not in off,
                    state=one.state, granted=one.granted if one.approved else (),
                    asks_for=one.asks_for if one.approved else (),
                )  # fmt: skip

    def _approvals(self) -> Iterable[Approval]:
        before = {one.key for one in self._controls.batch.hooks}
        for one in self._catalog.states:
            if one.waiting:
                yield Approval(
                    key=one.key,
                    name=one.hook.name,
                    event=one.hook.match.event,
                    state=one.state,
                    digest=one.digest,
                    removed=one.digest == REMOVED,
                    missing=one.missing,
                    imported=one.key in before,
                )
        for setting in self._catalog.settings():
            if setting.waiting:
                yield Approval(
                    key=setting.key, name=setting.text, event="", state=ApprovalState.PENDING,
                    digest=setting.digest, kind="setting",
                )  # fmt: skip

    def _batches(self) -> Iterable[MenuBatch]:
        for one in self._controls.batches:
            if len(one.hooks) > 1 or not one.source:  # one hook of a source is approved by its own row
                number, label = len(one.hooks), button_label(one)
                yield MenuBatch(number=number, digest=one.digest, label=label, source=one.source)

    def _watch_pause(self) -> None:
        """A pause ends by itself; then the icon must change, and the relay's guards count again."""
        if self._resume:
            self._resume.cancel()
            self._resume = None
        ends = [one.until for one in self._controls.state.pauses]
        if ends:
            seconds = max(0.0, min(ends) - time.time()) + 0.05
            self._resume = threading.Timer(seconds, self._parts.sources.request)
            self._resume.daemon = True
            self._resume.start()


def look(state: MenuState) -> tuple[IconState, str]:
    """The icon and its tooltip."""
    icon_state = _icon_state(state)
    parts = ["Hooktray", _state_text(icon_state, state)]
    if number := waiting_number(state):
        parts.append(count("{n} agent waits for you", "{n} agents wait for you", number))
    return icon_state, " · ".join(filter(None, parts))


def _icon_state(state: MenuState) -> IconState:
    if not state.enabled:
        return IconState.OFF
    if state.paused_until is not None:
        return IconState.PAUSED
    if state.incident or tampered(state):
        return IconState.CUT_OFF
    if state.problem:
        return IconState.BROKEN
    if waiting_number(state):
        return IconState.WAITING
    if state.approvals or state.requests:
        return IconState.ATTENTION
    return IconState.TROUBLE if state.failing_hooks or state.unjudged else IconState.ON


def _state_text(icon_state: IconState, state: MenuState) -> str:
    """Why the icon is as it is."""
    match icon_state:
        case IconState.OFF:
            return say("Hooks are off")
        case IconState.PAUSED:
            return say("Hooks are paused until {time}", time=clock(state.paused_until or 0, state.now))
        case IconState.CUT_OFF:
            return sanitise(state.incident or tampered(state), STATUS_LIMIT)
        case IconState.BROKEN:
            return say("The configuration is broken")
        case IconState.WAITING:
            return sanitise(state.running, STATUS_LIMIT)
    if running := sanitise(state.running, STATUS_LIMIT):
        return running
    if icon_state is IconState.TROUBLE:
        return trouble(state)
    return status(state).label if icon_state is IconState.ATTENTION else say("Hooks are on")
