"""The text that a hook wants shown while it runs: shown when it starts, hidden when it ends, in whatever way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from tray.model.event import Event
from tray.model.hook import Hook

log = logging.getLogger(__name__)


class StatusDisplay(Protocol):
    """Where it is shown."""

    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


@contextmanager
def show_status(
    display: StatusDisplay, event: Event, hooks: Mapping[int, Hook]
) -> Iterator[Callable[[int], Callable[[], None]]]:
    """Show the texts of these hooks; yields what to call when one of them has ended."""
    turns = {index: f"{event.id}/{index}" for index, hook in hooks.items() if hook.status}

    def hide(index: int) -> None:
        if turn := turns.pop(index, ""):
            _quietly(partial(display.status_hidden, turn))

    for index, turn in turns.items():
        _quietly(partial(display.status_shown, turn, hooks[index].status))
    try:
        yield lambda index: partial(hide, index)
    finally:
        for index in list(turns):
            hide(index)


def _quietly(call: Callable[[], None]) -> None:
    """What cannot be shown never changes an answer (law 7)."""
    try:
        call()
    except Exception:  # of our display; the hook runs on
        log.exception("a hook's status could not be shown")
