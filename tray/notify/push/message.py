"""What is pushed of an alert, and what became of it."""

from __future__ import annotations

import enum
import importlib.util
from collections.abc import Sequence
from operator import attrgetter

import msgspec

from tray.language import count, say
from tray.notify.alert import APP, CLASS_NAMES, Alert
from tray.settings import PushTarget
from tray.text import push_urls

PIP = "pip install 'hooktray[push]'"


class PushStatus(enum.StrEnum):
    """What became of one message; the first two are sent again."""

    UNREACHED = "unreached"  # no connection came about, so it cannot have arrived
    BUSY = "busy"  # the service asks to send it later
    SENT = "sent"
    REFUSED = "refused"  # by the service, or it cannot be sent at all
    UNKNOWN = "unknown"  # it may have arrived: it is not sent again


RETRIED = frozenset({PushStatus.UNREACHED, PushStatus.BUSY})


class PushMessage(msgspec.Struct, frozen=True):
    """What one service gets."""

    url: str  # or its reference
    title: str
    body: str


class PushResult(msgspec.Struct, frozen=True):
    """What became of it, in words that never hold the URL."""

    status: PushStatus
    problem: str = ""


def is_installed() -> bool:
    """Whether the extra is."""
    return importlib.util.find_spec("apprise") is not None


def wanted(target: PushTarget, alerts: Sequence[Alert]) -> Alert | None:
    """The most urgent of these alerts that this target gets."""
    due = [one for one in alerts if one.notify and one.cls.value in target.classes]
    return max(due, key=attrgetter("urgency"), default=None)


def message(target: PushTarget, alert: Alert, *, show_input: bool) -> PushMessage:
    """Class, agent and project; the whole text only where the user wants it there."""
    name = say(CLASS_NAMES[alert.cls])
    if target.show_input and show_input:
        return PushMessage(url=target.url, title=_plain(alert.title), body=_plain(alert.body) or name)
    return PushMessage(url=target.url, title=_plain(alert.title), body=name)


def summary(url: str, number: int) -> PushMessage:
    """In the place of those that were too many."""
    return PushMessage(url=url, title=APP, body=count("{n} more notification", "{n} more notifications", number))


def trial(target: PushTarget) -> PushMessage:
    """What `hooktray push test` sends."""
    return PushMessage(url=target.url, title=APP, body=say("This is a test of your push notifications"))


def sentence(url: str, result: PushResult) -> str:
    """For people: which service, and what went wrong."""
    return f"{push_urls.label(url)} · {result.problem}"


def _plain(text: str) -> str:
    """Chat services call people by an @, and an agent must not."""
    return text.replace("@", "＠")  # noqa: RUF001 - which only looks like one
