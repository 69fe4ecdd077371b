"""A real server before a house's engine, in this process: events come through frames, pools and relays."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from house import House

from tray.app.start import SWITCH_INTERVAL
from tray.engine.pipeline import Engine
from tray.engine.ports import EventCaller, Execution
from tray.engine.user_questions import EngineResponse
from tray.ipc.connection import CallerTerminal
from tray.ipc.server import IpcServer, PeerCredentials
from tray.model.decision import Answer
from tray.model.event import RelayRequest


class Service:
    """What the server calls: the engine, and nobody's controls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def timeout(self, agent: str, event: str) -> float:
        return 120.0

    def handle(self, request: RelayRequest, caller: EventCaller) -> EngineResponse | Execution:
        return self._engine.begin(request)

    def busy_answer(self, request: RelayRequest) -> Answer:
        return self._engine.answer_busy(request)

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        return Answer()

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, Any]:
        return {}


@contextlib.contextmanager
def opened(house: House) -> Iterator[None]:
    sys.setswitchinterval(SWITCH_INTERVAL)  # as the tray does
    server = IpcServer(house.paths.socket, Service(house.engine))
    server.start()
    try:
        yield
    finally:
        server.close()
