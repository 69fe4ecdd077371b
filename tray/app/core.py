"""The part of the tray that judges events. It answers them while the rest is still imported and built.

The rest is all that people see: the icon, alerts, the page, the answers to commands (tray/app/runtime.py).
Whatever an event means for it waits in the queue of `work`, and a command waits for it in its own thread. An event
waits for nothing: stores, lost approvals and the relay come before the socket, and until the rest is there no
question is put to the user.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections.abc import Collection, Mapping
from typing import Protocol

from tray.app import build_catalog, build_engine, confirmed_llm, guards_in_force, journal_limits, open_stores
from tray.app.activation import inherited_socket
from tray.app.relay_files import RelayFiles
from tray.app.relay_watch import altered_while_away
from tray.app.service import EventBus, TrayService
from tray.app.shutdown import KILL_TIMEOUT, GracefulShutdown
from tray.app.worker_pool import WorkerPool
from tray.approvals.callers.known_agents import KnownAgents
from tray.desktop.autostart import service_manager
from tray.engine.ports import EngineOptions
from tray.engine.session_states import TurnEndDetector
from tray.engine.user_questions import QuestionResult, UserQuestion, UserQuestions
from tray.errors import HooktrayError
from tray.execution.command import BackgroundProcesses
from tray.ipc.connection import HandedTerminal
from tray.ipc.server import IpcServer, PeerCredentials
from tray.language import say
from tray.model.event import Event
from tray.paths import Paths
from tray.protection.self_protection import PageAddress
from tray.threads import ShutdownState, StopSignal, WorkQueue

BUILD_TIMEOUT = 30.0  # seconds that a command waits for the rest

log = logging.getLogger(__name__)


class TrayRest(Protocol):
    """What people see of the tray."""

    def begin(self) -> None:
        """Show what there is. On the work thread, before all other work of it."""

    def begin_quit(self) -> None: ...
    def stop_icon(self) -> None: ...
    def show_waiting(self) -> None: ...
    def journal_problem(self, text: str) -> None: ...
    def program_may_be_found(self) -> None: ...
    def asking_agents(self) -> Collection[str]: ...
    def question_seconds(self) -> float: ...
    def question_opened(self, question: UserQuestion) -> None: ...
    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None: ...
    def answer_command(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: HandedTerminal | None
    ) -> Mapping[str, object]: ...
    def answer_slash_command(self, words: tuple[str, ...], agent: str) -> str: ...


class TrayCore:
    """`quit` from anywhere, also from a signal handler."""

    def __init__(self, paths: Paths, *, grace: float) -> None:
        self.paths = paths
        self._rest: TrayRest | None = None
        self._is_built = threading.Event()
        self.workers = WorkerPool()
        self.stop_signal, self.shutdown_state = StopSignal(), ShutdownState()
        self.agents = KnownAgents(os.getpid())
        self.page_address = PageAddress()
        self.activation = service_manager(paths)
        self._inherited = inherited_socket(paths.socket)
        if self._inherited is None and self.activation is not None:
            self.activation.stop_listening()  # started by the user: only we use the socket's path
        self.work = WorkQueue("work")
        self.background_processes = BackgroundProcesses()
        self.stores = open_stores(
            paths, migrate=True, warn=self._journal_problem, limits=lambda: journal_limits(self.catalog)
        )
        guards_in_force.note_loss(paths, self.stores.database, self.stores.ledger.state)
        self.catalog = build_catalog(paths, self.stores)
        self.altered = altered_while_away(paths, self.stores.database)
        self.relay_files = RelayFiles(paths, self.stores, self.catalog)
        self.turn_end = TurnEndDetector(
            lambda: self.catalog.configuration.settings.turn_quiet_seconds, self._turn_ended
        )
        self.events = EventBus(self.work.post, self.stores.journal, self.turn_end)
        self._make_engine()
        service = TrayService(self.engine, self._answer_command, self.agents, self.catalog.search, self._saw_path)
        self.server = IpcServer(paths.socket, service)
        self.shutdown = GracefulShutdown(
            self.server,
            self.shutdown_state,
            grace=grace,
            on_begin=self._begin_quit,
            on_wait=lambda: self.work.post(lambda: self.rest.show_waiting()),
            on_end=self._stop_icon,
        )

    def _make_engine(self) -> None:
        self.questions = UserQuestions(
            agents=lambda: () if self._rest is None else self._rest.asking_agents(),
            seconds=lambda: self.rest.question_seconds(),
            on_asked=lambda question: self.work.post(lambda: self.rest.question_opened(question)),
            on_ended=lambda question, result: self.work.post(lambda: self.rest.question_closed(question, result)),
        )
        options = EngineOptions(
            llm=functools.partial(confirmed_llm, self.paths, self.stores),
            background=self.background_processes,
            stop_signal=self.stop_signal,
            questions=self.questions,
            exceptions=lambda: self.catalog.exceptions,
            command_answers=self._answer_slash_command,
            page=self.page_address,
            shutdown_state=self.shutdown_state,
            lost=self.relay_files.lost,
        )
        self.engine = build_engine(self.stores, self.events, self.workers.spawn, options)

    @property
    def rest(self) -> TrayRest:
        """The rest, once it is built. Raises HooktrayError when it is not in time."""
        if (self._rest is None and not self._is_built.wait(BUILD_TIMEOUT)) or self._rest is None:
            raise _starting()
        return self._rest

    def listen(self) -> None:
        """Take events from here on."""
        self.relay_files.install()
        self.shutdown.start()
        self.work.post(self._begin)
        self.server.start(self._inherited)

    def attach(self, rest: TrayRest) -> None:
        """The rest is built: what waits for it goes on."""
        self._rest = rest
        self._is_built.set()
        if self.shutdown_state.begun:
            rest.begin_quit()

    def quit(self) -> None:
        self.shutdown.request()

    def give_up(self) -> None:
        """The rest cannot be built. Nothing waits for it any longer, and what was judged is written down."""
        self.shutdown_state.begin()
        self._is_built.set()
        self.shutdown_state.end_hooks()
        self.server.close(KILL_TIMEOUT)
        self.work.close()
        self.stores.journal.close()

    def _begin(self) -> None:
        self._is_built.wait()
        if self._rest is not None:
            self._rest.begin()

    def _begin_quit(self) -> None:
        if self._rest is not None:
            self._rest.begin_quit()

    def _stop_icon(self) -> None:
        self._is_built.wait()
        if self._rest is not None:
            self._rest.stop_icon()

    def _turn_ended(self, event: Event) -> None:
        """Announced at once, however long its hooks will take."""
        self.work.post(lambda: self.events.publish_arrival(event))
        self.work.post(lambda: self.engine.observe(event))

    def _journal_problem(self, text: str) -> None:
        log.warning("journal: %s", text)
        self.work.post(lambda: self.rest.journal_problem(text))

    def _saw_path(self) -> None:
        """Another PATH of an agent may have the program that a proposed hook lacks; the rest looks when it begins."""
        if self._rest is not None and self.catalog.misses_program:
            self._rest.program_may_be_found()

    def _answer_command(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: HandedTerminal | None
    ) -> Mapping[str, object]:
        try:
            return self.rest.answer_command(request, peer, terminal)
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def _answer_slash_command(self, words: tuple[str, ...], agent: str) -> str:
        if self._rest is None:
            error = _starting()
            return f"{error.message}; {error.hint}"
        return self._rest.answer_slash_command(words, agent)


def _starting() -> HooktrayError:
    return HooktrayError(say("Hooktray is still starting"), hint=say("try it once more"))
