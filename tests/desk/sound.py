"""A sound server, and listening to what it really played, on the monitor of its only sink."""

from __future__ import annotations

import array
import math
from pathlib import Path

from desk.wait import DEADLINE, wait

RATE = 22050  # samples per second, one channel, 16 bit
WINDOW = RATE // 100  # samples in the 10 ms that are looked at together
FULL = 32768
SAMPLE = 2  # bytes
SILENCE = 0.002  # of full scale: what a window's RMS must exceed to be heard
SOURCE = "desk.monitor"
OPTIONS = ("--daemonize=no", "--exit-idle-time=-1", "--disallow-exit", "--use-pid-file=no")
# With shared memory PulseAudio 16 aborts in memblock_replace_import now and then, when clients come and go.
LIGHT = ("--realtime=no", "--high-priority=no", "--disable-shm=yes")
COMMAND = ("parec", "-d", SOURCE, "--format=s16le", "--channels=1", f"--rate={RATE}", "--latency-msec=20", "--raw")


def server(script: Path) -> tuple[str | Path, ...]:
    """The command of a server that does what the script says."""
    return ("pulseaudio", "-n", "-F", script, *OPTIONS, *LIGHT)


class Recording:
    """What was recorded since it was made; all values are of full scale (0 to 1) or in seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first = path.stat().st_size // SAMPLE * SAMPLE
        self._count = -1  # until it ends

    def end(self) -> None:
        self._count = self._path.stat().st_size - self._first

    @property
    def seconds(self) -> float:
        return len(self._samples()) / RATE

    @property
    def rms(self) -> float:
        """Of the windows in which something was heard; 0 when it was silent throughout."""
        loud = [level for level in self.levels() if level > SILENCE]
        return math.sqrt(sum(level**2 for level in loud) / len(loud)) if loud else 0.0

    @property
    def peak(self) -> float:
        return max((abs(sample) for sample in self._samples()), default=0) / FULL

    @property
    def seconds_heard(self) -> float:
        return sum(level > SILENCE for level in self.levels()) * WINDOW / RATE

    def wait_sound(self, deadline: float = DEADLINE) -> float:
        """Waits until something above silence was recorded; gives the second at which it began."""
        wait(lambda: self.seconds_heard > 0, deadline, "a sound on the sink's monitor")
        return next(n for n, level in enumerate(self.levels()) if level > SILENCE) * WINDOW / RATE

    def wait_silence(self, seconds: float = 0.3, deadline: float = DEADLINE) -> None:
        """Waits until the last `seconds` of the recording are silent."""
        count = math.ceil(seconds * RATE / WINDOW)

        def silent() -> bool:
            last = self.levels()[-count:]
            return len(last) == count and max(last) <= SILENCE

        wait(silent, deadline, f"{seconds} s of silence on the sink's monitor")

    def wait_end(self, after: float = 0.0) -> None:
        """Waits for more than so many seconds of sound, and then for half a second of silence.

        A busy machine may be as silent between two sounds.
        """
        wait(lambda: self.seconds_heard > after, what=f"more than {after:g} s of sound on the sink's monitor")
        self.wait_silence(0.5, 30)

    def wait_more(self, seconds: float, deadline: float = DEADLINE) -> None:
        """Waits until that much more was recorded."""
        goal = self.seconds + seconds
        wait(lambda: self.seconds >= goal, deadline, f"{seconds} s more are recorded")

    def levels(self) -> list[float]:
        """The RMS of each 10 ms."""
        samples = self._samples()
        return [_rms(samples[n : n + WINDOW]) for n in range(0, len(samples) - WINDOW + 1, WINDOW)]

    def _samples(self) -> array.array[int]:
        with self._path.open("rb") as file:
            file.seek(self._first)
            data = file.read(self._count)
        return array.array("h", data[: len(data) // SAMPLE * SAMPLE])


def _rms(samples: array.array[int]) -> float:
    return math.sqrt(sum(sample * sample for sample in samples) / len(samples)) / FULL
