"""A real tray and the two events whose work is counted: one that no hook matches, and one that a hook denies."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import headless
import psutil
from desk import wait
from house import PRE_TOOL_USE, House

from tray import relay_program
from tray.paths import locate

LONG = 60.0  # seconds; every wait ends far earlier unless something is broken
STILL = 0.25  # seconds; the longest pause of the tray in the middle of its work is `deferred.BATCH_DELAY`, 0.1 s
WARM = 6  # events of each kind before the first one that is counted
EVENTS = 5  # events of each kind that are counted
AGENT, EVENT = "claude-code", "PreToolUse"
ZERO_MATCH, ONE_HOOK = "zero match", "one hook denies"
COMMANDS = {ZERO_MATCH: "ls", ONE_HOOK: "rm -rf build"}
DENY = "cat >/dev/null; echo no >&2; exit 2"
SETTINGS = {
    "hooks": [{"name": "guard", "event": "tool_before", "matcher": "rm -rf", "command": "./guard.sh"}],
    # Whether an alert is shown depends on how many there were in the last minute.
    "alerts": {"blocked": {"notify": False, "sound": "none"}},
}
ENVIRONMENT = {**headless.ENVIRONMENT, "PATH": "/usr/bin:/bin"}  # the same on every machine: the relay sends it along


@dataclass(frozen=True, slots=True)
class Tray:
    """A tray that runs."""

    home: Path
    process: subprocess.Popen[str]
    pid: int  # of the tray; `process` is the tracer above it

    def ask(self, kind: str) -> None:
        """One event, until its answer is there."""
        done = subprocess.run(
            self.relay(), input=payload(kind), env=ENVIRONMENT, capture_output=True, timeout=LONG, check=True
        )
        denied = b'"permissionDecision":"deny"' in done.stdout
        assert denied is (kind == ONE_HOOK), f"{kind}: the relay answered {done.stdout!r}"

    def relay(self) -> list[str]:
        """The line of agents' settings: the relay that the tray installed, with its table beside it."""
        return [str(locate(str(self.home)).relay), AGENT, EVENT]

    def portable_relay(self) -> list[str]:
        """The portable relay beside the same table, in a folder that the tray does not tidy."""
        folder = self.home / "portable"
        shutil.copytree(locate(str(self.home)).relay_folder, folder, dirs_exist_ok=True)
        shutil.copy(relay_program.PORTABLE_RELAY, folder)
        return [*relay_program.portable()[:-1], str(folder / relay_program.PORTABLE_RELAY.name), AGENT, EVENT]

    def settle(self) -> None:
        """Wait until all threads of the tray have slept through STILL: then it has no work left."""
        before, since = switches(self.pid), time.monotonic()

        def still() -> bool:
            nonlocal before, since
            now = switches(self.pid)
            if now is None or now != before:
                before, since = now, time.monotonic()
            return time.monotonic() - since >= STILL

        wait(still, LONG, "the tray is idle")


def payload(kind: str) -> bytes:
    return json.dumps({**PRE_TOOL_USE, "tool_input": {"command": COMMANDS[kind], "description": "look"}}).encode()


def switches(pid: int) -> int | None:
    """How often the kernel has switched the threads of a process; None while one of them is not asleep."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            lines = (task / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):  # this thread has ended
            return None
        fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if not fields["State"].startswith("S"):
            return None
        found += int(fields["voluntary_ctxt_switches"]) + int(fields["nonvoluntary_ctxt_switches"])
    return found


@contextlib.contextmanager
def tray(tracer: Sequence[str]) -> Iterator[Tray]:
    """A traced tray with one approved hook, warm: it has answered WARM events of each kind."""
    # Not pytest's folder: some work grows with the depth of the path.
    with tempfile.TemporaryDirectory(prefix="counts-") as folder:
        house = _furnished(Path(folder))
        argv = [*tracer, sys.executable, "-I", str(Path(__file__).with_name("counted.py"))]
        log = Path(folder, "output")
        with log.open("w") as output:
            process = subprocess.Popen(
                [*argv, str(house.paths.home)],
                env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True,
            )  # fmt: skip
        try:
            wait(lambda: process.poll() is not None or headless.is_open(house.paths.socket), LONG, "the tray answers")
            if process.poll() is not None:
                raise RuntimeError(f"The tray did not start: {' '.join(argv)}: {log.read_text()}")
            started = Tray(house.root / "home", process, _tray(process))
            _warm(started)
            yield started
        finally:
            if process.poll() is None:
                os.kill(_tray(process), signal.SIGTERM)
            process.communicate(timeout=LONG)


def _furnished(folder: Path) -> House:
    """A home with the hook approved."""
    house = House(folder)
    house.script("guard.sh", DENY)
    house.configure(SETTINGS)
    standing = house.state("guard")
    house.consent.approve(standing.key, standing.digest, "test")
    house.close()
    return house


def _tray(process: subprocess.Popen[str]) -> int:
    """The tray itself: the only process below its tracer, which may be gone already."""
    below = psutil.Process(process.pid).children()
    return below[0].pid if below else process.pid


def _warm(started: Tray) -> None:
    for _ in range(WARM):
        for kind in COMMANDS:
            started.ask(kind)
    started.settle()
