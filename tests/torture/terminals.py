"""Terminals made by programs: each way runs a command on one and types a guess at each passphrase prompt.

As a program, `terminals.py [--borrow | --right] ARGV` makes a terminal and types guesses, or the passphrase.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

PATIENCE = 20.0  # seconds until a way gives up
PROMPT = re.compile(rb"not\s+shown(?:\)|):|Once\s+more:")  # a narrow screen breaks lines
GUESS = "a guess of an agent's"
SECRET = "seven quiet bridges"
DRIVER = [sys.executable, "-I", "-S", __file__]
DETACHED = ["/usr/bin/setsid", "/usr/bin/env", "-i"]  # without variables; init adopts the process
NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
SBIN = f"/usr/sbin:{os.environ.get('PATH', '')}"
FORGED = "203.0.113.7 5000 198.51.100.2 22"  # a login from another machine
# What a service manager gives to those that it starts.
SERVICE = ["INVOCATION_ID=0123456789abcdef0123456789abcdef", "JOURNAL_STREAM=8:12345", "SYSTEMD_EXEC_PID=1"]
SPOOL = (
    'cd "$1" && : >ready && while [ ! -e over ]; do if [ -e job ]; then sh ./job; rm job; else sleep 0.02; fi; done'
)
Way = Callable[[Sequence[str], Path], None]


def main(argv: list[str]) -> None:
    if argv[0] == "--borrow":
        on_anothers_pty(argv[1:])
    elif argv[0] == "--right":
        on_pty(argv[1:], SECRET)
    else:
        on_pty(argv)


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
    """Runs the command on the terminal of another process, opened as /proc/PID/fd/0."""
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


def _below(before: Sequence[str], argv: Sequence[str], folder: Path) -> None:
    """Runs `argv` below the command `before`."""
    subprocess.run([*before, *argv], check=False, timeout=60, stdout=subprocess.DEVNULL)


def script(argv: Sequence[str], folder: Path) -> None:
    piped = subprocess.PIPE
    words = ["script", "-qec", shlex.join(argv), "/dev/null"]
    with subprocess.Popen(words, stdin=piped, stdout=piped, stderr=subprocess.STDOUT) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        answer(it.stdout.fileno(), it.stdin.fileno())
        with contextlib.suppress(OSError):
            it.stdin.close()
        it.wait(PATIENCE)


def tmux(argv: Sequence[str], folder: Path) -> None:
    at = ["tmux", "-S", str(folder / "tmux")]
    start = [*at, "-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", "/bin/sh", "-c"]
    env = {**os.environ, "TERM": "xterm"}
    subprocess.run([*start, _told(argv, folder)], check=False, timeout=60, capture_output=True, env=env)
    typed = 0

    def over() -> bool:
        nonlocal typed
        shown = subprocess.run([*at, "capture-pane", "-p"], capture_output=True, check=False).stdout
        if typed < len(PROMPT.findall(shown)):
            typed += 1
            subprocess.run([*at, "send-keys", "-l", f"{GUESS}\n"], capture_output=True, check=False)
        return (folder / "done").exists()

    wait_for(over)


def detached(variables: Sequence[str], argv: Sequence[str], folder: Path) -> None:
    """Its parent ends first, so that nothing above it shows where it came from."""
    line = f"cd /; ({_told([*DRIVER, *argv], folder)}) </dev/null >/dev/null 2>&1 &"
    subprocess.run([*DETACHED, *variables, "/bin/sh", "-c", line], check=False, timeout=60)
    wait_for((folder / "done").exists)


def by_a_service_manager(argv: Sequence[str], folder: Path) -> None:
    """systemd-run; without a manager a process of the same shape: init's child, with a service's variables."""
    if manager():
        _below(["systemd-run", "--user", "--wait", "--quiet", *DRIVER], argv, folder)
    else:
        detached(SERVICE, argv, folder)


def by_a_scheduler(argv: Sequence[str], folder: Path) -> None:
    """As `at` and cron do it: a daemon that was there before runs what is put into its spool."""
    spool, quiet = folder / "spool", subprocess.DEVNULL
    spool.mkdir()
    start = [
        "/usr/bin/setsid",
        "--fork",
        *DETACHED[1:],
        "PATH=/usr/bin:/bin",
        "/bin/sh",
        "-c",
        SPOOL,
        "sh",
        str(spool),
    ]
    subprocess.run(start, check=False, timeout=60, stdout=quiet, stderr=quiet)
    wait_for((spool / "ready").exists)
    (spool / "draft").write_text(f"{shlex.join([*DRIVER, *argv])} >/dev/null 2>&1\n: >done\n")
    (spool / "draft").rename(spool / "job")
    wait_for((spool / "done").exists)
    (spool / "over").touch()


def ssh_to_itself(argv: Sequence[str], folder: Path) -> None:
    """A login with the user's own key, which says that it came from another machine."""
    from ssh_server import ssh_server  # the driver runs without the tests

    with ssh_server(folder) as server:
        line = f"SSH_CONNECTION={shlex.quote(FORGED)} exec {shlex.join(argv)}"
        _below([*DRIVER, shutil.which("ssh") or "ssh", *server.login[1:]], [line], folder)


def _told(argv: Sequence[str], folder: Path) -> str:
    """The command, and the file that says when it has ended: its session may not be there yet, or no more."""
    return f"{shlex.join(argv)}; : >{shlex.quote(str(folder / 'done'))}"


def wait_for(condition: Callable[[], bool]) -> None:
    """Raises TimeoutError: what has not ended may still be granted something."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("the way to a terminal has not ended")
        select.select([], [], [], 0.02)


@cache
def manager() -> bool:
    """Whether a user's service manager is there."""
    return shutil.which("systemd-run") is not None and _succeeds("systemctl", "--user", "show-environment")


@cache
def namespaces() -> bool:
    return shutil.which("unshare") is not None and _succeeds(*NAMESPACE, "true")


def _succeeds(*argv: str) -> bool:
    return subprocess.run(argv, check=False, capture_output=True, timeout=20).returncode == 0


def missing() -> list[str]:
    """What this machine cannot try."""
    said = []
    if not manager():
        said.append("systemd-run: no service manager of a user is here; a daemon of the same shape was tried")
    if not namespaces():
        said.append("a terminal in namespaces of its own: they cannot be made here")
    if not shutil.which("sshd", path=SBIN):
        said.append("a login to this machine by ssh: there is no sshd here")
    return said


def ways() -> Mapping[str, Way]:
    """Returns the ways that this machine can try. In most of them no process above the caller looks like an agent."""
    found: dict[str, Way] = {
        "handed_to_init": partial(detached, []),
        "in_a_new_session": partial(_below, ["/usr/bin/setsid", "--wait", *DRIVER]),
        "nohup": partial(_below, ["/usr/bin/nohup", *DRIVER]),
        "on_the_terminal_of_another": partial(_below, [*DRIVER, "--borrow"]),
        "spawned": partial(_below, DRIVER),
        "without_environment": partial(_below, ["/usr/bin/env", "-i", *DRIVER]),
    }
    found |= {one.__name__: one for one in (by_a_scheduler, by_a_service_manager, script, tmux)}
    if namespaces():
        found["in_a_namespace"] = partial(_below, [*NAMESPACE, *DRIVER])
    if shutil.which("sshd", path=SBIN):
        found["ssh_to_itself"] = ssh_to_itself
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
