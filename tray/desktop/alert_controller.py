"""The alerts of the running tray: builds their parts, and does what their buttons and the menu's rows request."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
import webbrowser
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Protocol, TypedDict

from tray.approvals.undo import Undo
from tray.approvals.user_action import tomorrow
from tray.desktop.confirmed_clicks import ConfirmedClicks
from tray.desktop.icon import Icon, show_balloon
from tray.desktop.menu.actions import (
    Action,
    ConnectAll,
    LeaveEntries,
    OpenPage,
    PutEntriesBack,
    Review,
    ShowAgents,
    ShowIncident,
    ShowReason,
)
from tray.desktop.opener import Opener
from tray.desktop.session_focus import SessionFocus
from tray.engine.approval_trials import TrialFailure
from tray.engine.sentence import details
from tray.engine.stores import Stores
from tray.engine.user_questions import QuestionResult, UserQuestion, UserQuestions
from tray.errors import HooktrayError
from tray.event_loop import LatestTimer, Timer
from tray.language import say
from tray.notify.alert import ALL_AGENTS, CHOICES, INCIDENT, Alert, Button, SettingsInForce
from tray.notify.alert_gate import AlertGate, Presence, Throttle
from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.notifier import DeliveryLog, NotificationBackend, Notifier
from tray.notify.push.push_queue import PushQueue
from tray.notify.push.sender_process import PushProcesses
from tray.notify.service import AlertService
from tray.notify.sound import Player
from tray.sessions.session_tracker import SessionTracker, SessionView
from tray.threads import Queue, Workers

SNOOZE = 30 * 60.0  # seconds, by the button on an alert
CHANNEL = "notification"
TRIALS = 20  # failed trials that can be undone


class MenuActions(Protocol):
    """What the alerts need of a MenuController: their buttons do what rows of the menu do."""

    def act(self, action: Action) -> None: ...


class AlertProblems(TypedDict):
    """What went wrong last with notifications, sounds and push messages; "" when nothing did."""

    notifications: str
    sound: str
    push: str


class AlertController:
    """Builds the parts of the alerts. Its methods run on the thread of `queue`, unless a docstring names another.

    `clicks`, `icon`, `menu` and `presenter` are set before `queue` runs anything.
    """

    clicks: ConfirmedClicks
    icon: Icon
    menu: MenuActions
    presenter: SessionView

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        queue: Queue,
        workers: Workers,
        stores: Stores,
        settings: SettingsInForce,
        questions: UserQuestions,
        *,
        deliveries: DeliveryLog,
        sessions: SessionTracker,
        places: SessionFocus,
        presence: Presence,
        timer: Timer,
        opener: Opener,
        folder: Path,
    ) -> None:
        """`folder` is that of the tray's state: it has the URLs of push services and the texts that are shown."""
        self._queue, self._settings, self._switch = queue, settings, stores.switch
        self._sessions, self._places, self.questions = sessions, places, questions
        self._opener, self._texts = opener, folder / "reviews"
        self._tampering: set[str] = set()
        self._numbers = itertools.count(1)
        self._undo_actions: dict[str, Undo] = {}  # what the last alert's Undo takes back
        self._trial_undos: dict[str, Undo] = {}  # the same for approvals whose trials failed
        self._throttle = Throttle(settings)
        self._throttle.snoozed_until = stores.switch.state().snoozed_until or None
        self._player = Player(settings)
        self._notifier = Notifier(loop, self, self._player, stores.switch, deliveries)
        self.push = PushQueue(
            settings,
            presence=presence,
            throttle=self._throttle,
            timer=timer,
            workers=workers,
            folder=folder,
            processes=PushProcesses(),
        )
        self._gate = AlertGate(
            self._throttle,
            self._notifier,
            presence,
            settings,
            deliveries,
            push=self.push.push,
            timer=timer,
            release_timer=LatestTimer(loop, queue),
        )
        self.alerts = AlertService(
            self._gate,
            settings,
            notices=stores.journal,
            sessions=sessions,
            places=places,
            timer=timer,
        )

    # ---- what the menu shows and does

    @property
    def open_questions(self) -> tuple[UserQuestion, ...]:
        return self.questions.open

    @property
    def deferred(self) -> int:
        """How many alerts wait for their summary."""
        return self._throttle.count

    @property
    def snoozed_until(self) -> float | None:
        self._throttle.quiet_until()  # forgets one that is over
        return self._throttle.snoozed_until

    @property
    def quiet_hours(self) -> str:
        """The quiet hours as people write them; "" when there are none."""
        hours = self._settings.current.quiet_hours
        return say("{begin} to {end}", begin=hours.begin, end=hours.end) if hours else ""

    @property
    def quiet_hours_on(self) -> bool:
        return self._throttle.quiet_hours_on

    @property
    def sound_pack(self) -> str:
        """The sound pack with its licence; "" without one, or where it cannot be read."""
        return self._player.pack_line

    @property
    def failing_hooks(self) -> frozenset[str]:
        """The hooks that failed when they last ran."""
        return frozenset(one.hook for one in self.alerts.hook_problems)

    @property
    def problems(self) -> AlertProblems:
        """For the doctor."""
        return {
            "notifications": self._notifier.last_error,
            "sound": self._player.last_error,
            "push": self.push.problem,
        }

    def announce_tampering(self, stores: Stores) -> None:
        """Announce once that another program changed the switch."""
        what = stores.switch.tampered
        if what and what not in self._tampering and not stores.database.is_damaged:  # which has an alert of its own
            self._tampering.add(what)
            self.alerts.alarm(say("The switch is not as Hooktray left it"), what)

    def announce(self, alert: Alert) -> None:
        """At once, whatever is deferred."""
        self._notifier.announce((alert,))

    def answer(self, question: str, allow: bool, channel: str = "menu") -> None:
        if not self.questions.answer(question, allow=allow, channel=channel):
            self.alerts.inform("", say("This question is closed already"))

    def choose(self, question: UserQuestion | None, number: int) -> None:
        """The answer on one of the buttons."""
        asked = question.form.choice if question is not None and question.form is not None else None
        answers = {asked.text: (asked.options[number].label,)} if asked else {}
        if question is None or not self.questions.answer_form(question.id, answers, channel=CHANNEL):
            self.alerts.inform("", say("This question is closed already"))

    def snooze(self, seconds: float | None) -> None:
        """None = until tomorrow."""
        self._snooze(tomorrow(time.time()) - time.time() if seconds is None else seconds)

    def end_snooze(self) -> None:
        """End the snooze, and announce what was deferred."""
        self._snooze(None)

    def _snooze(self, seconds: float | None) -> None:
        self._gate.snooze(seconds)
        self._switch.snooze(self._throttle.snoozed_until)
        self.presenter.show()

    def set_quiet_hours(self, on: bool) -> None:
        """Whether quiet hours count, until the tray ends."""
        self._throttle.quiet_hours_on = on
        self._gate.recheck()
        self.presenter.show()

    def show_deferred(self) -> None:
        """Everything that is deferred, as a text."""
        rows = (
            f"{time.strftime('%d %b %H:%M', time.localtime(one.at))}  {one.alert.title}  {one.alert.body}"
            for one in self._throttle.deferred
        )
        self.show_text("held", "\n".join(rows) + "\n")

    def show_text(self, name: str, text: str) -> None:
        """Open a text in the user's viewer; `name` is the file's, without its ending."""
        self._opener.open_text(self._texts / f"{name}.txt", text)

    # ---- the buttons

    def press(self, alert: Alert, button: Button) -> None:
        """What a button does. None of them loosens a gate: what does is opened for review."""
        if not self._do(alert, button):
            self._open(alert, button)

    def _do(self, alert: Alert, button: Button) -> bool:
        """Carry out a button that does not only open something; False for one that does."""
        match button:
            case Button.ALLOW | Button.DENY:
                self.answer(alert.about, button is Button.ALLOW, CHANNEL)
            case _ if button in CHOICES:
                self.choose(self.questions.find(alert.about), CHOICES.index(button))
            case Button.ANSWER:
                self._show_form(alert.about)
            case Button.GO:
                self._places.go(alert.agent, alert.session)
            case Button.SNOOZE:
                self.snooze(SNOOZE)
            case Button.UNDO:
                self._undo(alert.about)
            case Button.CONNECT if alert.about == ALL_AGENTS:
                self.menu.act(ConnectAll(tuple(alert.digest.split())))
            case Button.PUT_BACK | Button.CONNECT:
                self.menu.act(PutEntriesBack(alert.about))
            case Button.LEAVE:
                self.menu.act(LeaveEntries(alert.about, alert.digest))
            case _:
                return False
        return True

    def _open(self, alert: Alert, button: Button) -> None:
        """What a click on the alert itself, or on *Review*, opens."""
        question = self.questions.find(alert.about)
        match button:
            case _ if alert.about == ALL_AGENTS:
                self.menu.act(ShowAgents())
            case _ if Button.LEAVE in alert.buttons:
                self.show_text(f"entries-{alert.about}", f"{alert.title}\n{alert.body}\n")
            case _ if Button.UNDO in alert.buttons:
                self._show_reason("")
            case Button.REVIEW | Button.DEFAULT if alert.about == INCIDENT:
                self.menu.act(ShowIncident())
            case Button.REVIEW:
                self.menu.act(Review(alert.about, alert.digest))
            case _ if button is Button.DEFAULT and alert.url:
                webbrowser.open(alert.url)
            case Button.DEFAULT if Button.GO in alert.buttons:
                self._places.go(alert.agent, alert.session)
            case _ if question is not None and question.form is not None:
                self._show_form(question.id)
            case _ if question is not None:
                self.show_text(f"question-{question.id[:8]}", details(question))
            case _ if alert.digest:
                self.menu.act(Review(alert.about, alert.digest))
            case _ if self.alerts.is_running(alert.about):
                self.alerts.when_ended(alert.about, self._show_reason)
                self.alerts.inform("", say("Its hooks still run; the page opens when they have ended"))
            case _:
                self._show_reason(alert.about)

    def _show_form(self, question: str) -> None:
        self.menu.act(OpenPage(f"questions/{question}"))

    def _show_reason(self, record: str) -> None:
        self.menu.act(ShowReason(record))

    def switched(self, text: str, channel: str, undo: Undo | None) -> None:
        """From any thread: announce what was done, with the button that takes it back."""

        def work() -> None:
            number = f"undo-{next(self._numbers)}" if undo else ""
            self._undo_actions = {number: undo} if undo else {}
            self.alerts.switched(text, channel, number)

        self._queue.post(work)

    def trial_failed(self, failure: TrialFailure, undo: Undo) -> None:
        """From any thread: show that the trial after an approval failed, with the button that takes it back."""

        def work() -> None:
            number = f"trial-{next(self._numbers)}"
            self._trial_undos = dict([*self._trial_undos.items(), (number, undo)][-TRIALS:])
            self.alerts.trial_failed(failure.hook, failure.cause, failure.remedy, number)

        self._queue.post(work)

    def _undo(self, number: str) -> None:
        """Only the last thing that was done, as what came before may be its base; and any approval that failed."""
        undo = self._undo_actions.pop(number, None) or self._trial_undos.pop(number, None)
        try:
            if undo is None:
                raise HooktrayError(say("It can no longer be taken back"))
            undo.undo()
        except HooktrayError as error:
            self.alerts.inform(error.message, error.hint)

    def close(self) -> None:
        self._gate.close()
        self._notifier.close()
        self._player.close()

    def asking_agents(self) -> Collection[str]:
        """Returns the agents whose questions are shown here; none if the user cannot see them. From any thread."""
        is_seen = self.icon.visible or self._notifier.working
        return self._settings.current.ask_on_desktop.agents if is_seen else ()

    def question_seconds(self) -> float:
        """From any thread: how long a question waits."""
        return self._settings.current.ask_on_desktop.seconds

    def question_opened(self, question: UserQuestion) -> None:
        """Called on the thread of `queue`, as `question_closed` is."""
        self._sessions.asked(question.event)
        self.alerts.question_opened(question)
        self.presenter.show()

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        self.alerts.question_closed(question, result)
        self.presenter.show()

    # ---- the desktop of the notifier, called on its loop

    def backends(self, platform: str = sys.platform) -> tuple[NotificationBackend, ...]:
        """In the order in which they are tried."""
        from tray.notify.fallback_backends import BalloonBackend, NotifySendBackend, OsascriptBackend, PlyerBackend

        if platform == "linux":
            return (FreedesktopBackend(self), NotifySendBackend(), PlyerBackend(platform))
        from tray.notify.desktop_notifier_backend import DesktopNotifierBackend

        second = OsascriptBackend() if platform == "darwin" else BalloonBackend(self)
        return (DesktopNotifierBackend(self), second, PlyerBackend(platform))

    def pressed(self, alert: Alert, button: Button) -> None:
        self._queue.post(partial(self.press, alert, button))

    def trusts(self, pid: int) -> bool:
        return self.clicks.is_trusted_host(pid)

    def rejected(self, pid: int, alert: Alert, button: Button) -> None:
        self.clicks.button_rejected(pid, partial(self.pressed, alert, button))

    def show_balloon(self, title: str, text: str) -> bool:
        return show_balloon(self.icon, title, text)
