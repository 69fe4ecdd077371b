"""How long a pause lasts: its end, what a user types for it, and the sentence about it."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta

from tray.errors import HooktrayError
from tray.language import say
from tray.text import sanitise


def pause_sentence(until: float, agent: str, session: str) -> str:
    """Returns whose hooks are paused, and until when."""
    clock = time.strftime("%H:%M", time.localtime(until))
    if whom := " ".join(filter(None, (agent, sanitise(session, 60)))):
        return say("Hooks of {agent} are paused until {time}", agent=whom, time=clock)
    return say("Hooks are paused until {time}", time=clock)


def tomorrow(now: float) -> float:
    """The next local midnight after `now`, in seconds since the epoch."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1)).timestamp()


def parse_duration(text: str) -> float | None:
    """`30m`, `1h` or `90s` in seconds; None = until tomorrow. Raises HooktrayError."""
    if text == "tomorrow":
        return None
    found = re.fullmatch(r"(\d{1,4})([smh])", text)
    if not found or int(found[1]) == 0:
        raise HooktrayError(
            say("`{length}` is not a length of time", length=text), hint=say("write 30m, 1h or tomorrow")
        )
    return int(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]
