"""Which hooks are in trouble, in which words and with which cure; the same trouble is told once an hour. Pure."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from tray.alerts.alert import BODY_LIMIT, AlertClass
from tray.language import phrase, say
from tray.model.decision import Gate, Outcome, Status
from tray.text import sanitise

HOUR = 3600.0  # seconds in which the same trouble of a hook is told once
KEPT = 512  # troubles that are remembered
SLOW = 0.8  # share of its limit above which a hook that ended well was slow

K = TypeVar("K")
V = TypeVar("V")


class Kind(enum.StrEnum):
    FAILED = "failed"
    TIMED_OUT = "timed out"
    UNREADABLE = "unreadable"
    SLOW = "slow"


CLASSES = {
    Kind.FAILED: AlertClass.HOOK_FAILED,
    Kind.TIMED_OUT: AlertClass.HOOK_TIMED_OUT,
    Kind.UNREADABLE: AlertClass.HOOK_FAILED,
    Kind.SLOW: AlertClass.HOOK_TIMED_OUT,
}
CURES = {
    Kind.FAILED: phrase("`hooktray log` and `why` show what it wrote"),
    Kind.TIMED_OUT: phrase("raise its `timeout:` or make it quicker"),
    Kind.UNREADABLE: phrase("it must print nothing, or one answer in its dialect"),
    Kind.SLOW: phrase("raise its `timeout:` or make it quicker"),
}
# What is said of a cause that has a cure of its own, the first that is found.
SPECIAL = (
    ("not found", phrase("install it, or mend its line and approve that")),
    ("no such", phrase("put the file back, or mend its line and approve that")),
    ("ermission", phrase("make it executable: chmod +x")),
    ("busy", phrase("too many events at once; it is asked again with the next one")),
    (" over ", phrase("have it print less")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is wrong with one hook."""

    hook: str
    kind: Kind
    cause: str
    cure: str

    @property
    def cls(self) -> AlertClass:
        return CLASSES[self.kind]


def trouble(outcome: Outcome) -> Trouble | None:
    """None when all is well. Output that was no answer is trouble, too (decision 16)."""
    kind, cause = _kind(outcome)
    if kind is None:
        return None
    special = next((cure for word, cure in SPECIAL if word in cause), CURES[kind])
    return Trouble(hook=outcome.hook, kind=kind, cause=cause, cure="" if outcome.gate is Gate.LOOP_CAP else special)


def told(one: Trouble) -> str:
    """`hook: cause · cure`; the cause is cut before the cure is."""
    cure = say(one.cure) if one.cure else ""
    room = BODY_LIMIT - (len(cure) + 3 if cure else 0)
    return " · ".join(filter(None, (sanitise(f"{one.hook}: {one.cause}", room), cure)))


def _kind(outcome: Outcome) -> tuple[Kind | None, str]:
    cause = outcome.cause or outcome.reading.problem
    if outcome.reading.warning:
        return Kind.UNREADABLE, cause or outcome.reading.warning
    if outcome.status is Status.TIMED_OUT:
        return Kind.TIMED_OUT, cause or say("timed out")
    if outcome.status is Status.FAILED:
        return Kind.FAILED, cause or say("failed")
    if outcome.status is Status.OK and outcome.limit and outcome.ms > SLOW * outcome.limit * 1000:
        seconds, limit = f"{outcome.ms / 1000:.3g}", f"{outcome.limit:g}"
        return Kind.SLOW, say("took {seconds} of its {limit} s", seconds=seconds, limit=limit)
    return None, ""


class Troubles:
    """Remembers what was told, and which hooks were in trouble when they were last asked."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}
        self._now: dict[str, Trouble] = {}

    @property
    def hooks(self) -> tuple[Trouble, ...]:
        """Of every hook that is in trouble, the last one."""
        return tuple(self._now.values())

    def fresh(self, outcomes: Iterable[Outcome]) -> list[Trouble]:
        """What is to be told now of these outcomes."""
        return [one for outcome in outcomes if (one := self._heard(outcome)) and self._first(one)]

    def settled(self, hook: str) -> None:
        """Somebody has dealt with it: the next trouble is news."""
        self._now.pop(hook, None)
        for key in [key for key in self._told if key[0] == hook]:
            del self._told[key]

    def _heard(self, outcome: Outcome) -> Trouble | None:
        if outcome.status is Status.SKIPPED and not outcome.reading.warning:
            return None
        one = trouble(outcome)
        if one is None:
            self._now.pop(outcome.hook, None)
        else:
            self._now[outcome.hook] = one
            _bound(self._now)
        return one

    def _first(self, one: Trouble) -> bool:
        """The same cause with another number in it is the same."""
        key, now = (one.hook, f"{one.kind}:{re.sub('[0-9]+', '#', one.cause)[:80]}"), self._clock()
        if now - self._told.get(key, now - HOUR) < HOUR:
            return False
        self._told.pop(key, None)
        self._told[key] = now
        _bound(self._told)
        return True


def _bound(memory: dict[K, V]) -> None:
    while len(memory) > KEPT:
        memory.pop(next(iter(memory)))
