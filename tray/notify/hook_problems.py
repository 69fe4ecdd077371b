"""Which hooks have a problem, its text and its remedy; the same problem is announced once an hour. Pure."""

from __future__ import annotations

import enum
import math
import re
import shlex
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from tray.approvals.remedies import HookFailure, find_failure, remedy, remedy_of
from tray.clock import Clock
from tray.language import phrase, say
from tray.model.decision import Gate, Outcome, Status
from tray.notify.alert import BODY_LIMIT, AlertClass
from tray.text import sanitise

HOUR = 3600.0  # seconds in which the same problem of a hook is announced once
MEMORY_LIMIT = 512  # problems that are remembered
SLOW = 0.8  # share of its limit above which a hook that ended well was slow

K = TypeVar("K")
V = TypeVar("V")


class HookProblemKind(enum.StrEnum):
    FAILED = "failed"
    TIMED_OUT = "timed out"
    UNREADABLE = "unreadable"
    SLOW = "slow"


CLASSES = {
    HookProblemKind.FAILED: AlertClass.HOOK_FAILED,
    HookProblemKind.TIMED_OUT: AlertClass.HOOK_TIMED_OUT,
    HookProblemKind.UNREADABLE: AlertClass.HOOK_FAILED,
    HookProblemKind.SLOW: AlertClass.HOOK_TIMED_OUT,
}
FAILURES = {  # of causes that have no words of the table
    HookProblemKind.SLOW: HookFailure.TIME,
    HookProblemKind.TIMED_OUT: HookFailure.TIME,
    HookProblemKind.UNREADABLE: HookFailure.OUTPUT,
}
UNKNOWN_REMEDY = phrase("`hooktray log` and `why` show what it wrote")

PATH = re.compile(r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?:[^/\\\s:'\"`]+[/\\])+([^/\\\s:'\"`]+)")
DIGITS = re.compile("[0-9]+")


class HookProblem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one hook."""

    hook: str
    kind: HookProblemKind
    cause: str
    remedy: str
    let_through: bool = False  # the call that it should have judged went on, since the user could not be asked

    @property
    def cls(self) -> AlertClass:
        return CLASSES[self.kind]


def find_problem(outcome: Outcome) -> HookProblem | None:
    """None when all is well. Output that was no answer is a problem, too (decision 16)."""
    cause = outcome.cause or outcome.output.problem
    if outcome.output.warning:
        kind, cause = HookProblemKind.UNREADABLE, cause or outcome.output.warning
    elif outcome.status is Status.TIMED_OUT:
        kind, cause = HookProblemKind.TIMED_OUT, cause or say("timed out")
    elif outcome.status is Status.FAILED:
        kind, cause = HookProblemKind.FAILED, cause or say("failed")
    elif outcome.status is Status.OK and outcome.limit and outcome.ms > SLOW * outcome.limit * 1000:
        seconds, limit = f"{outcome.ms / 1000:.3g}", f"{outcome.limit:g}"
        kind, cause = HookProblemKind.SLOW, say("took {seconds} of its {limit} s", seconds=seconds, limit=limit)
    else:
        return None
    text = "" if outcome.gate is Gate.LOOP_CAP else remedy(cause, outcome.hook) or _remedy(kind)
    return HookProblem(hook=outcome.hook, kind=kind, cause=cause, remedy=text, let_through=outcome.let_through)


def _remedy(kind: HookProblemKind) -> str:
    return remedy_of(FAILURES[kind]) if kind in FAILURES else say(UNKNOWN_REMEDY)


def describe(one: HookProblem) -> str:
    """`hook: cause · remedy`; the cause is cut before the remedy is."""
    room = BODY_LIMIT - (len(one.remedy) + 3 if one.remedy else 0)
    return " · ".join(filter(None, (sanitise(f"{one.hook}: {short_cause(one.cause, one.remedy)}", room), one.remedy)))


def without_folders(text: str) -> str:
    """Files by their names: where they are is private, and too long; `hooktray doctor` shows it."""
    return PATH.sub(r"\1", text)


def short_cause(cause: str, remedy: str) -> str:
    """Without folders, and without a file that the remedy names: GNOME's banner has room for some 60 characters."""
    what, _, path = cause.rpartition(": ")
    return what if "/" in path and shlex.quote(path) in remedy else without_folders(cause)


class ProblemTracker:
    """Remembers what was announced, and which hooks had a problem when they last ran."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._announced: dict[tuple[str, str], float] = {}
        self._current: dict[str, HookProblem] = {}

    @property
    def current(self) -> tuple[HookProblem, ...]:
        """Of every hook that has a problem, the last one."""
        return tuple(self._current.values())

    def fresh(self, outcomes: Iterable[Outcome]) -> list[HookProblem]:
        """The problems of these outcomes that are to be announced now."""
        found = []
        for outcome in outcomes:
            if outcome.status is Status.SKIPPED and not outcome.output.warning:
                continue
            one = find_problem(outcome)
            if one is None:
                self._current.pop(outcome.hook, None)
                continue
            self._current[outcome.hook] = one
            _trim(self._current)
            if self._is_new(one):
                found.append(one)
        return found

    def clear(self, hook: str) -> None:
        """The user has dealt with it: the next problem is announced."""
        self._current.pop(hook, None)
        for key in [key for key in self._announced if key[0] == hook]:
            del self._announced[key]

    def _is_new(self, one: HookProblem) -> bool:
        """The same cause with another number in it is the same. What let a call through is always announced."""
        if one.let_through:
            return True
        now, is_shared = self._clock.time(), find_failure(one.cause) is HookFailure.NO_MODEL  # in none of the hooks
        key = ("" if is_shared else one.hook, f"{one.kind}:{DIGITS.sub('#', one.cause)[:80]}")
        if now - self._announced.get(key, now - HOUR) < HOUR:
            return False
        self._announced.pop(key, None)
        self._announced[key] = math.inf if is_shared else now
        _trim(self._announced)
        return True


def _trim(memory: dict[K, V]) -> None:
    while len(memory) > MEMORY_LIMIT:
        memory.pop(next(iter(memory)))
