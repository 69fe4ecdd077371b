"""The core of the tray: what judges events. The user interface (tray/app/runtime.py) is all that people see.

The core is made first and listens last: a tray whose socket is open also mends its state folder.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection
from functools import partial
from typing import Protocol

from tray.app.service import EventBus, ServiceInterface, TrayService
from tray.app.shutdown import GracefulShutdown, ShutdownView
from tray.approvals.catalog import HookCatalog
from tray.desktop.autostart import service_manager
from tray.doctor.agent_sites import connected_agents
from tray.engine import guards_in_force
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.own_answers import SlashCommands
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions
from tray.engine.session_states import TurnEndDetector
from tray.engine.stores import Stores, open_stores
from tray.engine.user_questions import QuestionDisplay, QuestionResult, UserQuestion, UserQuestions
from tray.event_loop import StopSignal
from tray.execution.command import BackgroundProcesses
from tray.execution.known_agents import KnownAgents
from tray.installation.activation import inherited_socket
from tray.installation.relay_files import RelayFiles, altered_before_start
from tray.installation.state_folder import StateFolder
from tray.ipc.requests import TrayStatus
from tray.ipc.server import IpcServer
from tray.model.event import Event
from tray.paths import Paths
from tray.protection.self_protection import PageAddress
from tray.store.db import begin_anew, open_db
from tray.store.lost_guards import LostGuards
from tray.store.retention import RetentionLimits
from tray.threads import ShutdownState, WorkerPool, WorkQueue, run_logged

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")

log = logging.getLogger(__name__)


class UserInterface(QuestionDisplay, SlashCommands, ShutdownView, ServiceInterface, Protocol):
    """What the core calls of the icon, the alerts, the page and the answers to commands."""

    def journal_problem(self, text: str) -> None: ...


class TrayCore:
    """Judges events; any thread and a signal handler may call `quit`. `attach` is called before it listens."""

    ui: UserInterface

    def __init__(self, paths: Paths, folder: StateFolder, *, grace: float) -> None:
        self.paths = paths
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
        self.stores = self._open_stores(paths, folder)
        if self.stores.ledger.state.tampered:  # another program altered the ledger
            begin_anew(paths.database, "altered")
            self.stores = self._open_stores(paths, folder)
        guards_in_force.note_loss(paths, self.stores.database, self.stores.ledger.state)
        self.catalog = HookCatalog(paths, self.stores.ledger, self.stores.copies)
        self.altered_relay = altered_before_start(paths, self.stores.database)
        self.relay_files = RelayFiles(paths, self.stores, self.catalog)
        self.turn_end = TurnEndDetector(self)
        self.events = EventBus(self.work, self.stores.journal, self.turn_end)
        self._make_engine()
        self._service = TrayService(self.engine, self.agents, self.catalog)
        self.server = IpcServer(paths.socket, self._service)
        self.shutdown = GracefulShutdown(self.server, self.shutdown_state, self.work, grace=grace)

    @property
    def journal_limits(self) -> RetentionLimits:
        limits = self.catalog.settings_in_force.journal
        return RetentionLimits(days=limits.days, rows=limits.rows, megabytes=limits.megabytes)

    def journal_problem(self, text: str) -> None:
        log.warning("journal: %s", text)
        self.work.post(lambda: self.ui.journal_problem(text))

    def _open_stores(self, paths: Paths, folder: StateFolder) -> Stores:
        database = open_db(paths.database, create=True)
        folder.hold(database)  # before anything is read from it
        return open_stores(paths, database=database, owner=self)

    def _make_engine(self) -> None:
        self.questions = UserQuestions(self)
        options = EngineOptions(
            settings=ConfirmedSettings(self.paths, self.stores, self.catalog),
            background=self.background_processes,
            stop_signal=self.stop_signal,
            questions=self.questions,
            slash_commands=self,
            page=self.page_address,
            shutdown_state=self.shutdown_state,
            lost=self.relay_files.lost,
        )
        self.engine = Engine(self.stores, self.events, self.workers, options)
        self.engine.executor()  # no event waits for its import

    def attach(self, ui: UserInterface) -> None:
        """Set the user interface, which is built around the core."""
        self.ui = self._service.ui = self.shutdown.view = ui

    def listen(self) -> None:
        """Start to accept events, with the settings that only the file has."""
        run_logged((self.catalog.read_configuration,), "the configuration could not be read")
        self.relay_files.install()  # before an agent can rely on us: we may be killed at any moment
        self.shutdown.start()
        self.server.start(self._inherited)

    def quit(self) -> None:
        self.shutdown.request()

    def quit_by_person(self) -> None:
        """The next event must not start a tray that the user quit."""
        if self.activation is not None:
            self.activation.stop_listening()
        self.quit()

    def abort(self) -> None:
        """End after the user interface could not be built."""
        self.shutdown_state.begin()
        self.work.close()
        self.stores.journal.close()

    # ---- what the engine asks of the user interface, which is made after it ----

    def asking_agents(self) -> Collection[str]:
        return self.ui.asking_agents()

    def question_seconds(self) -> float:
        return self.ui.question_seconds()

    def question_opened(self, question: UserQuestion) -> None:
        self.work.post(partial(self.ui.question_opened, question))

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        self.work.post(partial(self.ui.question_closed, question, result))

    def answer_slash_command(self, words: tuple[str, ...], agent: str) -> str:
        return self.ui.answer_slash_command(words, agent)

    @property
    def turn_quiet_seconds(self) -> float:
        return self.catalog.configuration.settings.turn_quiet_seconds

    def turn_ended(self, event: Event) -> None:
        """Announced at once, however long its hooks will take."""
        self.work.post(lambda: self.events.publish_arrival(event))
        self.work.post(lambda: self.engine.observe(event))


class LiveFacts:
    """The facts that decide about a command's request: known agents, a desktop, lost approvals.

    Each property reads its fact anew. Any thread may use it.
    """

    def __init__(self, core: TrayCore, tray: TrayStatus) -> None:
        self._core = core
        self._tray = tray

    @property
    def heard_from_agents(self) -> bool:
        """Whether an agent was ever connected or sent an event: such an agent may type into a terminal, too."""
        core = self._core
        return bool(core.agents.count or core.stores.journal.count() or connected_agents(core.paths))

    @property
    def has_desktop(self) -> bool:
        """True if the user can see the icon, or a browser that the tray opens."""
        return bool(self._tray.icon_name) or sys.platform != "linux" or any(os.environ.get(name) for name in DISPLAYS)

    @property
    def is_state_lost(self) -> bool:
        """True if approvals were lost and the user has not reviewed the loss."""
        database = self._core.stores.database
        return LostGuards(database).is_unreviewed or database.damage() is not None
