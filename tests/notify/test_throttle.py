"""A storm, a night and a snooze: what is shown, what is held back, and that every count is exact."""

from __future__ import annotations

import random
import re
from datetime import datetime
from typing import Any

import pytest
from clock import Clock
from every import every
from msgspec.structs import replace
from notify.samples import alert

from tray.notify.alert import Alert, AlertClass, FixedSettings, Urgency, quiet_until
from tray.notify.alert_gate import BURST, MINUTE, RATE, SPACING, Throttle
from tray.settings import QuietHours


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)


@pytest.fixture
def throttle(clock: Clock) -> Throttle:
    return Throttle(FixedSettings(), clock)


def ended(project: str, **more: Any) -> Alert:
    return alert(title=f"claude-code · {project}", project=project, key=f"{project}|turn_end", **more)


def counted(shown: Alert) -> int:
    """How many alerts one notification stands for."""
    if not shown.title.startswith("Hooktray · "):
        return 1
    return sum(int(number) for number in re.findall(r"(?:^| · )(\d+) ", shown.body))


def test_ten_thousand_outcomes_in_a_minute_are_six_notifications_a_minute_with_exact_counts(
    throttle: Throttle, clock: Clock
) -> None:
    shown: list[tuple[float, Alert]] = []
    chance = random.Random(19)
    classes = (AlertClass.BLOCKED, AlertClass.HOOK_FAILED, AlertClass.TURN_END)
    urgent = 0
    for number in range(10_000):
        clock.now += 60 / 10_000
        critical = number % 1000 == 999
        urgent += critical
        urgency = Urgency.CRITICAL if critical else Urgency.NORMAL
        one = ended(f"p{number % 40}", cls=chance.choice(classes), urgency=urgency)
        shown += [(clock.now, each) for each in (*throttle.offer([one]), *throttle.release())]
    while (due := throttle.due()) is not None:
        clock.now += due
        shown += [(clock.now, each) for each in throttle.release()]

    paced = [at for at, each in shown if each.urgency is not Urgency.CRITICAL]
    assert sum(counted(each) for _, each in shown) == 10_000
    assert sum(each.urgency is Urgency.CRITICAL for _, each in shown) == urgent == 10
    assert all(sum(at <= other < at + MINUTE for other in paced) <= RATE for at in paced)
    summaries = [each.key for _, each in shown if each.title.startswith("Hooktray · ")]
    assert len(set(summaries)) == len(summaries) > 1, "none replaces another one"
    assert throttle.count == 0


@every(
    ("offered", "title", "body"),
    [
        ([ended("api"), ended("web"), ended("api"), ended("shop", cls=AlertClass.BLOCKED)], "Hooktray · 4 alerts",
         "3 turns ended: api, web · 1 blocked: shop"),
        ([ended(f"p{number}") for number in range(9)], "Hooktray · 9 alerts", "9 turns ended: p0, p1, p2 …"),
        ([ended("late")], ended("late").title, ended("late").body),  # one is shown as it is
    ],
)  # fmt: skip
def test_a_summary_counts_by_class_and_names_projects(offered: list[Alert], title: str, body: str) -> None:
    clock = Clock()
    throttle = Throttle(FixedSettings(), clock)
    throttle.offer([ended("early")] * BURST)
    throttle.offer(offered)
    assert throttle.release() == ()
    clock.now += SPACING

    (summary,) = throttle.release()

    assert (summary.title, summary.body, summary.sound) == (title, body, "chime")


def test_what_no_longer_waits_for_the_user_is_not_counted_when_a_snooze_ends(
    throttle: Throttle, clock: Clock
) -> None:
    pending = [alert(cls=AlertClass.APPROVAL_PENDING, key=name) for name in ("guard", "second", "third")]
    throttle.snooze(3600)
    throttle.offer([*pending, replace(pending[0], body="other bytes")])

    throttle.withdraw({pending[0].key, pending[1].key})
    throttle.snooze(None)
    clock.now += MINUTE

    assert throttle.count == 1
    assert throttle.release() == (pending[2],)
    throttle.withdraw({pending[2].key})
    assert throttle.due() is None


def test_an_alarm_is_shown_in_the_middle_of_a_storm_and_never_summed_up(throttle: Throttle, clock: Clock) -> None:
    for number in range(50):
        throttle.offer([ended(f"p{number}")])
    alarm = alert("The database was damaged", cls=AlertClass.INFORMATION, urgency=Urgency.CRITICAL)

    shown = throttle.offer([alarm])

    clock.now += 1000.0
    assert shown == (alarm,)
    assert "message" not in "".join(one.body for one in throttle.release())


def test_a_snooze_holds_back_all_but_critical_alerts_and_answers_and_its_end_sums_them_up(throttle: Throttle) -> None:
    throttle.snooze(1800)
    critical = ended("now", urgency=Urgency.CRITICAL, sound="bell")

    shown = throttle.offer([ended("api"), critical, ended("web"), ended("answer", reply=True)])

    assert [(one.project, one.sound) for one in shown] == [("now", ""), ("answer", "")]
    assert [one.alert.project for one in throttle.deferred] == ["web", "api"]
    assert throttle.due() == 1800
    throttle.snooze(None)
    assert throttle.release()[0].body == "2 turns ended: api, web"


NIGHT = QuietHours(begin="22:00", end="07:00")
FRIDAY = QuietHours(begin="22:00", end="07:00", days=["fri"])
NOON = QuietHours(begin="12:00", end="13:30")


@every(
    ("hours", "now", "until"),
    [
        (NIGHT, "2026-11-20 21:59", None),
        (NIGHT, "2026-11-20 22:00", "2026-11-21 07:00"),
        (NIGHT, "2026-11-21 06:59", "2026-11-21 07:00"),
        (NIGHT, "2026-11-21 07:00", None),
        (FRIDAY, "2026-11-21 03:00", "2026-11-21 07:00"),  # a Saturday morning belongs to Friday's night
        (FRIDAY, "2026-11-21 23:00", None),
        (NOON, "2026-11-21 12:30", "2026-11-21 13:30"),
        (NOON, "2026-11-21 14:00", None),
        (None, "2026-11-21 14:00", None),
    ],
)
def test_quiet_hours(hours: QuietHours | None, now: str, until: str | None) -> None:
    expected = datetime.fromisoformat(until).timestamp() if until else None

    assert quiet_until(hours, datetime.fromisoformat(now).timestamp()) == expected


def test_what_stands_apart_waits_and_is_folded_into_no_summary(throttle: Throttle, clock: Clock) -> None:
    broken = alert(cls=AlertClass.INFORMATION, key="config", apart=True)
    shown: list[object] = []
    for offered in ([broken], [ended("api"), ended("api"), broken, replace(broken, body="anew")]):
        throttle.snooze(60)
        throttle.offer(offered)
        shown.append(throttle.count)
        clock.now += 61
        shown += [one.body for one in throttle.release()]

    assert shown == [1, broken.body, 3, "anew", "2 turns ended: api"]
    assert (throttle.count, throttle.due()) == (0, None)
