"""A real door before a house's engine, in this process: what comes in by it passes rooms, frames and relays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from house import House

from tray.door.listener import Gone, Listener, Peer
from tray.engine.pipeline import Engine
from tray.engine.questions import Said
from tray.model.decision import Answer
from tray.model.event import Knock
from tray.threads import prompt


class Service:
    """What stands behind the door: the engine, and nobody's controls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def patience(self, agent: str, event: str) -> float:
        return 120.0

    def answer(self, knock: Knock, after: object, slow: object) -> Said | Callable[[Gone], Said]:
        return self._engine.begin(knock)

    def busy(self, knock: Knock) -> Answer:
        return self._engine.busy(knock)

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        return Answer()

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        return {}


@contextlib.contextmanager
def opened(house: House) -> Iterator[None]:
    prompt()  # as in a tray: the door's threads take turns as they do there
    door = Listener(house.paths.socket, Service(house.engine))
    door.start()
    try:
        yield
    finally:
        door.close()
