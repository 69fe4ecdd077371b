"""Terminals that a program made: each way runs a command on one, and types a guess at each passphrase it is asked."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PATIENCE = 20.0  # seconds until a way gives up
PROMPT = re.compile(rb"not\s+shown(?:\)|):|Once\s+more:")  # a narrow screen breaks lines
GUESS = "a guess of an agent's"
SECRET = "seven quiet bridges"
DRIVER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("drive.py"))]
Way = Callable[[Sequence[str], Path], None]


def answer(read: int, write: int, line: str = GUESS) -> None:
    """Read until the end, and type the line each time that a passphrase is asked for."""
    seen, typed, until = b"", 0, time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not select.select([read], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(read, 4096)
        except OSError:  # the other end of a terminal is gone
            return
        if not part:
            return
        seen += part
        while typed < len(PROMPT.findall(seen)):
            typed += 1
            with contextlib.suppress(OSError):
                os.write(write, f"{line}\n".encode())


def on_pty(argv: Sequence[str], line: str = GUESS) -> None:
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execv(argv[0], list(argv))
        finally:
            os._exit(1)
    answer(master, master, line)
    os.close(master)
    os.waitpid(pid, 0)


def on_anothers_pty(argv: Sequence[str]) -> None:
    """The terminal at which another process sits becomes the command's own."""
    master, slave = pty.openpty()
    with subprocess.Popen(["sleep", "60"], stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as sitter:
        os.close(slave)
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                borrowed = os.open(f"/proc/{sitter.pid}/fd/0", os.O_RDWR)
                fcntl.ioctl(borrowed, termios.TIOCSCTTY, 1)
                for number in range(3):
                    os.dup2(borrowed, number)
                os.execv(argv[0], list(argv))
            finally:
                os._exit(1)

        def end() -> None:
            os.waitpid(pid, 0)
            sitter.kill()

        ended = threading.Thread(target=end)
        ended.start()
        answer(master, master)
        ended.join()
    os.close(master)


def piped(argv: Sequence[str]) -> None:
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        answer(it.stdout.fileno(), it.stdin.fileno())
        with contextlib.suppress(OSError):
            it.stdin.close()
        it.wait(PATIENCE)


def spawned(argv: Sequence[str], folder: Path) -> None:
    subprocess.run([*DRIVER, *argv], check=False, timeout=60)


def without_environment(argv: Sequence[str], folder: Path) -> None:
    subprocess.run(["/usr/bin/env", "-i", *DRIVER, *argv], check=False, timeout=60)


def in_a_new_session(argv: Sequence[str], folder: Path) -> None:
    subprocess.run(["/usr/bin/setsid", "--wait", *DRIVER, *argv], check=False, timeout=60)


def handed_to_init(argv: Sequence[str], folder: Path) -> None:
    """Its parent ends first, so that nothing above it shows where it came from."""
    line = f"({shlex.join(_told([*DRIVER, *argv], folder))}) >/dev/null 2>&1 &"
    subprocess.run(["/usr/bin/setsid", "/usr/bin/env", "-i", "/bin/sh", "-c", line], check=False, timeout=60)
    wait_for((folder / "done").exists)


def nohup(argv: Sequence[str], folder: Path) -> None:
    subprocess.run(["/usr/bin/nohup", *DRIVER, *argv], check=False, timeout=60, stdout=subprocess.DEVNULL)


def script(argv: Sequence[str], folder: Path) -> None:
    piped(["script", "-qec", shlex.join(argv), "/dev/null"])


def tmux(argv: Sequence[str], folder: Path) -> None:
    at = ["tmux", "-S", str(folder / "tmux")]
    start = [*at, "-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", *_told(argv, folder)]
    subprocess.run(start, check=False, timeout=60, capture_output=True, env={**os.environ, "TERM": "xterm"})
    typed = 0

    def over() -> bool:
        nonlocal typed
        shown = subprocess.run([*at, "capture-pane", "-p"], capture_output=True, check=False).stdout
        if typed < len(PROMPT.findall(shown)):
            typed += 1
            subprocess.run([*at, "send-keys", "-l", f"{GUESS}\n"], capture_output=True, check=False)
        return (folder / "done").exists()

    wait_for(over)


def _told(argv: Sequence[str], folder: Path) -> list[str]:
    """The command, and the file that says when it has ended: its session may not be there yet, or no more."""
    return ["/bin/sh", "-c", f"{shlex.join(argv)}; : >{shlex.quote(str(folder / 'done'))}"]


def wait_for(condition: Callable[[], bool]) -> None:
    """Raises TimeoutError: what has not ended may still be granted something."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("the way to a terminal has not ended")
        select.select([], [], [], 0.02)


WAYS: tuple[Way, ...] = (
    handed_to_init,
    in_a_new_session,
    nohup,
    script,
    spawned,
    tmux,
    without_environment,
)
