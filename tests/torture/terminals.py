"""Terminals without a person: each way runs a command on one and types whatever challenge appears there."""

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
CHALLENGE = re.compile(rb"Type (\w{6})")
DRIVER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("drive.py"))]
Way = Callable[[Sequence[str], Path], None]


def answer(read: int, write: int) -> None:
    """Read until the end, and type the challenge back."""
    seen, typed, until = b"", False, time.monotonic() + PATIENCE
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
        found = CHALLENGE.search(seen)
        if found and not typed:
            typed = True
            with contextlib.suppress(OSError):
                os.write(write, found[1] + b"\n")


def on_pty(argv: Sequence[str]) -> None:
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execv(argv[0], list(argv))
        finally:
            os._exit(1)
    answer(master, master)
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


def hidden(argv: Sequence[str], folder: Path) -> None:
    """Whoever holds the terminal lets nobody look at it."""
    subprocess.run([*DRIVER, "--hide", *argv], check=False, timeout=60)


def called_like_a_terminal(argv: Sequence[str], folder: Path) -> None:
    """Python under the name of a terminal program."""
    disguise = folder / "xterm"
    # By another process: a fork of a neighbouring thread would hold our copy open, and so keep it from being run.
    subprocess.run(["cp", Path(sys.executable).resolve(), disguise], check=True, timeout=60)
    home = {"PYTHONHOME": sys.base_prefix}
    subprocess.run([disguise, "-S", DRIVER[-1], *argv], check=False, timeout=60, env=home)


def named_like_a_login(argv: Sequence[str], folder: Path) -> None:
    subprocess.run(["sshd: you@pts/0", *DRIVER[1:], *argv], executable=sys.executable, check=False, timeout=60)


def below_a_login_shell(argv: Sequence[str], folder: Path) -> None:
    subprocess.run([*DRIVER, "/bin/bash", "-l", "-c", f"{shlex.join(argv)}; true"], check=False, timeout=60)


def script(argv: Sequence[str], folder: Path) -> None:
    piped(["script", "-qec", shlex.join(argv), "/dev/null"])


def script_without_environment(argv: Sequence[str], folder: Path) -> None:
    piped(["/usr/bin/env", "-i", "/usr/bin/script", "-qec", shlex.join(argv), "/dev/null"])


def script_in_script(argv: Sequence[str], folder: Path) -> None:
    inner = shlex.join(["script", "-qec", shlex.join(argv), "/dev/null"])
    piped(["script", "-qec", inner, "/dev/null"])


def expect(argv: Sequence[str], folder: Path) -> None:
    program = (
        f"log_user 0; set timeout {PATIENCE:g}; spawn -noecho {' '.join(argv)}\n"
        'expect -re {Type (\\w+)} { send "$expect_out(1,string)\\r"; expect eof }'
    )
    subprocess.run(["expect", "-c", program], check=False, timeout=60, stdout=subprocess.DEVNULL)


def socat(argv: Sequence[str], folder: Path) -> None:
    piped(["socat", "-", f"EXEC:{shlex.join(argv)},pty,setsid,ctty,stderr"])


def tmux(argv: Sequence[str], folder: Path) -> None:
    at = ["tmux", "-S", str(folder / "tmux")]
    _multiplexed(
        [*at, "-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", *_told(argv, folder)],
        folder,
        lambda: subprocess.run([*at, "capture-pane", "-p"], capture_output=True, check=False).stdout,
        lambda word: subprocess.run([*at, "send-keys", word, "Enter"], capture_output=True, check=False),
    )


def screen(argv: Sequence[str], folder: Path) -> None:
    at = ["screen", "-S", f"torture{os.getpid()}{folder.name}"]
    shot = folder / "shot"

    def look() -> bytes:
        done = subprocess.run([*at, "-X", "hardcopy", str(shot)], capture_output=True, check=False)
        return shot.read_bytes() if shot.exists() and not done.returncode else b""

    _multiplexed(
        [*at, "-c", "/dev/null", "-dm", *_told(argv, folder)],
        folder,
        look,
        lambda word: subprocess.run([*at, "-X", "stuff", f"{word}\n"], capture_output=True, check=False),
    )


def _told(argv: Sequence[str], folder: Path) -> list[str]:
    """The command, and the file that says when it has ended: its session may not be there yet, or no more."""
    return ["/bin/sh", "-c", f"{shlex.join(argv)}; : >{shlex.quote(str(folder / 'done'))}"]


def _multiplexed(
    start: Sequence[str], folder: Path, look: Callable[[], bytes], type_: Callable[[str], object]
) -> None:
    subprocess.run(start, check=False, timeout=60, capture_output=True, env={**os.environ, "TERM": "xterm"})
    typed = False

    def over() -> bool:
        nonlocal typed
        if not typed and (found := CHALLENGE.search(look())):
            typed = True
            type_(found[1].decode())
        return (folder / "done").exists()

    wait_for(over)


def wait_for(condition: Callable[[], bool]) -> None:
    """Raises TimeoutError: what has not ended may still be granted something."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("the way to a terminal has not ended")
        select.select([], [], [], 0.02)


WAYS: tuple[Way, ...] = (
    below_a_login_shell,
    called_like_a_terminal,
    expect,
    handed_to_init,
    hidden,
    in_a_new_session,
    named_like_a_login,
    nohup,
    screen,
    script,
    script_in_script,
    script_without_environment,
    socat,
    spawned,
    tmux,
    without_environment,
)
