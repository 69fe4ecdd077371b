"""The agents' wire formats: bytes <-> words, pure. DIALECTS lists them; fit() makes an answer that can be carried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tray.model.decision import Answer, Decision, Reading, Result
from tray.model.event import Event, EventSpec, Knock


class Dialect(Protocol):
    """What each module of this package offers.

    Towards the agent: `title` says which event a payload is (the agent's own word, "" when it has none), `parse`
    reads a knock, `render` writes a fitted decision, `neutral` is the answer when nobody had an opinion or we failed.
    Towards a hook written in this dialect: `stdin` and `environment` for any agent's event, `read` for what the
    hook's process left behind.
    """

    EVENTS: Mapping[str, EventSpec]

    def title(self, payload: Mapping[str, Any]) -> str: ...
    def parse(self, knock: Knock, name: str, payload: Mapping[str, Any]) -> Event: ...
    def render(self, event: Event, decision: Decision) -> Answer: ...
    def neutral(self, name: str, body: bytes) -> Answer: ...
    def carries(self, event: Event, decision: Decision) -> str: ...
    def stdin(self, event: Event) -> bytes: ...
    def environment(self, event: Event) -> Mapping[str, str]: ...
    def read(self, event: Event, result: Result) -> Reading: ...
    def sample(self, name: str) -> bytes: ...
