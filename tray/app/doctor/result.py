"""The result of one check: the health of something, and what exactly to do about it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Health(enum.StrEnum):
    OK = "ok"
    ATTENTION = "attention"  # works, or is meant so; a person should know
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of the report. `remedy` is "" where nothing is to be done."""

    check: str
    name: str
    health: Health
    message: str
    remedy: str = ""


def ok(check: str, name: str, message: str) -> CheckResult:
    return CheckResult(check=check, name=name, health=Health.OK, message=message)


def attention(check: str, name: str, message: str, remedy: str) -> CheckResult:
    return CheckResult(check=check, name=name, health=Health.ATTENTION, message=message, remedy=remedy)


def broken(check: str, name: str, message: str, remedy: str) -> CheckResult:
    return CheckResult(check=check, name=name, health=Health.BROKEN, message=message, remedy=remedy)


def failing_names(results: Iterable[CheckResult]) -> frozenset[str]:
    """The broken hooks; the menu and `hooktray status` count them with those that failed when they last ran."""
    return frozenset(one.name for one in results if one.check == "hook" and one.health is Health.BROKEN)
