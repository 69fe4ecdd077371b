"""Terminals without a person, second part: where nothing above the caller is an agent any more, or seems to be."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from torture.terminals import DRIVER, PATIENCE, Way, answer, wait_for

FALSE_TERMINAL = Path(__file__).with_name("false_terminal.c")
NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
# What a service manager gives to those that it starts.
SERVICE = ["INVOCATION_ID=0123456789abcdef0123456789abcdef", "JOURNAL_STREAM=8:12345", "SYSTEMD_EXEC_PID=1"]
SPOOL = (
    'cd "$1" && : >ready && while [ ! -e over ]; do if [ -e job ]; then sh ./job; rm job; else sleep 0.02; fi; done'
)


@cache
def manager() -> bool:
    """Whether a user's service manager is there."""
    if not shutil.which("systemd-run"):
        return False
    done = subprocess.run(["systemctl", "--user", "show-environment"], check=False, capture_output=True, timeout=20)
    return done.returncode == 0


@cache
def namespaces() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True, timeout=20).returncode == 0


def by_a_service_manager(argv: Sequence[str], folder: Path) -> None:
    """systemd-run; without a manager a process of the same shape: init's child, with a service's variables."""
    if manager():
        subprocess.run(["systemd-run", "--user", "--wait", "--quiet", *DRIVER, *argv], check=False, timeout=60)
        return
    done = folder / "done"
    line = f"cd /; ({shlex.join([*DRIVER, *argv])}; : >{done}) </dev/null >/dev/null 2>&1 &"
    subprocess.run(
        ["/usr/bin/setsid", "/usr/bin/env", "-i", *SERVICE, "/bin/sh", "-c", line], check=False, timeout=60
    )
    wait_for(done.exists)


def by_a_scheduler(argv: Sequence[str], folder: Path) -> None:
    """As `at` and cron do it: a daemon that was there before runs what is put into its spool."""
    spool = folder / "spool"
    spool.mkdir()
    start = ["/usr/bin/setsid", "--fork", "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "/bin/sh", "-c", SPOOL, "sh"]
    subprocess.run(
        [*start, str(spool)], check=False, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for((spool / "ready").exists)
    (spool / "draft").write_text(f"{shlex.join([*DRIVER, *argv])} >/dev/null 2>&1\n: >done\n")
    (spool / "draft").rename(spool / "job")
    wait_for((spool / "done").exists)
    (spool / "over").touch()


def in_a_namespace(argv: Sequence[str], folder: Path) -> None:
    """Users and processes of its own, in which it is the first one and root."""
    if namespaces():
        subprocess.run([*NAMESPACE, *DRIVER, *argv], check=False, timeout=60)


def on_the_terminal_of_another(argv: Sequence[str], folder: Path) -> None:
    """Opened as /proc/PID/fd/0 of a process that sits at it."""
    subprocess.run([*DRIVER, "--borrow", *argv], check=False, timeout=60)


def with_a_false_terminal(argv: Sequence[str], folder: Path) -> None:
    """A library in the command itself says that a socket is a terminal, and is one."""
    library = folder / "false_terminal.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, FALSE_TERMINAL, "-ldl"], check=True, timeout=60)
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            side = theirs.fileno()
            process = subprocess.Popen(
                argv, stdin=side, stdout=side, stderr=side, env={**os.environ, "LD_PRELOAD": str(library)}
            )
        answer(ours.fileno(), ours.fileno())
    try:
        process.wait(PATIENCE)
    finally:
        process.kill()  # nothing to one that has ended
        process.wait()


def missing() -> list[str]:
    """What this machine cannot try."""
    said = []
    if not manager():
        said.append("systemd-run: no service manager of a user is here; a daemon of the same shape was tried")
    if not namespaces():
        said.append("a terminal in namespaces of its own: they cannot be made here")
    if not shutil.which("gcc"):
        said.append("a false terminal by LD_PRELOAD: there is no C compiler here")
    return said


def daemons() -> tuple[Way, ...]:
    """Those of them that this machine can try."""
    found: tuple[Way, ...] = (by_a_scheduler, by_a_service_manager, on_the_terminal_of_another)
    found += (in_a_namespace,) if namespaces() else ()
    return found + ((with_a_false_terminal,) if shutil.which("gcc") else ())
