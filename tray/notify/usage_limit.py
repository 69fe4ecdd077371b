"""Pure: whether a usage limit ended a turn, and when the limit ends, in the agent's words."""

from __future__ import annotations

import re
import time

from tray.language import say
from tray.model.event import Event, EventKind
from tray.notify.alert import BODY_LIMIT
from tray.text import first_line

TOPIC = "rate_limit"  # why a turn failed; the message then has the time when the limit ends
# Agents that give no such reason have it in their message.
_LIMIT = re.compile(
    r"\b(?:usage|session|weekly|rate)\slimit\b|\bhit\syour\s[\w -]{,20}limit\b|\bquota\sexceeded\b", re.I
)
_SECONDS = re.compile(r"\|(\d{10})\b")  # how some say when it ends: seconds since 1970
_END = re.compile(r"\b(?:resets?|try again)\b(?:(?!\. |\.$)[^·|]){,40}", re.I)


def is_usage_limit(event: Event) -> bool:
    """Whether a limit made this turn fail."""
    return event.kind is EventKind.TURN_FAILED and (
        event.topic == TOPIC or bool(_LIMIT.search(first_line(event.message, BODY_LIMIT)))
    )


def with_reset(message: str) -> str:
    """The agent's words about when the limit ends; seconds since 1970 as a time of the user's clock."""
    return _SECONDS.sub(_reset_time, message)


def reset_words(text: str) -> str:
    """The part of a limit's text that has the time; "" without one: `resets 3pm`."""
    found = _END.search(text)
    return found[0].strip() if found else ""


def _reset_time(found: re.Match[str]) -> str:
    at = time.strftime("%d %b %H:%M", time.localtime(int(found[1])))
    return " · " + say("resets {time}", time=at)
