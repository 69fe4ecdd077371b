"""T31: many trays started at once for one home: exactly one is there, and it answers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import headless
from desk import wait

from torture.frame import Tally
from torture.trays import LONG
from tray.paths import locate

TITLE = "many trays at once"
DONE = 400.0  # seconds until all have decided


def torture(tally: Tally) -> None:
    for number in range(tally.many(1, 10)):
        _round(tally, tally.folder / f"home{number}", tally.many(5, 200))
    _control(tally)


def _round(tally: Tally, home: Path, count: int) -> None:
    home.mkdir()
    argv = [sys.executable, "-I", "-m", "tray", "--home", str(home)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
    said = (home / "said").open("wb")
    quiet = subprocess.DEVNULL
    started = [
        subprocess.Popen([*argv, "run", "--headless"], env=environment, stdin=quiet, stdout=said, stderr=said)
        for _ in range(count)
    ]
    try:
        end = time.monotonic() + DONE
        while sum(one.poll() is None for one in started) > 1 and time.monotonic() < end:
            time.sleep(0.05)
        living = [one for one in started if one.poll() is None]
        if living:  # it is the only one before its socket is open
            wait(lambda: headless.is_open(locate(str(home)).socket), LONG, "it answers")
        status = subprocess.run(
            [*argv, "status", "--json"], env=environment, capture_output=True, check=False, timeout=60
        )
        running = bool(status.stdout) and json.loads(status.stdout.splitlines()[0])["running"] is True
        tally.inputs += count - 1
        tally.attack(f"{len(living)} of {count} live, running {running}", len(living) == 1 and running, faults=count)
    finally:
        for one in started:
            if one.poll() is None:
                one.send_signal(signal.SIGTERM)
        for one in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(30)
        said.close()


def _control(tally: Tally) -> None:
    """Looking for a file and then making it lets several in."""
    line = "[ -e lock ] || { sleep 0.1; : >lock; echo in; }"
    folder = tally.folder / "control"
    folder.mkdir()
    shells = [subprocess.Popen(["sh", "-c", line], cwd=folder, stdout=subprocess.PIPE) for _ in range(5)]
    inside = sum(b"in" in shell.communicate(timeout=60)[0] for shell in shells)
    tally.control("a file that says so", inside > 1)
