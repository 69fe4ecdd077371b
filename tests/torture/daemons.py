"""Terminals that a program made, second part: where nothing above the caller is an agent any more, or seems to be."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ssh_server import ssh_server

from torture.terminals import DRIVER, Way, wait_for

NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
SBIN = f"/usr/sbin:{os.environ['PATH']}"
FORGED = "203.0.113.7 5000 198.51.100.2 22"  # a login from another machine
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


def ssh_to_itself(argv: Sequence[str], folder: Path) -> None:
    """A login with the user's own key, which says that it came from another machine."""
    with ssh_server(folder) as server:
        login = [shutil.which("ssh") or "ssh", *server.login[1:]]
        line = f"SSH_CONNECTION={shlex.quote(FORGED)} exec {shlex.join(argv)}"
        subprocess.run([*DRIVER, *login, line], check=False, timeout=60)


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


def daemons() -> tuple[Way, ...]:
    """Those of them that this machine can try."""
    found: tuple[Way, ...] = (by_a_scheduler, by_a_service_manager, on_the_terminal_of_another)
    found += (in_a_namespace,) if namespaces() else ()
    return found + ((ssh_to_itself,) if shutil.which("sshd", path=SBIN) else ())
