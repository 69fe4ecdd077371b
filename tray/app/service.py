"""The engine in the tray: serves what the IPC server receives, and passes on what the engine has decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from tray.agents.protocol import SPEC_CACHE_SIZE, parse, spec
from tray.agents.recognition import neutral
from tray.agents.wire import LARGE_PAYLOAD
from tray.engine.pipeline import Engine
from tray.engine.ports import Defer
from tray.engine.session_states import TurnEndDetector
from tray.engine.user_questions import EngineResponse
from tray.ipc.connection import HandedTerminal
from tray.ipc.requests import UserRequests
from tray.ipc.server import DisconnectSignal, PeerCredentials
from tray.model.decision import Answer, Decision, Record
from tray.model.event import Event, RelayRequest
from tray.model.hook import GATING_KINDS
from tray.threads import FullCollectionPause

MEMORY_LIMIT = 1000  # alerts that were sent before their events have rows


class TrayService:
    """Passes events to the engine, and requests of our own commands to `requests`.

    `on_relay` gets each event's request first.
    """

    def __init__(self, engine: Engine, requests: UserRequests, on_relay: Callable[[RelayRequest], None]) -> None:
        self._on_relay = on_relay
        self._engine = engine
        self._requests = requests
        self._full_collection_pause = FullCollectionPause()

    def timeout(self, agent: str, event: str) -> float:
        """Until just before the agent's own limit: later than our answer, earlier than the agent's limit."""
        return _timeout(agent, event)

    def handle(
        self, request: RelayRequest, defer: Defer, on_slow: Callable[[], object]
    ) -> EngineResponse | Callable[[DisconnectSignal], EngineResponse]:
        self._on_relay(request)
        if len(request.body) < LARGE_PAYLOAD:
            return self._engine.begin(request, defer=defer, on_slow=on_slow)
        with self._full_collection_pause:
            return self._engine.begin(request, defer=defer, on_slow=on_slow)

    def busy_answer(self, request: RelayRequest) -> Answer:
        return self._engine.answer_busy(request)

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        """Neutral (law 11), but for a tool call: the one-shot engine judges that one."""
        kind = parse(RelayRequest(agent=agent, event=event, id="", body=body)).kind
        return None if kind in GATING_KINDS else neutral(agent, event, body, {})

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: HandedTerminal
    ) -> Mapping[str, Any]:
        return self._requests.answer(request, peer, terminal)


@lru_cache(SPEC_CACHE_SIZE)  # by the names: to find an EventSpec again takes longer than to work this out
def _timeout(agent: str, event: str) -> float:
    found = spec(agent, event)
    return (found.deadline + found.timeout) / 2


class AlertLog(Protocol):
    """Where the delivery of an alert is recorded."""

    def set_alerted(self, ids: tuple[str, ...], word: str) -> object: ...


class DecisionView(Protocol):
    """What the icon and its menu show."""

    def add(self, record: Record) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


class EventBus:
    """The engine's listener. Called from any thread, partly before the answer leaves: it only hands over (law 7).

    `on_arrival` gets an event that was answered already, `on_decision` one with its decision, both in the thread of
    `post`. They and `view` are set before the server starts.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], rows: AlertLog, turns: TurnEndDetector) -> None:
        self._post = post
        self._rows = rows
        self._turns = turns
        self._deliveries: dict[str, str] = {}
        self.view: DecisionView
        self.on_arrival: Callable[[Event], None]
        self.on_decision: Callable[[Event, Decision, Record], None]

    def arrived(self, event: Event, *, answered: bool) -> None:
        """Rounds and what follows them are counted from here, not from the end of their hooks."""
        self._turns.observe(event)
        if answered:
            self._post(lambda: self.on_arrival(event))

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if word := self._deliveries.pop(event.id, ""):
            self._rows.set_alerted((event.id,), word)
        self._post(lambda: self._publish(event, decision, record))

    def status_shown(self, turn: str, text: str) -> None:
        """A hook wants this shown while it runs."""
        self._post(lambda: self.view.status_shown(turn, text))

    def status_hidden(self, turn: str) -> None:
        self._post(lambda: self.view.status_hidden(turn))

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        """An alert may be sent before its event has a row: hooks without a waiting agent may still run."""
        if len(self._deliveries) > MEMORY_LIMIT:
            self._deliveries.clear()
        self._deliveries.update(dict.fromkeys(ids, word))
        self._rows.set_alerted(ids, word)

    def _publish(self, event: Event, decision: Decision, record: Record) -> None:
        self.view.add(record)
        self.on_decision(event, decision, record)
