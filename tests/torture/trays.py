"""Headless trays for the programs that kill them and wear them down: quick to start, and asked by real relays."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import headless
from desk import wait
from headless import ENVIRONMENT
from house import House

from tray import relay_program

LONG = 60.0  # seconds until something counts as hung; a busy machine is slow, not hung
RELAYS = {"portable": relay_program.portable()} | (
    {} if relay_program.problem() else {"native": [str(relay_program.NATIVE_RELAY)]}
)


class Tray:
    """One home, filled beforehand, and the process that serves it while it lives."""

    def __init__(
        self, folder: Path, fill: Callable[[House], object], environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        house = House(folder)
        fill(house)
        house.close()
        self.paths, self.home = house.paths, str(house.paths.home)
        self.environment = {**ENVIRONMENT, **environment}
        self.start()

    def start(self) -> None:
        self.process = headless.start(self.home, self.environment)
        wait(lambda: headless.is_open(self.paths.socket), LONG, "the tray opens its socket")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LONG)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(LONG)

    def rows(self, columns: str = "session, verdict, offline") -> list[sqlite3.Row]:
        """What the journal holds, read by SQLite alone."""
        with closing(sqlite3.connect(self.paths.database)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(f"SELECT {columns} FROM journal ORDER BY seq").fetchall()


class Unwatched(Tray):
    """A tray that watches no file, as if the system reported no changes."""

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        environment = {**self.environment, "PYTHONPATH": str(Path(__file__).parents[1])}
        argv = [sys.executable, "-m", "torture.unwatched_tray", self.home]
        self.process = subprocess.Popen(argv, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
        wait(Path(self.home, "looked").exists, LONG, "it has looked at its files: the next look is at an event")


class Home(Protocol):
    """Whoever has a home with Hooktray's folders."""

    @property
    def home(self) -> str: ...


class Asked:
    """A relay on its way, as an agent starts it: the payload waits in a file."""

    def __init__(
        self, tray: Home | None, relay: Sequence[str], event: str, payload: bytes, agent: str = "claude-code"
    ) -> None:
        """Without `tray`, the table beside the relay says where it is."""
        self.started = time.monotonic()
        with tempfile.TemporaryFile() as body:
            body.write(payload)
            body.seek(0)
            argv = [*relay, *(("--home", tray.home) if tray else ()), agent, event]
            self.output = tempfile.TemporaryFile()  # noqa: SIM115 - open until the answer was read
            self.process = subprocess.Popen(
                argv, env=ENVIRONMENT, stdin=body, stdout=self.output, stderr=subprocess.DEVNULL
            )

    def answer(self) -> tuple[int | None, bytes]:
        """The exit code and what was said; None when it hangs."""
        with self.output as output:
            try:
                code = self.process.wait(LONG)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                return None, b""
            self.seconds = time.monotonic() - self.started
            output.seek(0)
            return code, output.read()


def verdict(code: int | None, output: bytes) -> str:
    """What the agent is told."""
    if code != 0:
        return f"exit {code}"
    return str(json.loads(output)["hookSpecificOutput"]["permissionDecision"]) if output else "silence"
