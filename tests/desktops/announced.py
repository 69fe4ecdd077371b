"""Finds the open notifications in the output of `dbus-monitor`."""

from __future__ import annotations

import re

START = re.compile(r"^(?=(?:method call|method return|error|signal) time=)", re.MULTILINE)  # of a message
SENDER, SERIAL = re.compile(r" sender=(\S+)"), re.compile(r" serial=(\d+)")
DESTINATION, REPLY_SERIAL = re.compile(r" destination=(\S+)"), re.compile(r" reply_serial=(\d+)")
ID = re.compile(r"uint32 (\d+)")


def open_notifications(log: str) -> dict[int, str]:
    """The id of each notification that the server accepted and has not closed -> the arguments of its call."""
    calls: dict[tuple[str, str], str] = {}
    found: dict[int, str] = {}
    for message in START.split(log):
        head, _, body = message.partition("\n")
        if head.endswith("member=Notify"):
            calls[_first(SENDER, head), _first(SERIAL, head)] = body
        elif head.startswith("method return"):
            arguments = calls.pop((_first(DESTINATION, head), _first(REPLY_SERIAL, head)), None)
            if arguments is not None and (number := _first(ID, body)):
                found[int(number)] = arguments
        elif head.endswith("member=NotificationClosed") and (number := _first(ID, body)):
            found.pop(int(number), None)
    return found


def _first(pattern: re.Pattern[str], text: str) -> str:
    """The pattern's group; "" while the line is incomplete."""
    found = pattern.search(text)
    return found[1] if found else ""
