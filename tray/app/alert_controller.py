"""The alerts of the running tray: builds their parts, and does what their buttons and the menu's rows request."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import time
import webbrowser
from collections.abc import Callable, Collection
from pathlib import Path

from tray.app.alert_ports import AlertActions, AlertPorts
from tray.approvals.pauses import tomorrow
from tray.approvals.undo import Undo
from tray.doctor.state_incident import INCIDENT
from tray.engine.approval_trials import TrialFailure
from tray.engine.explain import details
from tray.engine.stores import Stores
from tray.engine.user_questions import QuestionResult, UserQuestion, UserQuestions
from tray.errors import HooktrayError
from tray.ipc.health import TrayHealth
from tray.language import say
from tray.notify.alert import ALL_AGENTS, CHOICES, Alert, Button, quiet_until
from tray.notify.alert_gate import AlertGate
from tray.notify.freedesktop import FreedesktopBackend, OnPress
from tray.notify.notifier import NotificationBackend, Notifier
from tray.notify.push.push_queue import PushQueue
from tray.notify.push.sender_process import PushProcesses
from tray.notify.service import AlertService
from tray.notify.sound import Player
from tray.notify.throttle import Throttle

SNOOZE = 30 * 60.0  # seconds, by the button on an alert
CHANNEL = "notification"
TRIALS = 20  # failed trials that can be undone

Post = Callable[[Callable[[], None]], None]


class AlertController:
    """`post` runs work on the thread that owns alert service and throttle; the others are called from any thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        post: Post,
        ports: AlertPorts,
        questions: UserQuestions,
        *,
        snoozed_until: float = 0,
        secrets: Path = Path(),
    ) -> None:
        """`snoozed_until` is from before this start; `secrets` is the folder of the URLs of push services."""
        self.actions = AlertActions()  # replaced once menu and page are built
        self._loop, self._post, self._ports, self.questions = loop, post, ports, questions
        self._tampering: set[str] = set()
        self._quiet_on = True
        self._numbers = itertools.count(1)
        self._undo_actions: dict[str, Undo] = {}  # what the last alert's Undo takes back
        self._trial_undos: dict[str, Undo] = {}  # the same for approvals whose trials failed
        self._timer: asyncio.TimerHandle | None = None
        self._throttle = Throttle(time.time, self._quiet_until)
        self._throttle.snoozed_until = snoozed_until or None
        self._make_notifier()
        self.push = PushQueue(
            ports.settings,
            is_away=lambda answer: ports.look("", "", lambda found: answer(found.is_away)),
            is_quiet=lambda: self._throttle.quiet_until() is not None,
            later=self.after,
            spawn=ports.spawn,
            folder=secrets,
            processes=PushProcesses(),
        )
        self._make_alerts()

    def _make_notifier(self) -> None:
        ports = self._ports
        self._player = Player(
            volume=lambda: ports.settings().volume,
            pack=lambda: ports.settings().sound_pack,
            speaks=lambda: ports.settings().speak,
        )

        def ways() -> tuple[NotificationBackend, ...]:
            return backends(self._pressed, ports.trusts, ports.show_balloon, rejected=ports.rejected)

        self._notifier = Notifier(self._loop, ways, self._player, ports.muted, ports.on_delivery)
        self._gate = AlertGate(
            self._throttle,
            self._notifier,
            ports.look,
            self.after,
            at_release=self._at_release,
            mode=lambda: ports.settings().while_looking,
            on_delivery=ports.on_delivery,
        )

    def _make_alerts(self) -> None:
        ports = self._ports
        self.alerts = AlertService(
            self._gate,
            ports.settings,
            is_first=ports.is_first,
            can_focus=ports.can_focus,
            is_headless=ports.is_headless,
            later=self.after,
            session_name=ports.session_name,
            push=self.push.push,
        )

    def _quiet_until(self, now: float) -> float | None:
        return quiet_until(self._ports.settings().quiet_hours if self._quiet_on else None, now)

    # ---- what the menu shows and does

    @property
    def open_questions(self) -> tuple[UserQuestion, ...]:
        return self.questions.open

    @property
    def deferred(self) -> int:
        """How many alerts wait for their summary."""
        return self._gate.count

    @property
    def snoozed_until(self) -> float | None:
        return self._gate.snoozed_until

    @property
    def quiet_hours(self) -> str:
        """The quiet hours as people write them; "" when there are none."""
        hours = self._ports.settings().quiet_hours
        return say("{begin} to {end}", begin=hours.begin, end=hours.end) if hours else ""

    @property
    def quiet_hours_on(self) -> bool:
        return self._quiet_on

    @property
    def sound_pack(self) -> str:
        """The sound pack with its licence; "" without one, or where it cannot be read."""
        return self._player.pack_line

    @property
    def failing_hooks(self) -> frozenset[str]:
        """The hooks that failed when they last ran."""
        return frozenset(one.hook for one in self.alerts.hook_problems)

    @property
    def problems(self) -> TrayHealth:
        """What went wrong last with notifications and sounds, for the doctor; "" when nothing did."""
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
        self._gate.snooze(tomorrow(time.time()) - time.time() if seconds is None else seconds)
        self._ports.keep_snooze(self._gate.snoozed_until)
        self.actions.redraw()

    def end_snooze(self) -> None:
        """End the snooze, and announce what was deferred."""
        self._gate.snooze(None)
        self._ports.keep_snooze(None)
        self.actions.redraw()

    def set_quiet_hours(self, on: bool) -> None:
        """Whether quiet hours count, until the tray ends."""
        self._quiet_on = on
        self._gate.recheck()
        self.actions.redraw()

    def show_deferred(self) -> None:
        """Everything that is deferred, as a text."""
        rows = (
            f"{time.strftime('%d %b %H:%M', time.localtime(one.at))}  {one.alert.title}  {one.alert.body}"
            for one in self._gate.deferred
        )
        self.actions.show_text("held", "\n".join(rows) + "\n")

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
                self.actions.show_form(alert.about)
            case Button.GO:
                self.actions.go_to_session(alert.agent, alert.session)
            case Button.SNOOZE:
                self.snooze(SNOOZE)
            case Button.UNDO:
                self._undo(alert.about)
            case Button.CONNECT if alert.about == ALL_AGENTS:
                self.actions.connect_all(tuple(alert.digest.split()))
            case Button.PUT_BACK | Button.CONNECT:
                self.actions.put_back(alert.about)
            case Button.LEAVE:
                self.actions.leave(alert.about, alert.digest)
            case _:
                return False
        return True

    def _open(self, alert: Alert, button: Button) -> None:
        """What a click on the alert itself, or on *Review*, opens."""
        question = self.questions.find(alert.about)
        match button:
            case _ if alert.about == ALL_AGENTS:
                self.actions.show_agents()
            case _ if Button.LEAVE in alert.buttons:
                self.actions.show_text(f"entries-{alert.about}", f"{alert.title}\n{alert.body}\n")
            case _ if Button.UNDO in alert.buttons:
                self.actions.show_reason("")
            case Button.REVIEW | Button.DEFAULT if alert.about == INCIDENT:
                self.actions.show_incident()
            case Button.REVIEW:
                self.actions.show_review(alert.about, alert.digest)
            case _ if button is Button.DEFAULT and alert.url:
                webbrowser.open(alert.url)
            case Button.DEFAULT if Button.GO in alert.buttons:
                self.actions.go_to_session(alert.agent, alert.session)
            case _ if question is not None and question.form is not None:
                self.actions.show_form(question.id)
            case _ if question is not None:
                self.actions.show_text(f"question-{question.id[:8]}", details(question))
            case _ if alert.digest:
                self.actions.show_review(alert.about, alert.digest)
            case _ if self.alerts.is_running(alert.about):
                self.alerts.when_ended(alert.about, self.actions.show_reason)
                self.alerts.inform("", say("Its hooks still run; the page opens when they have ended"))
            case _:
                self.actions.show_reason(alert.about)

    def switched(self, text: str, channel: str, undo: Undo | None) -> None:
        """From any thread: announce what was done, with the button that takes it back."""

        def work() -> None:
            number = f"undo-{next(self._numbers)}" if undo else ""
            self._undo_actions = {number: undo} if undo else {}
            self.alerts.switched(text, channel, number)

        self._post(work)

    def trial_failed(self, failure: TrialFailure, undo: Undo) -> None:
        """From any thread: show that the trial after an approval failed, with the button that takes it back."""

        def work() -> None:
            number = f"trial-{next(self._numbers)}"
            self._trial_undos = dict([*self._trial_undos.items(), (number, undo)][-TRIALS:])
            self.alerts.trial_failed(failure.hook, failure.cause, failure.remedy, number)

        self._post(work)

    def _undo(self, number: str) -> None:
        """Only the last thing that was done, as what came before may be its base; and any approval that failed."""
        undo = self._undo_actions.pop(number, None) or self._trial_undos.pop(number, None)
        try:
            if undo is None:
                raise HooktrayError(say("It can no longer be taken back"))
            undo.undo()
        except HooktrayError as error:
            self.alerts.inform(error.message, error.hint)

    def after(self, seconds: float, work: Callable[[], None]) -> None:
        """From any thread: run work on the thread of the alerts, so much later."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self._post, work)

    def close(self) -> None:
        self._gate.close()
        self._notifier.close()
        self._player.close()

    def _pressed(self, alert: Alert, button: Button) -> None:
        self._post(lambda: self.press(alert, button))

    def asking_agents(self) -> Collection[str]:
        """The agents whose questions the user gets here; none while a question could not be seen."""
        ports = self._ports
        return ports.ask_agents() if ports.icon_visible() or self._notifier.working else ()

    def question_seconds(self) -> float:
        """How long a question waits."""
        return self._ports.settings().ask_on_desktop.seconds

    def question_opened(self, question: UserQuestion) -> None:
        """Called on the thread of `post`, as `question_closed` is."""
        self.actions.asked(question.event)
        self.alerts.question_opened(question)
        self.actions.redraw()

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        self.alerts.question_closed(question, result)
        self.actions.redraw()

    def _at_release(self, seconds: float, work: Callable[[], None]) -> None:
        """One timer, the latest: what it releases is everything."""
        self._loop.call_soon_threadsafe(self._arm, seconds, work)

    def _arm(self, seconds: float, work: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._post, work)


def backends(
    pressed: OnPress,
    trusts: Callable[[int], bool],
    show_balloon: Callable[[str, str], bool],
    platform: str = sys.platform,
    rejected: Callable[[int, Callable[[], None]], None] = lambda pid, work: None,
) -> tuple[NotificationBackend, ...]:
    """In the order in which they are tried."""
    from tray.notify.fallback_backends import BalloonBackend, NotifySendBackend, OsascriptBackend, PlyerBackend

    if platform == "linux":
        return (FreedesktopBackend(pressed, trusts, rejected), NotifySendBackend(), PlyerBackend(platform))
    from tray.notify.desktop_notifier_backend import DesktopNotifierBackend

    second = OsascriptBackend() if platform == "darwin" else BalloonBackend(show_balloon)
    return (DesktopNotifierBackend(pressed), second, PlyerBackend(platform))


def text_file(folder: Path, name: str, text: str) -> Path:
    """A private file for the user's own viewer."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}.txt"
    path.write_text(text, encoding="utf-8")
    return path
