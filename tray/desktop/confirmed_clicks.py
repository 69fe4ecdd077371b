"""Takes clicks on icon and page. The passphrase must confirm clicks that come from unknown panels and browsers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from tray.approvals.callers.caller_facts import read_process
from tray.approvals.callers.click_check import ClickRejection, ClickTrust
from tray.approvals.callers.person import Proof, process_label
from tray.approvals.controls import Controls
from tray.approvals.user_action import UserAction
from tray.clock import Clock
from tray.desktop.menu.actions import (
    Action,
    OpenPage,
    Review,
    ReviewBatch,
    ShowIncident,
    ShowProblem,
    ShowReason,
    ToggleSwitch,
)
from tray.language import phrase, say
from tray.notify.service import AlertService
from tray.threads import Queue

CLICKS = "clicks"  # the word for them in `hooktray approve`
QUIET_SECONDS = 60.0  # between two notifications about clicks that did nothing: any program can click
# Actions that only show something.
HARMLESS = (OpenPage, Review, ReviewBatch, ShowIncident, ShowProblem, ShowReason)
OTHER_WAYS = phrase("Use the page, or your passphrase at a terminal")


class ClickedMenu(Protocol):
    """The part of MenuController that is used here, on the thread of the queue."""

    def act(self, action: Action) -> None: ...
    def opened(self) -> None: ...


class ConfirmedClicks:
    """Takes clicks from any thread, and hands them to the menu on the thread of the queue.

    A program whose click the user has confirmed may click until it ends.
    `menu` is set before the queue runs anything.
    """

    menu: ClickedMenu

    def __init__(
        self, trust: ClickTrust, controls: Controls, messages: AlertService, queue: Queue, clock: Clock = time
    ) -> None:
        self._trust, self._controls, self._messages = trust, controls, messages
        self._queue, self._clock = queue, clock
        self._waiting: dict[int, Callable[[], None]] = {}  # by process: what was clicked last
        self._quiet_until = 0.0

    def act(self, action: Action) -> None:
        """Do what was clicked."""
        self._queue.post(partial(self.menu.act, action))

    def opened(self) -> None:
        """The menu is about to be shown."""
        self._queue.post(self.menu.opened)

    def is_trusted_host(self, pid: int) -> bool:
        return self._trust.is_trusted_host(pid)

    def menu_rejected(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        """Handle a click in the menu that did not count."""
        self._queue.post(partial(self._clicked, pid, is_host, actions))

    def button_rejected(self, pid: int, work: Callable[[], None]) -> None:
        """Handle a click on a notification that did not count."""
        self._queue.post(partial(self._request, pid, work))

    def browser_objection(self, pid: int) -> ClickRejection | None:
        return self._trust.browser_objection(pid)

    def confirm_browser(self, pids: Sequence[int], typed: str) -> bool:
        """Returns whether `typed` is the passphrase; if so, the browser's clicks count from here on.

        Raises HooktrayError after too many tries.
        """
        if not self._controls.passphrase.check(typed, f"browser {min(pids, default=0)}"):
            return False
        for pid in pids:
            self._trust.confirm(pid)
        return True

    def _clicked(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        if not is_host:
            title = say("A program that is not a tray host clicked in Hooktray's menu, which did nothing")
            self._tell(title, say(OTHER_WAYS))
            return
        harmless = [one for one in actions if self._is_harmless(one)]
        left = [one for one in actions if one not in harmless]
        found = self._trust.host_objection(pid)
        if found is None or found.proof is not Proof.REFUSED:
            self._act_on(harmless)
        if left:
            self._request(pid, partial(self._act_on, left))

    def _act_on(self, actions: Sequence[Action]) -> None:
        for one in actions:
            self.act(one)

    def _is_harmless(self, action: Action) -> bool:
        """True for what only shows something or switches on. The menu has one row for on and off."""
        if isinstance(action, ToggleSwitch):
            return not self._controls.state.enabled
        return isinstance(action, HARMLESS) or action == UserAction(action="resume")

    def _request(self, pid: int, work: Callable[[], None]) -> None:
        """Have the user confirm the click with the passphrase, or show why that is not possible."""
        found = self._trust.host_objection(pid)
        if found is None:  # the user has confirmed it meanwhile
            work()
            return
        why = found.detail or say("the system does not show who asks")
        title = say("Your click did nothing: {why}", why=why)
        one = read_process(pid)
        if found.proof is Proof.REFUSED:
            self._tell(title, say("Start it again outside of the agent, or use the page"))
        elif one is None:
            self._tell(title, say(OTHER_WAYS))
        elif not self._controls.passphrase.is_set:
            self._tell(title, say("Use the page, or set a passphrase: `hooktray passphrase`"))
        else:
            self._waiting[pid] = work
            who = process_label(one)
            summary = say("Count the clicks in {who} until it ends", who=who)
            self._controls.add_request(summary, who, partial(self._confirm, pid), word=CLICKS)
            how = say("Confirm it with `hooktray approve clicks` in a terminal, or on the page")
            self._tell(say("Your click waits: {why}", why=why), how)

    def _confirm(self, pid: int) -> None:
        self._trust.confirm(pid)
        if work := self._waiting.pop(pid, None):
            self._queue.post(work)

    def _tell(self, title: str, text: str) -> None:
        now = self._clock.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            self._messages.inform(title, text)
