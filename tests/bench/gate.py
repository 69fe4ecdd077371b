"""What CI holds the speed to: ratios of medians of runs that took turns, never a time."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.timing import Sample, Times, burst, in_turns, process
from bench.trays import PAYLOAD, RESULT, Bench
from headless import ENVIRONMENT

ROUNDS = 200
BURSTS = 12
ENOUGH = 20.0  # seconds after which no other try begins
TRIES = 3  # at most; the best counts: a machine that is busy with something else is no regression
ADDED, ADDED_SHARE = 0.0021, 0.8  # seconds, and times the hook's own run: what we may add to it
SHELL = ["/bin/sh", "-c", ":"]

Found = Mapping[str, Times]


@dataclass(frozen=True, slots=True)
class Bound:
    """A ratio, and what it shall be at most; with a `slack` above 1 it may be missed by that much, and is told."""

    name: str
    ratio: Callable[[Found], float]
    limit: float
    slack: float = 1.0


def over(name: str, base: str = "sh -c :") -> Callable[[Found], float]:
    return lambda found: found[name].p50 / found[base].p50


def added(found: Found) -> float:
    """What we add to one hook, as a part of what we may add: ADDED or its share, whichever is more."""
    own = found["the hook alone"].p50
    return (found["one hook"].p50 - own) / max(ADDED, ADDED_SHARE * own)


# Three are so near to their limit that a machine with something else to do misses them; what was slower would fail.
BOUNDS = (
    Bound("zero match, shell form / sh -c :", over("shell form"), 1.6, slack=1.1),
    Bound("zero match, exec form / sh -c :", over("exec form"), 0.8),
    Bound("switch off, shell form / sh -c :", over("off, shell form"), 1.6, slack=1.1),
    Bound("switch off, exec form / sh -c :", over("off, exec form"), 0.8),
    Bound("added to one hook / 2.1 ms or 0.8 of its own run", added, 1.0, slack=1.15),
    Bound("20,000 rows, 10,000 approvals in force / none", over("grown", "empty"), 1.15),
    Bound("burst of 32 / 32 sh -c :", over("burst of 32", "32 sh -c :"), 1.6),
)


def measure() -> dict[str, list[float]]:
    """The ratios of each try; ends as soon as each bound was kept once, and begins none when time is short."""
    found: dict[str, list[float]] = {bound.name: [] for bound in BOUNDS}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        samples, bursts = _samples(Path(folder), ends)
        started = time.monotonic()
        for _ in range(TRIES):
            times = in_turns(samples, ROUNDS) | in_turns(bursts, BURSTS)
            for bound in BOUNDS:
                found[bound.name].append(bound.ratio(times))
            if all(min(found[bound.name]) <= bound.limit for bound in BOUNDS):
                break
            if time.monotonic() - started > ENOUGH:
                break
    return found


def _samples(folder: Path, ends: contextlib.ExitStack) -> tuple[dict[str, Sample], dict[str, Sample]]:
    base = Bench(folder / "base", hooks=1)
    ends.callback(base.stop)
    off = Bench(folder / "off", hooks=1, off=True)
    ends.callback(off.stop)
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
        "empty": once(empty.relay()),
        "grown": once(grown.relay()),
        "off, shell form": once(off.shell("PostToolUse"), RESULT),
        "off, exec form": once(off.relay("PostToolUse"), RESULT),
        "the hook alone": once(base.hook, RESULT),
        "one hook": once(base.relay("PostToolUse"), RESULT),
    }
    bursts = {
        "32 sh -c :": burst(SHELL, PAYLOAD, ENVIRONMENT, 32),
        "burst of 32": burst(base.shell(), PAYLOAD, ENVIRONMENT, 32),
    }
    return samples, bursts
