"""What one check found: how something stands, and what exactly to do about it."""

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
    """One line of the examination. `remedy` is "" where nothing is to be done."""

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


def failing_names(findings: Iterable[CheckResult]) -> frozenset[str]:
    """Which hooks are broken: what the menu and `hooktray status` count, with those that failed when last asked."""
    return frozenset(one.name for one in findings if one.check == "hook" and one.health is Health.BROKEN)
