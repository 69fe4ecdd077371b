"""An event as it is judged: read by its dialect, by which version of the ledger, and whether it really happened."""

from __future__ import annotations

from dataclasses import replace

from tray.dialects import parse
from tray.engine.callers.ancestry import from_probe, from_test
from tray.model.event import PROBE, TEST, Event, Knock


def heard(knock: Knock, version: int) -> Event:
    """The event of a knock. What a command of ours sent (`test`, `doctor`) is a test: it did not happen."""
    event = parse(knock, version)
    if TEST not in knock.environment:
        return event
    sent = from_probe if event.session.startswith(PROBE) else from_test
    return replace(event, test=sent(knock.pid, knock.environment))
