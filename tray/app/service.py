"""The engine in the tray: serves what the IPC server receives, and passes on what the engine has decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Protocol

from msgspec.structs import replace

from tray.agents.protocol import SPEC_CACHE_SIZE, parse, spec
from tray.agents.recognition import neutral
from tray.approvals.catalog import HookCatalog
from tray.desktop.presenter import Presenter
from tray.engine.pipeline import Engine
from tray.engine.ports import EventCaller, Execution
from tray.engine.session_states import TurnEndDetector
from tray.engine.user_questions import EngineResponse
from tray.event_loop import ThrottledCall
from tray.execution.known_agents import KnownAgents
from tray.ipc.connection import CallerTerminal
from tray.ipc.server import PeerCredentials
from tray.model.decision import Answer, Decision, Record
from tray.model.event import PROBE_SIZE, Event, EventKind, RelayRequest, probe_answer
from tray.model.hook import GATING_KINDS
from tray.sessions.presence_files import PresenceFiles
from tray.sessions.session_tracker import SessionTracker
from tray.store.journal import Journal
from tray.threads import Queue
from tray.web.page import WebPage

MEMORY_LIMIT = 1000  # alerts that were sent before their events have rows
LARGE_RECORD = 4096  # characters of payload and answer; the menu has up to 200 records


class ServiceInterface(Protocol):
    """The part of the user interface that the service calls."""

    def request_refresh(self) -> None: ...
    def answer_command(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, object]: ...


class TrayService:
    """Passes events to the engine and requests of our own commands to `ui`, which is set before the first request.

    It records the agent's process of each event in `agents`, and its PATH in the search of `catalog`.
    """

    ui: ServiceInterface

    def __init__(self, engine: Engine, agents: KnownAgents, catalog: HookCatalog) -> None:
        self._agents = agents
        self._catalog, self._search = catalog, catalog.search
        self._engine = engine

    @staticmethod
    @lru_cache(SPEC_CACHE_SIZE)  # by the names: the look-up of an EventSpec takes longer than this sum
    def timeout(agent: str, event: str) -> float:
        """Seconds that a relay waits: longer than our deadline, shorter than the agent's own limit."""
        found = spec(agent, event)
        return (found.deadline + found.timeout) / 2

    def handle(self, request: RelayRequest, caller: EventCaller) -> EngineResponse | Execution:
        if len(request.body) == PROBE_SIZE and (answer := probe_answer(request.body)):
            return Answer(stdout=answer)
        if request.parent not in self._agents.parents:
            self._agents.record(request.parent, request.pid)
        path = request.environment.get("PATH", "")
        if path != self._search.event_path and self._search.saw_event(path) and self._catalog.misses_program:
            self.ui.request_refresh()  # the PATH of an event may have a program that a proposed hook lacks
        return self._engine.begin(request, caller)

    def control(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, object]:
        return self.ui.answer_command(request, peer, terminal)

    def busy_answer(self, request: RelayRequest) -> Answer:
        return self._engine.answer_busy(request)

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        """Neutral (law 11), but for a tool call: the one-shot engine judges that one."""
        kind = parse(RelayRequest(agent=agent, event=event, id="", body=body)).kind
        return None if kind in GATING_KINDS else neutral(agent, event, body, {})


class AlertListener(Protocol):
    """Announces decisions, or finds calls that were not judged. `arrived` is called from any thread."""

    def arrived(self, event: Event) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...


class EventBus:
    """The engine's listener. Called from any thread, partly before the answer leaves: it only hands over (law 7).

    It calls its listeners in the thread of the queue; they are set before the queue runs anything. It skips a
    listener if the event's kind, decision or environment shows that the listener has nothing to do. It also calls
    `audit` before the hooks of a call run.
    """

    view: Presenter
    sessions: SessionTracker
    presence_files: PresenceFiles
    page: WebPage
    alerts: AlertListener
    audit: AlertListener
    refresh: ThrottledCall  # looks at the sources, which may have changed

    def __init__(self, queue: Queue, rows: Journal, turns: TurnEndDetector) -> None:
        self._queue = queue
        self._rows = rows
        self._turns = turns
        self._deliveries: dict[str, str] = {}

    def arrived(self, event: Event, *, answered: bool) -> None:
        """The wait after a round starts here, not at the end of the round's hooks."""
        if self._turns.waiting or event.kind is EventKind.ROUND_END:
            self._turns.observe(event)
        if event.kind is EventKind.TOOL_BEFORE:
            self.audit.arrived(event)
        if answered:
            self._queue.post(partial(self.publish_arrival, event))

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if word := self._deliveries.pop(event.id, ""):
            self._rows.set_alerted((event.id,), word)
        self._queue.post(partial(self._publish, event, decision, record))

    def status_shown(self, turn: str, text: str) -> None:
        """A hook wants this shown while it runs."""
        self._queue.post(partial(self.view.status_shown, turn, text))

    def status_hidden(self, turn: str) -> None:
        self._queue.post(partial(self.view.status_hidden, turn))

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        """An alert may be sent before its event has a row: hooks without a waiting agent may still run."""
        if len(self._deliveries) > MEMORY_LIMIT:
            self._deliveries.clear()
        self._deliveries.update(dict.fromkeys(ids, word))
        self._rows.set_alerted(ids, word)

    def publish_arrival(self, event: Event) -> None:
        """Called in the thread of the queue, for an event that waits for no answer; its hooks may run for long."""
        self.sessions.arrived(event)
        self.presence_files.observe(event)
        self.alerts.arrived(event)

    def publish_offline(self, records: Sequence[Record]) -> list[Record]:
        """Called in the thread of the queue, with rows that this tray did not write; returns the new ones."""
        known = {record.id for record in self.view.recent}
        fresh = [record for record in records if record.id not in known]
        for record in fresh:
            if self.page.server is not None:
                self.page.publish(record)
        if fresh:
            recent, last = self.view.recent, self.view.last_events
            last |= {row.agent: max(row.at, last.get(row.agent, 0.0)) for row in fresh if not row.test}
            newest = sorted((*recent, *map(_brief, fresh)), key=attrgetter("at"), reverse=True)[: recent.maxlen]
            recent.clear()
            recent.extend(newest)
            self.view.show()
        return fresh

    def _publish(self, event: Event, decision: Decision, record: Record) -> None:
        self.view.recent.appendleft(_brief(record))
        if not record.test:
            self.view.last_events[record.agent] = record.at
        self.sessions.decided(event, decision)
        self.presence_files.observe(event)
        if self.page.server is not None:
            self.page.publish(record)
        self.alerts.decided(event, decision, record)
        self.audit.decided(event, decision, record)
        if not self.refresh.waiting:
            self.refresh.request()


def _brief(record: Record) -> Record:
    """Without payload and answer if they are large: the menu shows neither."""
    is_large = len(record.payload) + len(str(record.answer.get("stdout", ""))) > LARGE_RECORD
    return replace(record, payload="", answer={}, masks=()) if is_large else record
