"""Times whole processes as an agent sees them, in turns, so that whatever else the machine does hits all alike."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GAP = 0.002  # seconds between two samples: the tray is idle again, as it is between two calls of a tool

Sample = Callable[[], float]  # runs once; the seconds it took


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured of one candidate, in seconds."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        return sorted(self.seconds)[max(0, -(-len(self.seconds) * 99 // 100) - 1)]


def in_turns(samples: Mapping[str, Sample], rounds: int, gap: float = GAP) -> dict[str, Times]:
    """Each candidate once a round, each round in another order: nobody always follows the same neighbour.

    Whoever comes before leaves the processor's caches full of its own, or of what is wanted next.
    """
    names = list(samples)
    dice = random.Random(rounds)
    found: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        samples[name]()
    for _ in range(rounds):
        for name in dice.sample(names, len(names)):
            time.sleep(gap)
            found[name].append(samples[name]())
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}


def process(argv: Sequence[str], payload: bytes | Path, environment: Mapping[str, str]) -> Sample:
    """From the spawn to the end of its output and its exit; the payload waits in its stdin, a large one in a file."""
    return lambda: burst(argv, payload, environment, 1)()


def burst(argv: Sequence[str], payload: bytes | Path, environment: Mapping[str, str], count: int) -> Sample:
    """So many of them at once, until all are over."""

    def sample() -> float:
        inputs = [_opened(payload) for _ in range(count)]
        started = time.perf_counter()
        running = [_spawn(argv, opened, environment) for opened in inputs]
        for pid, output in running:
            while os.read(output, 1 << 20):
                pass
            os.close(output)
            os.waitpid(pid, 0)
        taken = time.perf_counter() - started
        for opened in inputs:
            os.close(opened)
        return taken

    return sample


def _opened(payload: bytes | Path) -> int:
    if isinstance(payload, Path):
        return os.open(payload, os.O_RDONLY)
    reader, writer = os.pipe()
    os.write(writer, payload)
    os.close(writer)
    return reader


def _spawn(argv: Sequence[str], stdin: int, environment: Mapping[str, str]) -> tuple[int, int]:
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, writer, 1)]
    pid = os.posix_spawn(argv[0], list(argv), dict(environment), file_actions=actions)
    os.close(writer)
    return pid, reader
