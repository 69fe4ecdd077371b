"""What the door asks of the tray."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tray.dialects import NAMES, spec
from tray.dialects.callers import neutral
from tray.door.listener import Gone, Peer
from tray.door.requests import Requests
from tray.engine.ears import After
from tray.engine.pipeline import Engine
from tray.engine.questions import Said
from tray.model.decision import Answer
from tray.model.event import Knock


class Service:
    """Events go to the engine, requests to their room; `met` hears who started a relay."""

    def __init__(self, engine: Engine, requests: Requests, met: Callable[[int, int], None]) -> None:
        self._met = met
        self._engine = engine
        self._requests = requests

    def patience(self, agent: str, event: str) -> float:
        """Until just before the agent's own limit: later than our answer, earlier than the agent's patience."""
        return _patience(agent, event)

    def answer(self, knock: Knock, after: After, slow: Callable[[], object]) -> Said | Callable[[Gone], Said]:
        self._met(knock.parent, knock.pid)
        return self._engine.begin(knock, after=after, slow=slow)

    def busy(self, knock: Knock) -> Answer:
        return self._engine.busy(knock)

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        return neutral(agent, event, body, {})

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        return self._requests.answer(request, peer)


@lru_cache(NAMES)  # by the names: to find an EventSpec again takes longer than to work this out
def _patience(agent: str, event: str) -> float:
    found = spec(agent, event)
    return (found.deadline + found.timeout) / 2
