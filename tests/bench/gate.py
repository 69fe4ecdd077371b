"""What a release holds the speed to: ratios of medians of runs that took turns, never a time."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.timing import GAP, Sample, Times, burst, in_turns, process
from bench.trays import PAYLOAD, RESULT, Bench, ideal
from headless import ENVIRONMENT

ROUNDS = 200
STARTS = 12  # of processes that start Python, which take 100 to 300 ms
BURSTS = 12
ENOUGH = 25.0  # seconds after which no other try begins
TRIES = 3  # at most, of what was missed; the best counts: a machine that is busy with something else is no regression
ADDED, ADDED_SHARE = 0.0021, 0.8  # seconds, and times the hook's own run: what we may add to it
SHELL = ["/bin/sh", "-c", ":"]
PYTHON = "python -I -S -c pass"


def over(ours: Times, base: Times) -> float:
    return ours.p50 / base.p50


def added(ours: Times, alone: Times) -> float:
    """What we add to one hook, as a part of what we may add: ADDED or its share, whichever is more."""
    return (ours.p50 - alone.p50) / max(ADDED, ADDED_SHARE * alone.p50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A ratio of two samples, and what it shall be at most.

    With a `slack` above 1 it may be missed by that much, and is told.
    """

    name: str
    ours: str
    base: str = "sh -c :"
    limit: float
    slack: float = 1.0
    ratio: Callable[[Times, Times], float] = over


# Some are so near to their limit that a machine with something else to do misses them; what was slower would fail.
# Those of the ideal tray are goals that are not reached yet: what fails is to get further away from them.
BOUNDS = (
    Bound(name="zero match, shell form / sh -c :", ours="shell form", limit=1.6, slack=1.1),
    Bound(name="zero match, exec form / sh -c :", ours="exec form", limit=0.8),
    Bound(
        name="zero match, shell form / the ideal tray",
        ours="shell form",
        base="ideal, shell form",
        limit=1.15,
        slack=1.35,
    ),
    Bound(
        name="zero match, exec form / the ideal tray",
        ours="exec form",
        base="ideal, exec form",
        limit=1.4,
        slack=1.8,
    ),
    Bound(name="switch off, shell form / sh -c :", ours="off, shell form", limit=1.6, slack=1.1),
    Bound(name="switch off, exec form / sh -c :", ours="off, exec form", limit=0.8),
    Bound(
        name="added to one hook / 2.1 ms or 0.8 of its own run",
        ours="one hook",
        base="the hook alone",
        limit=1.0,
        slack=1.15,
        ratio=added,
    ),
    Bound(name="20,000 rows, 10,000 approvals in force / none", ours="grown", base="empty", limit=1.15),
    Bound(name="burst of 32 / 32 sh -c :", ours="burst of 32", base="32 sh -c :", limit=1.6),
    Bound(name=f"event without the tray / {PYTHON}", ours="without the tray", base=PYTHON, limit=12, slack=1.1),
    Bound(name=f"hooktray list / {PYTHON}", ours="hooktray list", base=PYTHON, limit=18, slack=1.1),
)


def measure() -> dict[str, list[float]]:
    """The ratios of each try, by the names of the bounds; one that was kept is tried no more."""
    found: dict[str, list[float]] = {bound.name: [] for bound in BOUNDS}
    missed = list(BOUNDS)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        samples, starts, bursts = _samples(Path(folder), ends)
        started = time.monotonic()
        for _ in range(TRIES):
            times = _taken(samples, missed, ROUNDS) | _taken(starts, missed, STARTS) | _taken(bursts, missed, BURSTS)
            for bound in missed:
                found[bound.name].append(bound.ratio(times[bound.ours], times[bound.base]))
            missed = [bound for bound in missed if found[bound.name][-1] > bound.limit]
            if not missed or time.monotonic() - started > ENOUGH:
                break
    return found


def _taken(samples: Mapping[str, Sample], bounds: Sequence[Bound], rounds: int) -> dict[str, Times]:
    """What these bounds are about, in turns; where it is less than all, the gaps of a round add up to as much."""
    wanted = {name for bound in bounds for name in (bound.ours, bound.base)}
    some = {name: sample for name, sample in samples.items() if name in wanted}
    return in_turns(some, rounds, GAP * len(samples) / len(some)) if some else {}


def _samples(folder: Path, ends: contextlib.ExitStack) -> tuple[dict[str, Sample], ...]:
    """Returns what runs ROUNDS times, what runs STARTS times, and what runs BURSTS times."""
    base = Bench(folder / "base", hooks=1)
    ends.callback(base.stop)
    off = Bench(folder / "off", hooks=1, off=True)
    ends.callback(off.stop)
    best = ends.enter_context(ideal(folder / "ideal"))
    empty = Bench(folder / "empty")  # asked as often as the grown one: a tray just asked is quicker by a third
    ends.callback(empty.stop)
    grown = Bench(folder / "grown", rules=10_000, rows=20_000)
    ends.callback(grown.stop)

    def once(argv: list[str], payload: bytes = PAYLOAD) -> Sample:
        return process(argv, payload, ENVIRONMENT)

    samples = {
        "sh -c :": once(SHELL),
        "shell form": once(base.shell()),
        "exec form": once(base.relay()),
        "ideal, shell form": once(best.shell()),
        "ideal, exec form": once(best.relay()),
        "empty": once(empty.relay()),
        "grown": once(grown.relay()),
        "off, shell form": once(off.shell("PostToolUse"), RESULT),
        "off, exec form": once(off.relay("PostToolUse"), RESULT),
        "the hook alone": once(base.hook, RESULT),
        "one hook": once(base.relay("PostToolUse"), RESULT),
    }
    down = Bench(folder / "down")
    down.stop()  # its tray has written the files from which the relay starts the one-shot engine
    starts = {
        PYTHON: once([sys.executable, "-I", "-S", "-c", "pass"]),
        "without the tray": once(down.relay()),
        "hooktray list": once([sys.executable, "-I", "-m", "tray", "--home", base.home, "list"], b""),
    }
    bursts = {
        "32 sh -c :": burst(SHELL, PAYLOAD, ENVIRONMENT, 32),
        "burst of 32": burst(base.shell(), PAYLOAD, ENVIRONMENT, 32),
    }
    return samples, starts, bursts
