"""A stand-in for logind: dbusmock's template of it, on a bus of its own. It answers what it is told to."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from desk.wait import wait
from notify.parts import process, session_bus

LOGIND = "org.freedesktop.login1"


class Logind:
    """Sessions of users, of which each has a hint that says whether it is locked."""

    def __init__(self, address: str, environment: dict[str, str]) -> None:
        self.address = address
        self._environment = {**environment, "DBUS_SYSTEM_BUS_ADDRESS": address}

    def call(self, path: str, method: str, *words: str) -> str:
        argv = ["gdbus", "call", "--system", "--timeout", "30", "-d", LOGIND, "-o", path, "-m", method, *words]
        done = subprocess.run(argv, env=self._environment, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def add(self, session: str, uid: int, kind: str) -> str:
        """A session of a kind such as x11; returns its path."""
        words = (session, "seat0", str(uid), "somebody", "true")
        answer = self.call("/org/freedesktop/login1", "org.freedesktop.DBus.Mock.AddSession", *words)
        path = answer.split("'")[1]
        self.set(path, "Type", f"<'{kind}'>")
        return path

    def lock(self, path: str, is_locked: bool) -> None:
        self.set(path, "LockedHint", f"<{str(is_locked).lower()}>")

    def set(self, path: str, name: str, value: str) -> None:
        self.call(path, "org.freedesktop.DBus.Mock.UpdateProperties", f"{LOGIND}.Session", f"{{'{name}': {value}}}")


@contextmanager
def logind(folder: Path, environment: dict[str, str]) -> Iterator[Logind]:
    with session_bus(folder, environment) as address:
        variables = {**environment, "DBUS_SYSTEM_BUS_ADDRESS": address}
        argv = ("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        with process(*argv, environment=variables, stdout=subprocess.DEVNULL):
            bus = ("-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus")
            asking = ["gdbus", "call", "--system", *bus, "-m", "org.freedesktop.DBus.NameHasOwner", LOGIND]

            def is_there() -> bool:
                return b"true" in subprocess.run(asking, env=variables, capture_output=True, check=False).stdout

            wait(is_there, 60, "the stand-in")
            yield Logind(address, environment)
