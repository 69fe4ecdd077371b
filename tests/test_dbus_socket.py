from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("D-Bus", allow_module_level=True)

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from tray.dbus_socket import wait_when_full

BIG = 200_000  # bytes in one message; a Unix socket holds about as much


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[str, int]]:
    argv = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={tmp_path}/bus"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip(), process.pid
        process.terminate()


async def flood(address: str, pid: int, *, wait: bool) -> bool:
    """Whether the connection lives after the daemon was not reading for a while."""
    bus = await MessageBus(bus_address=address).connect()
    if wait:
        wait_when_full(bus)
    else:  # what the library leaves unasked for when it gives up is not our noise
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    try:
        for _ in range(20):
            bus.send(Message.new_signal("/a", "a.b", "C", "s", ["x" * BIG]))
    except OSError:
        assert not wait
    finally:
        os.kill(pid, signal.SIGCONT)
    question = Message(destination="org.freedesktop.DBus", path="/", interface="org.freedesktop.DBus", member="GetId")
    try:
        reply = await asyncio.wait_for(bus.call(question), 60)
    except OSError:
        return False
    bus.disconnect()
    return reply.message_type is MessageType.METHOD_RETURN


def test_a_full_socket_is_waited_for(daemon: tuple[str, int]) -> None:
    assert asyncio.run(flood(*daemon, wait=True))


def test_without_that_the_library_gives_the_connection_up(daemon: tuple[str, int]) -> None:
    """The control: when this fails, dbus-fast has learned to wait and tray/dbus_socket.py can go."""
    assert not asyncio.run(flood(*daemon, wait=False))
