"""Serves the requests that the IPC server receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tray.agents.protocol import SPEC_CACHE_SIZE, parse, spec
from tray.agents.recognition import neutral
from tray.agents.wire import LARGE_PAYLOAD
from tray.engine.pipeline import Engine
from tray.engine.ports import Defer
from tray.engine.user_questions import EngineResponse
from tray.ipc.connection import HandedTerminal
from tray.ipc.requests import UserRequests
from tray.ipc.server import DisconnectSignal, PeerCredentials
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.model.hook import GATING_KINDS
from tray.threads import FullCollectionPause


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
