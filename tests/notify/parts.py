"""What the tests of the alerts use on Linux: a private bus, a recording server, a sound server, one way to wait."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("D-Bus", allow_module_level=True)

from dbus_fast import Message
from dbus_fast.aio import MessageBus
from desk import Desk
from desk.parts import answers
from desk.sound import COMMAND, Recording, server
from notify.samples import LONG, Clicks

from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.server import NAME, PATH

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
EXPIRED, DISMISSED, CLOSED, UNDEFINED = 1, 2, 3, 4  # the reasons of NotificationClosed


def wait(condition: Callable[[], Any], what: str, seconds: float = LONG) -> Any:
    """The condition's first true value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.005)
    raise AssertionError(f"not within {seconds:g} s: {what}")


async def tell(member: str, signature: str, *body: object) -> None:
    """Have the recording server do something."""
    bus = await MessageBus().connect()
    await bus.call(
        Message(destination=NAME, path=PATH, interface=NAME, member=member, signature=signature, body=list(body))
    )
    bus.disconnect()


@contextmanager
def process(*argv: str | Path, environment: Mapping[str, str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has ended when the block has."""
    child = subprocess.Popen([str(word) for word in argv], env=dict(environment), **options)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def session_bus(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The address of a bus that starts nobody by itself."""
    (folder / "bus.conf").write_text(BUS.format(socket=folder / "bus"))
    argv = ("dbus-daemon", f"--config-file={folder / 'bus.conf'}", "--nofork", "--print-address")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with process(*argv, environment=environment, **options) as daemon:
        assert daemon.stdout is not None
        yield daemon.stdout.readline().decode().strip()


class Recorder:
    """The recording server's side of a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def mode(self, mode: str) -> None:
        (self._folder / "mode").write_text(mode)

    def name(self, name: str) -> None:
        """Sets the name that the server reports."""
        (self._folder / "name").write_text(name)

    def clear(self) -> None:
        for file in ("mode", "name", "calls"):
            (self._folder / file).unlink(missing_ok=True)

    def calls(self, name: str = "Notify") -> list[dict[str, Any]]:
        path = self._folder / "calls"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        whole = (line for line in lines if line.endswith("\n"))  # the last one may be half written
        return [call for call in map(json.loads, whole) if call["call"] == name]


@contextmanager
def recording_server(folder: Path, environment: Mapping[str, str], *capabilities: str) -> Iterator[Recorder]:
    script = Path(__file__).with_name("recording_server.py")
    argv: list[str | Path] = [sys.executable, script, folder, *(capabilities or ("body", "actions"))]
    with process(*argv, environment=environment, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield Recorder(folder)


TRIES = 3
PULSE = """.fail
load-module module-null-sink sink_name=desk
set-default-sink desk
load-module module-native-protocol-unix socket={socket}
"""


@contextmanager
def sound_server(folder: Path, environment: Mapping[str, str]) -> Iterator[Recording]:
    """A sound server whose only sink goes nowhere, with a recorder on it; finds it who has $PULSE_SERVER."""
    (folder / "pulse.pa").write_text(PULSE.format(socket=folder / "pulse.socket"))
    environment = {**environment, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LC_ALL": "C"}
    quiet = {"stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    output = folder / "recording"
    with process(*server(folder / "pulse.pa"), environment=environment, stdout=subprocess.DEVNULL, **quiet):
        wait(lambda: answers(folder / "pulse.socket"), "the sound server answers")
        with ExitStack() as recorder:
            for _ in range(TRIES):
                file = recorder.enter_context(output.open("wb"))
                listening = recorder.enter_context(process(*COMMAND, environment=environment, stdout=file, **quiet))
                if begins(listening, output):
                    break
                recorder.close()  # it has ended, or nobody serves it
            else:
                raise AssertionError("no recording begins")
            yield Recording(output)


def begins(recorder: subprocess.Popen[bytes], output: Path) -> bool:
    """Whether anything is recorded: a null sink may take 2 s to serve a new one."""
    end = time.monotonic() + 10
    while time.monotonic() < end and recorder.poll() is None:
        if output.stat().st_size > 0:
            return True
        time.sleep(0.005)
    return False


async def states(desk: Desk, commands: Iterable[Sequence[str]]) -> list[bool]:
    """Whether the server of the session bus may be interrupted, at first and after each of these commands."""
    backend = FreedesktopBackend()
    found = [(await backend.server_state()).may_interrupt]
    for argv in commands:
        done = desk.run(argv)
        assert done.returncode == 0, done.stderr
        found.append((await backend.server_state()).may_interrupt)
    await backend.close()
    return found


def run(do: Callable[[FreedesktopBackend], Awaitable[None]], clicks: Clicks | None = None) -> Clicks:
    """Runs `do` with its own back end and returns the clicks."""
    clicks = clicks or Clicks()

    async def main() -> None:
        backend = FreedesktopBackend(clicks)
        try:
            await do(backend)
        finally:
            await backend.close()

    asyncio.run(main())
    return clicks
