"""Which notifications a server has, from what `dbus-monitor` wrote of its bus."""

from __future__ import annotations

import re

# The first line of a message; what it carries is on the lines below.
MESSAGE = re.compile(r"^(?=(?:method call|method return|error|signal) time=)", re.MULTILINE)
CALLER, SERIAL = re.compile(r"sender=(\S+)"), re.compile(r" serial=(\d+)")
ANSWERED, ANSWER = re.compile(r"destination=(\S+)"), re.compile(r"reply_serial=(\d+)")
NUMBER = re.compile(r"uint32 (\d+)")


def kept(log: str) -> dict[int, str]:
    """The server's number of each notification that it took and has not closed -> what it was sent."""
    asked: dict[tuple[str, str], str] = {}
    found: dict[int, str] = {}
    for message in MESSAGE.split(log):
        head, _, body = message.partition("\n")
        if head.endswith("member=Notify"):
            asked[_first(CALLER, head), _first(SERIAL, head)] = body
        elif head.startswith("method return"):
            sent = asked.pop((_first(ANSWERED, head), _first(ANSWER, head)), None)
            if sent is not None and (number := _first(NUMBER, body)):
                found[int(number)] = sent
        elif head.endswith("member=NotificationClosed") and (number := _first(NUMBER, body)):
            found.pop(int(number), None)
    return found


def _first(pattern: re.Pattern[str], text: str) -> str:
    """What the pattern's group is; "" while the line is not written whole."""
    found = pattern.search(text)
    return found[1] if found else ""
