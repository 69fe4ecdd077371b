"""The running tray: every part, and the wires between them."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import partial

from tray.alerts.policy import state_folder
from tray.alerts.untold import told
from tray.app import engine, limits, llm, relay_conf, roster, stores, welcome
from tray.app.alerting import Alerting, text_file
from tray.app.care import Care
from tray.app.face import face
from tray.app.news import News
from tray.app.observers import Observers
from tray.app.page import page
from tray.app.quitting import CLOSING, FINISHING, Quitting
from tray.app.recovery import Recovery
from tray.app.service import Service
from tray.app.signals import ended_by
from tray.app.state_folder import LOCK, AnotherTrayError, StateFolder
from tray.app.state_recovery import Incident, StateRecovery
from tray.app.trials import Trials
from tray.app.trusting import Trust
from tray.app.vitals import vitals
from tray.app.watching import FolderWatch, Watch
from tray.app.wiring import offers
from tray.desktop.icon import Icon, choose
from tray.desktop.menu import Action, Reason, Review, ReviewBatch
from tray.desktop.opener import Opener
from tray.door.listener import Listener
from tray.door.requests import Requests
from tray.door.terminal import Terminals
from tray.door.typed import Typed
from tray.engine.approval import confirming
from tray.engine.approval.batch import written as written_batch
from tray.engine.approval.consent import Consent
from tray.engine.approval.controls import Controls
from tray.engine.approval.review import written
from tray.engine.callers.agents import Agents
from tray.engine.runners.command import Background
from tray.engine.runners.files import widen
from tray.engine.runners.orphans import adopt
from tray.engine.turns import Turns
from tray.language import say
from tray.model.decision import Decision, Record
from tray.model.event import Event
from tray.paths import Paths
from tray.text import sanitise
from tray.threads import Chores, Ending, Loop, Quit, Seldom, prompt

LATELY = 1.0  # seconds between two looks at the sources while events come in
KEPT_SESSIONS = 7.0  # days that a session is remembered whose end nobody told

log = logging.getLogger(__name__)


def run(
    paths: Paths,
    *,
    headless: bool = False,
    say: Callable[[str], None] = print,
    trust: type[Trust] = Trust,
    finishing: float = FINISHING,
) -> int:
    """The tray, until it quits. Returns the exit code.

    `finishing` is how many seconds a hook then has to finish if an agent waits for it.
    """
    paths.prepare()
    prompt()
    folder = StateFolder(paths)
    try:
        folder.claim()
        adopt()
        widen()
        parts = App(paths, folder, headless=headless, say=say, trust=trust, finishing=finishing)
        with ended_by(parts.quit), contextlib.closing(parts):  # a second signal must not cut `close` short
            parts.run()
    except AnotherTrayError:
        say(f"Hooktray is already running for {paths.state}.")
    finally:
        folder.release()
    return 0


class App:
    """The running tray: parts, and the wires between them."""

    def __init__(
        self,
        paths: Paths,
        folder: StateFolder,
        *,
        headless: bool,
        say: Callable[[str], None],
        trust: type[Trust],
        finishing: float,
    ) -> None:
        self._paths = paths
        self._say = say
        self._observers = Observers()
        self._ending, self._quit = Ending(), Quit()
        self._agents = Agents(os.getpid())
        self._opener = Opener()
        self._trust = trust(self._agents, self._opener.started)
        self._arrives = welcome.arrives(paths)
        self._loop = Loop()
        self._chores = Chores("chores")
        self._lately = Seldom(self._loop.loop, self._changed, LATELY)
        self._background = Background()
        self._kept = stores(paths, migrate=True, trouble=self._trouble, limits=lambda: limits(self._roster))
        self._roster = roster(paths, self._kept)
        self._watch = Watch(self._loop.loop, self._changed)
        self._make_recovery(folder)
        self._care = Care(paths, self._kept, self._roster, self._vitals)
        self._turns = Turns(lambda: self._roster.configuration.settings.settle, self._turn_ended)
        self._news = News(self._chores.do, self._kept.journal, self._turns)
        self._make_alerts()
        self._make_engine()
        threads = (self._loop, self._chores)
        self._page = page(
            paths, self._kept, self._roster, self._controls, threads, self._refresh, self._trust.browser,
            self._opener.open, self._ending, lambda: (self._face, self._hand),
        )  # fmt: skip
        self._make_face(headless=headless)
        self._terminals = Terminals(self._trust.below)
        reviews = partial(written, copies=self._kept.copies, environment=os.environ, folder=paths.state / "reviews")
        requests = Requests(
            self._controls, self._shown, self._terminals, reviews, self._page.open, self._vitals, self._trust.opens,
            lambda found: written_batch(found, (), self._kept.copies, os.environ, paths.state / "reviews"),
        )  # fmt: skip
        self._typed = Typed(self._controls, requests, self._care.summary)
        self._listener = Listener(paths.socket, Service(self._engine, requests, self._agents.met))
        self._quitting = Quitting(
            self._listener, self._quit, finishing=finishing, began=self._terminals.close, waits=self._finishing,
            ended=self._icon.stop,
        )  # fmt: skip
        if self._icon.reason:
            say(self._icon.reason)

    def _make_recovery(self, folder: StateFolder) -> None:
        paths = self._paths
        names = (LOCK, paths.socket.name, paths.database.name, paths.copies.name, paths.relay_conf.name)
        self._folder_watch = FolderWatch(self._loop.loop, paths.state, names, lambda: self._chores.do(self._recover))
        self._state_recovery = StateRecovery(
            paths,
            self._kept,
            self._roster,
            folder,
            listen=lambda: self._listener.rebind(),
            guide=self._guide,
            tell=self._tell_of,
            give_way=self._give_way,
            retry=self._folder_watch.after,
            watch=self._folder_watch.again,
            quit=self._quit,
        )
        self._state_recovery.hold()

    def _make_alerts(self) -> None:
        self._alerting = Alerting(
            loop=self._loop.loop,
            do=self._chores.do,
            settings=lambda: told(self._roster.configuration.settings, self._kept.switch.untold()),
            asking=lambda: confirming.asking(self._roster.configuration.settings, self._kept.ledger.book),
            muted=lambda: self._kept.switch.state().muted,
            heard=self._news.alerted,
            seen=lambda: self._icon.visible,
            trusts=self._trust.host,
            first=self._kept.journal.first,
        )
        self._herald = self._alerting.herald
        self._news.told, self._news.judged = self._herald.arrived, self._judged

    def _make_engine(self) -> None:
        model = functools.partial(llm, self._paths, self._kept)
        self._engine = engine(
            self._kept, self._news, self._observers.spawn, self._background, llm=model, ending=self._ending,
            questions=self._alerting.questions, exceptions=lambda: self._roster.exceptions,
            answers=lambda words, agent: self._typed(words, agent), port=lambda: self._page.port, quit=self._quit,
        )  # fmt: skip
        trials = Trials(
            self._paths, self._kept,
            spawn=self._observers.spawn, failed=self._alerting.failed, changed=self._changed, ending=self._ending,
        )  # fmt: skip
        self._controls = Controls(
            switch=self._kept.switch,
            consent=Consent(self._kept.ledger, self._roster),
            roster=self._roster,
            switched=self._alerting.switched,
            changed=self._changed,
            approved=trials.approved,
        )

    def _make_face(self, *, headless: bool) -> None:
        reviews = self._paths.state / "reviews"
        self._recovery = Recovery(self._kept, self._controls, reviews, self._herald, self._opener.open)
        self._face, self._hand = face(
            self._paths,
            self._kept,
            self._roster,
            self._controls,
            self._alerting,
            soon=self._chores.do,
            open_file=self._opener.open,
            open_page=self._page.open,
            trouble=lambda: self._care.troubled(self._alerting.trouble),
            spawn=self._observers.spawn,
            examine=lambda: self._observers.spawn(self._examine),
            incident=lambda: self._state_recovery.incident.brief if self._state_recovery.incident else "",
            show_incident=self._show_incident,
            quit=self.quit,
            recovery=self._recovery,
        )
        self._news.screen = self._face
        self._alerting.review = lambda key, digest: self._hand.act(Review(key, digest))
        self._alerting.recover = lambda: self._hand.act(ReviewBatch())
        self._alerting.reason = lambda record: self._hand.act(Reason(record))
        self._alerting.show_text = lambda name, text: self._opener.open(text_file(reviews, name, text))
        self._alerting.changed = self._face.show
        self._icon: Icon = choose(
            self._loop.loop,
            self._act,
            self._opened,
            headless=headless,
            environment=os.environ,
            trusts=self._trust.host,
        )

    def run(self) -> None:
        """Open the door, then give the main thread to the icon until someone quits."""
        self._guide()  # before anybody can rely on us: we may be killed at any moment
        self._quitting.start()
        try:
            self._listener.start()
            self._state_recovery.start()
            self._chores.do(self._start)
            self._icon.run()
        finally:
            self.quit()  # when the icon ended by itself
            self._quitting.join()

    def quit(self) -> None:
        self._quitting.ask()

    def close(self) -> None:
        """In order: nothing new comes in, what runs ends, what happened is written down.

        `run` has waited for the hooks of events whose agent waits. What hangs now is dumped to stderr, and left.
        """
        faulthandler.dump_traceback_later(CLOSING, exit=True)
        self._quit.begin()
        self._quit.end_hooks()
        self._terminals.close()
        self._listener.close()
        self._watch.close()
        self._folder_watch.close()
        self._turns.close()
        self._ending.close()
        self._observers.join()
        self._background.close()
        self._page.close()
        self._chores.close()
        self._face.close()
        self._alerting.close()
        self._kept.journal.close()
        self._state_recovery.close()
        self._loop.close()
        faulthandler.cancel_dump_traceback_later()

    def _finishing(self) -> None:
        text = say("Quitting: waiting for running hooks. Quit again to end them")
        self._chores.do(lambda: self._face.running("quit", text))
        self._chores.do(lambda: self._say(text))

    def _judged(self, event: Event, decision: Decision, record: Record) -> None:
        self._page.heard(record)
        self._alerting.decided(event, decision, record)
        self._lately.soon()

    def _start(self) -> None:
        if self._quit.begun:  # what a person is to read waits for the next start
            return
        self._face.wear(self._icon)
        self._alerting.began(self._kept)
        self._refresh()
        if self._arrives:
            self._welcome()
        self._roster.tidy()
        self._kept.journal.tidy()
        self._kept.sessions.prune(KEPT_SESSIONS)
        gc.freeze()  # what is there by now stays: nobody need look at all of it again and again

    def _refresh(self) -> None:
        """Look at the sources again; whatever newly waits for the user is announced."""
        started, problem = time.monotonic(), self._roster.configuration.problem
        self._state_recovery.look()
        self._roster.refresh()
        self._alerting.altered(self._kept)
        self._recovery.look()
        together = {one.key for one in self._controls.batch.hooks}
        confirming.remember_asking(self._roster.configuration.settings, self._kept.ledger)
        for standing in self._roster.news():
            if standing.key not in together:  # those have one alert for all of them
                self._herald.waiting(standing)
        self._herald.settled({one.key for one in self._roster.standings if one.waiting})
        if self._roster.configuration.problem not in ("", problem):
            self._herald.broken(self._roster.configuration.problem)
            log.warning("the configuration is broken: %s", sanitise(self._roster.configuration.problem, 1000))
        self._herald.warned(self._roster.configuration.warnings)
        with contextlib.suppress(OSError):  # the folder is gone, and cannot be made anew
            self._guide()
        self._watch.over((self._paths.config, *self._roster.watched))
        self._care.look()
        self._face.show()
        self._lately.took(time.monotonic() - started)

    def _recover(self) -> None:
        """Something happened to the state folder."""
        before = self._state_recovery.incident
        self._state_recovery.look()
        if self._state_recovery.incident is not before or not self._paths.relay_conf.exists():
            self._refresh()

    def _guide(self) -> None:
        """Write what relays read when the tray does not answer."""
        relay_conf.write(self._paths, self._roster.when_down())

    def _tell_of(self, incident: Incident) -> None:
        self._alerting.announce(state_folder(incident.brief))
        self._face.show()

    def _give_way(self) -> None:
        text = say("Another tray runs for {folder} now, so this one ends", folder=self._paths.state)
        self._say(text)
        log.warning("%s", text)
        self._alerting.announce(state_folder(text))
        self._icon.stop()

    def _show_incident(self) -> None:
        """Once it was read, the icon is as usual again."""
        if incident := self._state_recovery.incident:
            if incident.failure:
                self._alerting.announce(state_folder(incident.text))
            else:
                self._alerting.show_text("state-folder", incident.text + "\n")
            self._state_recovery.seen()
            self._face.show()

    def _examine(self) -> None:
        path = self._care.report()
        self._chores.do(lambda: self._opener.open(path))

    def _welcome(self) -> None:
        found = offers(self._paths)
        self._say(welcome.text(self._paths, found))
        self._alerting.announce(welcome.alert(found))

    def _changed(self) -> None:
        self._chores.do(self._refresh)

    def _opened(self) -> None:
        self._face.opened()
        self._changed()

    def _shown(self) -> str:
        """Which icon is on the screen now; "" when none is."""
        return self._icon.name if self._icon.visible else ""

    def _act(self, action: Action) -> None:
        self._chores.do(lambda: self._hand.act(action))

    def _turn_ended(self, event: Event) -> None:
        """Told at once, however long its hooks will take."""
        self._chores.do(lambda: self._herald.arrived(event))
        self._chores.do(lambda: self._engine.observe(event))

    def _vitals(self) -> Mapping[str, object]:
        incident = self._state_recovery.incident
        more = {
            **self._alerting.problems,
            "problems": [incident.row] if incident else [],
            "troubled": sorted(self._care.troubled(self._alerting.trouble)),
        }
        return vitals(self._icon, self._background, self._kept.journal, more)

    def _trouble(self, text: str) -> None:
        log.warning("journal: %s", text)
        if self._kept.database.condemned:
            self._changed()  # which raises the alert of a damaged database
        else:
            self._chores.do(lambda: self._herald.tell(say("The journal cannot be written"), text))
