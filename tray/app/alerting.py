"""The alerts of the running tray: builds their parts, and does what their buttons and the menu's rows ask for."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
import webbrowser
from collections.abc import Callable, Collection
from pathlib import Path

from tray.alerts.alert import Alert, Button
from tray.alerts.announcer import Announcer
from tray.alerts.fallback import PlyerBackend
from tray.alerts.freedesktop import FreedesktopBackend, Pressed
from tray.alerts.herald import Herald
from tray.alerts.hours import ends
from tray.alerts.native import DesktopNotifierBackend
from tray.alerts.notifier import Backend, Notifier
from tray.alerts.osascript import OsascriptBackend
from tray.alerts.pace import Pace
from tray.alerts.pacing import Pacing
from tray.alerts.sound import Player
from tray.app import Stores
from tray.app.recovery import ABOUT
from tray.app.trials import Failure
from tray.engine.approval.controls import Back, tomorrow
from tray.engine.questions import Ending, Question, Questions
from tray.engine.telling import explained
from tray.errors import HooktrayError
from tray.language import say
from tray.model.decision import Decision, Record
from tray.model.event import Event
from tray.settings import Settings

SNOOZE = 30 * 60.0  # seconds that the button on an alert stands for
WAY = "notification"
TRIALS = 20  # failed trials that can be undone

Do = Callable[[Callable[[], None]], None]


class Alerting:
    """`do` brings work to the one thread that herald and pacing live on; the others are called from any thread."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        do: Do,
        settings: Callable[[], Settings],
        asking: Callable[[], Collection[str]],
        muted: Callable[[], bool],
        heard: Callable[[tuple[str, ...], str], None],
        seen: Callable[[], bool],
        trusts: Callable[[int], bool],
        first: Callable[[str], bool] = lambda what: True,
    ) -> None:
        self._altered: set[str] = set()
        self._loop = loop
        self._do = do
        self._settings = settings
        self._heeds = True
        self._numbers = itertools.count(1)
        self._back: dict[str, Back] = {}  # what the last alert's Undo takes back
        self._trials: dict[str, Back] = {}  # the same for approvals whose trials failed
        self._wanted = ""  # the decision whose page was asked for last, before its hooks had ended
        self._timer: asyncio.TimerHandle | None = None
        self.review: Callable[[str, str], None] = lambda key, digest: None
        self.recover: Callable[[], None] = lambda: None
        self.reason: Callable[[str], None] = lambda record: None
        self.show_text: Callable[[str, str], None] = lambda name, text: None
        self.changed: Callable[[], None] = lambda: None
        self._player = Player(volume=lambda: settings().volume)
        self._notifier = Notifier(_ways(self._pressed, trusts))
        self._announcer = Announcer(loop, self._notifier, self._player, muted=muted, heard=heard)
        pace = Pace(time.time, lambda now: ends(settings().quiet if self._heeds else None, now))
        self._pacing = Pacing(pace, self._announcer, self._later, heard)
        self.herald = Herald(self._pacing, settings, first=first)
        self.questions = Questions(
            agents=lambda: asking() if seen() or self._notifier.working else (),  # an unseen question helps nobody
            seconds=lambda: settings().ask.seconds,
            asked=self._asked,
            ended=self._ended,
        )

    # ---- what the menu shows and does

    @property
    def open(self) -> tuple[Question, ...]:
        return self.questions.open

    @property
    def held(self) -> int:
        """How many alerts wait for their summary."""
        return self._pacing.count

    @property
    def snoozed_until(self) -> float | None:
        return self._pacing.snoozed_until

    @property
    def quiet(self) -> str:
        """The quiet hours as people write them; "" when there are none."""
        hours = self._settings().quiet
        return say("{begin} to {end}", begin=hours.begin, end=hours.end) if hours else ""

    @property
    def quiet_heeded(self) -> bool:
        return self._heeds

    @property
    def trouble(self) -> frozenset[str]:
        """The hooks that were in trouble when they were last asked."""
        return frozenset(one.hook for one in self.herald.troubles)

    @property
    def problems(self) -> dict[str, str]:
        """What went wrong last with notifications and sounds, for the doctor; "" when nothing did."""
        return {"notifications": self._notifier.last_error, "sound": self._player.last_error}

    def began(self, kept: Stores) -> None:
        """What happened while no tray ran."""
        self.herald.offline(kept.journal.offline_rows())

    def altered(self, kept: Stores) -> None:
        """What was changed outside Hooktray; each is announced once, and only if the file itself is whole."""
        found = {
            kept.ledger.book.broken: say("The ledger is not as Hooktray left it"),
            kept.switch.altered: say("The switch is not as Hooktray left it"),
        }
        fresh = found.keys() - {"", *self._altered}
        if not fresh or not kept.database.is_whole():  # damage has an alert of its own
            return
        for what in fresh:
            self._altered.add(what)
            self.herald.alarm(found[what], what)

    def announce(self, alert: Alert) -> None:
        """At once, whatever is held back."""
        self._announcer.announce((alert,))

    def answer(self, question: str, allow: bool, way: str = "menu") -> None:
        if not self.questions.answer(question, allow=allow, way=way):
            self.herald.tell("", say("This question is closed already"))

    def snooze(self, seconds: float | None) -> None:
        """None = until tomorrow."""
        self._pacing.snooze(tomorrow(time.time()) - time.time() if seconds is None else seconds)
        self.changed()

    def wake(self) -> None:
        """End the snooze, and tell what was held back."""
        self._pacing.snooze(None)
        self.changed()

    def heed_quiet(self, on: bool) -> None:
        """Whether quiet hours count, until the tray ends."""
        self._heeds = on
        self._pacing.look()
        self.changed()

    def show_held(self) -> None:
        """Everything that is held back, as a text."""
        rows = (f"{time.strftime('%d %b %H:%M', time.localtime(one.at))}  {one.alert.title}  {one.alert.body}"
                for one in self._pacing.held)  # fmt: skip
        self.show_text("held", "\n".join(rows) + "\n")

    # ---- the buttons

    def press(self, alert: Alert, button: Button) -> None:
        """What a button does. None of them loosens a gate: what does is opened for review."""
        asked = next((one for one in self.questions.open if one.id == alert.about), None)
        match button:
            case Button.ALLOW | Button.DENY:
                self.answer(alert.about, button is Button.ALLOW, WAY)
            case Button.SNOOZE:
                self.snooze(SNOOZE)
            case Button.UNDO:
                self._undo(alert.about)
            case _ if Button.UNDO in alert.buttons:
                self.reason("")
            case Button.REVIEW | Button.DEFAULT if alert.about == ABOUT:
                self.recover()
            case Button.REVIEW:
                self.review(alert.about, alert.digest)
            case _ if button is Button.DEFAULT and alert.url:
                webbrowser.open(alert.url)
            case _ if asked is not None:
                self.show_text(f"question-{asked.id[:8]}", explained(asked))
            case _ if alert.digest:
                self.review(alert.about, alert.digest)
            case _ if self.herald.runs(alert.about):
                self._wanted = alert.about
                self.herald.tell("", say("Its hooks still run; the page opens when they have ended"))
            case _:
                self.reason(alert.about)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        """Tell it; who asked for its details before there were any gets them now."""
        self.herald.decided(event, decision, record)
        if record.id == self._wanted:
            self._wanted = ""
            self.reason(record.id)

    def switched(self, what: str, way: str, back: Back | None) -> None:
        """From any thread: say what was done, with the button that takes it back."""

        def work() -> None:
            number = f"undo-{next(self._numbers)}" if back else ""
            self._back = {number: back} if back else {}
            self.herald.switched(what, way, number)

        self._do(work)

    def failed(self, failure: Failure, back: Back) -> None:
        """From any thread: show that the trial after an approval failed, with the button that takes it back."""

        def work() -> None:
            number = f"trial-{next(self._numbers)}"
            self._trials = dict([*self._trials.items(), (number, back)][-TRIALS:])
            self.herald.trial(failure.hook, failure.cause, failure.cure, number)

        self._do(work)

    def _undo(self, number: str) -> None:
        """Only the last thing that was done, as what came before may be its base; and any approval that failed."""
        back = self._back.pop(number, None) or self._trials.pop(number, None)
        try:
            if back is None:
                raise HooktrayError(say("It can no longer be taken back"))
            back()
        except HooktrayError as error:
            self.herald.tell(error.message, error.hint)

    def close(self) -> None:
        self._announcer.close()
        self._player.close()

    def _pressed(self, alert: Alert, button: Button) -> None:
        self._do(lambda: self.press(alert, button))

    def _asked(self, question: Question) -> None:
        self._do(lambda: self.herald.asked(question))
        self._do(lambda: self.changed())

    def _ended(self, question: Question, ending: Ending) -> None:
        self._do(lambda: self.herald.ended(question, ending))
        self._do(lambda: self.changed())

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        """One timer, the latest: what it releases is everything."""
        self._loop.call_soon_threadsafe(self._arm, seconds, work)

    def _arm(self, seconds: float, work: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._do, work)


def _ways(pressed: Pressed, trusts: Callable[[int], bool]) -> tuple[Backend, ...]:
    """In the order in which they are tried."""
    if sys.platform == "linux":
        return (FreedesktopBackend(pressed, trusts), PlyerBackend())
    follow = DesktopNotifierBackend(pressed)
    return (follow, OsascriptBackend()) if sys.platform == "darwin" else (follow, PlyerBackend())


def text_file(folder: Path, name: str, text: str) -> Path:
    """A private file for the user's own viewer."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}.txt"
    path.write_text(text, encoding="utf-8")
    return path
