"""A stand-in for the user's systemd: records what systemctl was asked, listens, starts the service.

It is not systemd: it knows the few keys that our units have. What systemd itself says of the units is in
tests/desktop/test_systemd.py, and a tray started by systemd's own program in tests/e2e/test_activation.py.
"""

from __future__ import annotations

import contextlib
import select
import shlex
import socket
import subprocess
import threading
from pathlib import Path

from plain import Plain

WITH_SOCKET = 'exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1; export LISTEN_PID LISTEN_FDS; exec "$@"'


class FakeUserManager:
    """`systemctl --user` for programs that `place` starts, until `close`."""

    def __init__(self, place: Plain) -> None:
        self._place = place
        self.asked: list[str] = []
        self.units = place.folder / ".config" / "systemd" / "user"
        self._listener: socket.socket | None = None
        self._service: subprocess.Popen[bytes] | None = None
        self._looked = threading.Event()
        self._ends, self._wake = socket.socketpair()
        runtime = place.folder / "run"
        (runtime / "systemd").mkdir(parents=True)
        runtime.chmod(0o700)
        self._requests = socket.socket(socket.AF_UNIX)
        self._requests.bind(str(runtime / "systemd" / "private"))
        self._requests.listen()
        self._write_systemctl(place.folder / "bin", runtime / "systemd" / "private")
        self.environment = {
            "PATH": f"{place.folder / 'bin'}:{place.environment['PATH']}",
            "XDG_CONFIG_HOME": str(place.folder / ".config"),
            "XDG_RUNTIME_DIR": str(runtime),
        }
        place.environment.update(self.environment)
        self._thread = threading.Thread(target=self._serve, name="user manager")
        self._thread.start()

    @staticmethod
    def _write_systemctl(folder: Path, path: Path) -> None:
        folder.mkdir()
        program = folder / "systemctl"
        program.write_text(f'#!/bin/sh\nreply=$(echo "$*" | socat -t 20 - UNIX-CONNECT:{path})\n[ "$reply" = ok ]\n')
        program.chmod(0o755)

    @property
    def service(self) -> subprocess.Popen[bytes] | None:
        """The service that runs, or ran last."""
        return self._service

    @property
    def listens(self) -> bool:
        return self._listener is not None

    def settle(self) -> None:
        """Wait until it has looked at its socket again."""
        self._looked.clear()
        self._looked.wait(60)

    def close(self) -> None:
        self._wake.close()
        self._thread.join(60)
        if self._service is not None and self._service.poll() is None:
            self._service.terminate()
            self._service.wait(60)
        for one in (self._listener, self._requests, self._ends):
            if one is not None:
                one.close()

    # ---- its thread

    def _serve(self) -> None:
        while True:
            waits = [self._ends, self._requests]
            idle = self._service is None or self._service.poll() is not None
            if self._listener is not None and idle:
                waits.append(self._listener)
            ready, _, _ = select.select(waits, [], [], 0.2)  # a service that ended is seen at the next look
            if self._ends in ready:
                return
            if self._requests in ready:
                caller, _ = self._requests.accept()
                with contextlib.closing(caller):
                    words = caller.makefile().readline().split()[1:]
                    self.asked.append(" ".join(words))
                    self._obey(words)
                    caller.sendall(b"ok\n")
            elif self._listener is not None and self._listener in ready:
                self._start_service()
            if idle:
                self._looked.set()

    def _obey(self, words: list[str]) -> None:
        if words == ["start", "hooktray.socket"] and self._listener is None:
            path = self._value("hooktray.socket", "ListenStream").replace("%%", "%")
            Path(path).unlink(missing_ok=True)
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(path)
            Path(path).chmod(int(self._value("hooktray.socket", "SocketMode"), 8))
            self._listener.listen()
            self._listener.setblocking(False)  # as systemd's is
        elif words == ["stop", "hooktray.socket"] and self._listener is not None:
            self._listener.close()
            self._listener = None
        elif words == ["restart", "hooktray.service"]:
            if self._service is not None and self._service.poll() is None:
                self._service.terminate()
                self._service.wait(60)
            self._start_service()

    def _start_service(self) -> None:
        line = self._value("hooktray.service", "ExecStart")
        argv = [word.replace("$$", "$").replace("%%", "%") for word in shlex.split(line)]
        listens = self._listener is not None
        self._service = subprocess.Popen(
            ["/bin/sh", "-c", WITH_SOCKET, "sh", *argv] if listens else argv,
            env=self._place.environment,
            cwd=self._place.folder,
            stdin=subprocess.DEVNULL if self._listener is None else self._listener.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _value(self, unit: str, key: str) -> str:
        lines = (self.units / unit).read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(f"{key}="))
