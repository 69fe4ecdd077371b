"""What is held while its user looks: nothing is lost, nothing that matters is quiet, and silence needs a proof."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

from clock import Timeline
from every import every
from msgspec.structs import replace
from notify.samples import alert

from tray.notify.alert import Alert, AlertClass, FixedSettings, Urgency
from tray.notify.alert_gate import (
    ANSWER_TIMEOUT,
    GLANCE,
    HELD_CLASSES,
    RETURN_INTERVAL,
    SEEN,
    AlertGate,
    Attention,
    Throttle,
)
from tray.notify.notifier import Notifier
from tray.settings import Settings

LOOKING, ELSEWHERE, AWAY = Attention(is_looking=True), Attention(), Attention(is_away=True)
PROTECTED = frozenset(AlertClass) - HELD_CLASSES


class Unlimited(Throttle):
    """Lets everything through at once."""

    def offer(self, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
        return tuple(alerts)


class World(Timeline):
    """A desk with a clock, whose user looks, or not, or is away; looks take as long as `slow` says."""

    def __init__(
        self, mode: Any = "hold", state: Attention = LOOKING, slow: float = 0.0, *, paced: bool = False
    ) -> None:
        super().__init__()
        self.mode, self.state, self.slow = mode, state, slow
        self.shown: list[tuple[Alert, str]] = []
        self.words: list[tuple[tuple[str, ...], str]] = []
        self.withdrawn: list[str] = []
        self.pushed: list[tuple[int, Alert]] = []  # with the number of alerts shown before
        settings = FixedSettings(Settings(while_looking=mode))
        self.throttle = (Throttle if paced else Unlimited)(settings, self)
        self.gate = AlertGate(
            self.throttle, cast(Notifier, self), self, settings, self, push=self.push, timer=self,
            release_timer=self, clock=self,
        )  # fmt: skip

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        self.words.append((ids, word))

    def announce(self, alerts: tuple[Alert, ...], *records: str) -> None:
        self.shown += [(one, " ".join(records)) for one in alerts]

    def push(self, alerts: tuple[Alert, ...], record: str) -> None:
        self.pushed += [(len(self.shown), one) for one in alerts]

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self.withdrawn += keys

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        self.after(self.slow, lambda: answer(self.state))

    @property
    def bodies(self) -> list[str]:
        return [one.body for one, _ in self.shown]


def ended(key: str = "k", **more: Any) -> Alert:
    fields: dict[str, Any] = {"cls": AlertClass.TURN_END, "urgency": Urgency.NORMAL, "sound": "chime"}
    return replace(alert(key=key, **{**fields, **more}), agent="codex", session="s")


def look_away(world: World) -> None:
    world.state = ELSEWHERE


def withdraw(world: World) -> None:
    world.gate.withdraw(("k",))
    world.state = ELSEWHERE


def quit(world: World) -> None:
    world.gate.close()


@every(
    ("seconds", "then", "is_shown"), [(60, quit, False), (5, look_away, True), (2, quit, True), (2, withdraw, False)]
)
def test_the_end_of_a_turn_is_held_until_the_user_has_certainly_seen_it(
    seconds: float, then: Callable[[World], None], is_shown: bool
) -> None:
    world = World()
    world.gate.announce((ended(),), "r1")
    world.wait(seconds)
    then(world)
    world.wait(60)

    assert world.shown == ([(ended(), "r1")] if is_shown else [])
    assert world.words == [(("r1",), SEEN)] or seconds < 60
    assert world.withdrawn == (["k"] if then is withdraw else [])


@every(("state", "slow"), [(ELSEWHERE, 0), (AWAY, 0), (LOOKING, ANSWER_TIMEOUT * 3)])
def test_a_held_alert_is_shown_with_its_sound_if_no_proof_comes_in_time(state: Attention, slow: float) -> None:
    world = World(state=state, slow=slow)
    world.gate.announce((ended(),), "r1")
    world.wait(ANSWER_TIMEOUT + 0.1)

    assert world.shown == [(ended(), "r1")]


@every(
    ("one", "mode", "sound"),
    [
        *((ended(cls=cls), "hold", "") for cls in sorted(PROTECTED)),
        (ended(urgency=Urgency.CRITICAL), "hold", ""),
        (ended(), "silent", ""),
        (ended(), "show", "chime"),
    ],
)
def test_every_other_class_is_shown_without_a_sound_while_its_user_looks(one: Alert, mode: str, sound: str) -> None:
    world = World(mode=mode)
    world.gate.announce((one,), "r1")
    world.wait(60)

    assert world.shown == [(replace(one, sound=sound), "r1")]


def test_what_is_not_about_a_session_is_not_delayed() -> None:
    world = World(slow=0.5)
    world.gate.announce((alert(key="x"),), "")

    assert len(world.shown) == 1


def test_on_return_one_summary_counts_what_came_meanwhile() -> None:
    world = World(state=AWAY)
    for number in range(3):
        world.gate.announce((ended(f"k{number}", project="api"),), f"r{number}")
        world.wait(100)
    world.state = ELSEWHERE
    world.wait(RETURN_INTERVAL * 2)
    world.wait(1000)

    assert len(world.shown) == 4
    assert world.bodies[-1] == "While you were away: 3 turns ended: api"


def test_no_notification_is_lost_in_random_sequences() -> None:
    """Each is shown once, or its user looked at its session for ten seconds after it, or it was withdrawn."""
    outcomes: Counter[str] = Counter()
    for seed in range(1_500):
        dice = random.Random(seed)
        world = World(dice.choice(("hold", "hold", "silent", "show")), slow=dice.choice((0.0, 0.3, 2.0)))
        offered: dict[str, tuple[float, Alert]] = {}
        withdrawn: set[str] = set()
        looked: list[tuple[float, Attention]] = [(world.now, world.state)]
        for number in range(dice.randint(3, 12)):
            match dice.randrange(5):
                case 0 | 1:
                    cls = dice.choice((AlertClass.TURN_END, AlertClass.TURN_END, *AlertClass))
                    one = ended(f"k{number}", cls=cls, urgency=dice.choice(tuple(Urgency)))
                    offered[f"r{number}"] = (world.now, one)
                    world.gate.announce((one,), f"r{number}")
                case 2:
                    world.state = dice.choice((LOOKING, LOOKING, ELSEWHERE, AWAY))
                    looked.append((world.now, world.state))
                case 3 if offered and dice.random() < 0.3:
                    record = dice.choice(list(offered))
                    withdrawn.add(record)
                    world.gate.withdraw((offered[record][1].key,))
                case _:
                    world.wait(dice.choice((0.1, 0.7, 3.0, 12.0)))
        if dice.random() < 0.5:
            world.gate.close()
        world.wait(100)
        outcomes.update(check(world, offered, withdrawn, looked, seed))

    assert all(outcomes[one] > 10 for one in ("shown", "seen", "shown after it was held", "withdrawn")), outcomes


def check(
    world: World,
    offered: dict[str, tuple[float, Alert]],
    withdrawn: set[str],
    looked: list[tuple[float, Attention]],
    seed: int,
) -> list[str]:
    """What became of each."""
    outcomes = []
    shown = [record for _, record in world.shown if record]
    seen = {record for records, word in world.words for record in records if word == SEEN}
    for record, (at, one) in offered.items():
        count = shown.count(record)
        if record in withdrawn:
            outcomes.append("withdrawn")
            assert count <= 1, seed
        elif count == 0:
            outcomes.append("seen")
            assert record in seen, seed
            assert one.cls in HELD_CLASSES, seed
            assert one.urgency is not Urgency.CRITICAL, seed
            assert world.mode == "hold", seed
            assert was_looking(looked, at + world.slow, at + GLANCE), seed
        else:
            outcomes.append("shown after it was held" if record in seen else "shown")
            assert count == 1, seed
    return outcomes


def was_looking(looked: list[tuple[float, Attention]], begin: float, end: float) -> bool:
    """Whether the user looked at the moments of the first and of the last look, between which others lie."""
    states = [state for at, state in looked if at <= begin][-1:] + [state for at, state in looked if at <= end][-1:]
    return all(state.is_looking for state in states)


def test_a_held_alert_is_noted_with_its_record_and_comes_when_its_time_has_come() -> None:
    world = World(paced=True)
    world.gate.snooze(600)
    world.gate.announce((about("api"),), "r1")
    world.gate.announce((about("web"),), "r2")
    world.gate.recheck()
    assert world.words == [(("r1",), "held"), (("r2",), "held")]
    assert (world.shown, world.throttle.count) == ([], 2)

    world.wait(601)
    world.gate.announce((about("shop"),), "r3")

    assert [one.body for one, _ in world.shown] == ["2 turns ended: api, web", "Turn ended"]
    assert [record for _, record in world.shown] == ["r1 r2", "r3"]
    assert world.throttle.deferred == ()


def about(project: str) -> Alert:
    """An alert that no session is known of."""
    return alert(title=f"claude-code · {project}", project=project, key=f"{project}|turn_end")


def test_push_services_get_an_alert_after_the_desktop_and_none_without_notification_and_sound() -> None:
    world = World(mode="show")
    one = ended()

    world.gate.announce((one, ended(notify=False, sound="")), "r1")
    world.gate.announce((ended(notify=False, sound=""),), "r2")

    assert (world.shown, world.pushed) == ([(one, "r1")], [(1, one)])
