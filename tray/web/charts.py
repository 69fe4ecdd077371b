"""Charts: bars and their positions, which the templates draw as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from time import localtime, strftime

import msgspec

from tray.model.decision import Verdict
from tray.store.stats import HOUR, HookRun, HourCount, percentile

HOURS = 24
WIDTH, HEIGHT = 720.0, 160.0
GAP = 6.0
# From the bottom: the strictest verdict on top, and unjudged calls above it.
VERDICT_ORDER = (Verdict.ABSTAIN, Verdict.ALLOW, Verdict.ASK, Verdict.DENY, Verdict.UNJUDGED)
BINS = 16  # of a distribution: 1 ms, 2 ms, 4 ms … 32 s
DURATIONS_WIDTH, DURATIONS_HEIGHT = 160.0, 28.0


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Bars; `top` is the value of the full height, `rows` has the same numbers as text."""

    bars: tuple[Bar, ...]
    ticks: tuple[str, ...]  # at equal distances, from the left end
    top: int
    total: int
    rows: tuple[tuple[str, ...], ...]


def decision_chart(counts: Iterable[HourCount], now: float) -> Chart:
    """The last day's decisions by hour, one piece of a bar per verdict."""
    known = {(count.hour, count.verdict): count.count for count in counts}
    return _by_hour(
        [(verdict.word, {hour: known.get((hour, verdict), 0) for hour in _hours(now)}) for verdict in VERDICT_ORDER]
    )


def failure_chart(turns: Iterable[HookRun], now: float) -> Chart:
    """The last day's failed turns by hour."""
    hours = dict.fromkeys(_hours(now), 0)
    for turn in turns:
        hour = math.floor(turn.at / HOUR) * HOUR
        if turn.failed and hour in hours:
            hours[hour] += 1
    return _by_hour([("trouble", hours)])


def _hours(now: float) -> list[float]:
    last = math.floor(now / HOUR) * HOUR
    return [last - HOUR * back for back in range(HOURS - 1, -1, -1)]


def _by_hour(layers: Sequence[tuple[str, dict[float, int]]]) -> Chart:
    hours = list(layers[0][1])
    sums = [sum(counts[hour] for _, counts in layers) for hour in hours]
    top = _round_up(max(sums))
    step = WIDTH / len(hours)
    bars = [bar for index, hour in enumerate(hours) for bar in _stack(index * step, step - GAP, hour, layers, top)]
    return Chart(
        bars=tuple(bars),
        ticks=tuple(_hour_text(hour) for hour in hours[::4]),
        top=top,
        total=sum(sums),
        rows=tuple(
            (_hour_text(hour), *(str(counts[hour]) for _, counts in layers))
            for hour, total in zip(hours, sums, strict=True)
            if total
        ),
    )


def _stack(
    x: float, width: float, hour: float, layers: Sequence[tuple[str, dict[float, int]]], top: int
) -> Iterable[Bar]:
    floor = HEIGHT
    for kind, counts in layers:
        height = counts[hour] / top * HEIGHT
        if height:
            floor -= height
            title = f"{_hour_text(hour)}: {counts[hour]} {kind}"
            yield Bar(x=round(x, 1), y=round(floor, 1), width=width, height=round(height, 1), kind=kind, title=title)


def _round_up(number: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 …: a scale that people read at a glance."""
    if number <= 1:
        return 1
    power = 10 ** math.floor(math.log10(number))
    return int(next(step * power for step in (1, 2, 5, 10) if step * power >= number))


def _hour_text(at: float) -> str:
    return strftime("%H:%M", localtime(at))


class HookDurations(msgspec.Struct, frozen=True, kw_only=True):
    """Durations and failures of one hook's runs."""

    runs: int = 0
    failures: int = 0
    p50: float = 0.0
    p95: float = 0.0
    last: float = 0.0
    bars: tuple[Bar, ...] = ()


def hook_durations(turns: Sequence[HookRun]) -> HookDurations:
    """Runs, failures, and how long they took: a small distribution whose columns double in time."""
    if not turns:
        return HookDurations()
    times = sorted(turn.ms for turn in turns)
    return HookDurations(
        runs=len(turns),
        failures=sum(turn.failed for turn in turns),
        p50=percentile(times, 50),
        p95=percentile(times, 95),
        last=max(turn.at for turn in turns),
        bars=tuple(_columns(times)),
    )


def durations_by_hook(turns: Iterable[HookRun]) -> dict[str, HookDurations]:
    """The same for every hook, by name."""
    known: dict[str, list[HookRun]] = {}
    for turn in turns:
        known.setdefault(turn.hook, []).append(turn)
    return {hook: hook_durations(known[hook]) for hook in sorted(known)}


def _columns(times: Sequence[float]) -> Iterable[Bar]:
    bins = [0] * BINS
    for ms in times:
        bins[min(BINS - 1, int(math.log2(max(ms, 1.0))))] += 1
    step = DURATIONS_WIDTH / BINS
    for index, count in enumerate(bins):
        height = max(1.5, count / max(bins) * DURATIONS_HEIGHT) if count else 0.0
        if height:
            title = f"{2**index} to {2 ** (index + 1)} ms: {count}"
            yield Bar(
                x=index * step, y=round(DURATIONS_HEIGHT - height, 1), width=step - 2, height=round(height, 1),
                kind="durations", title=title,
            )  # fmt: skip
