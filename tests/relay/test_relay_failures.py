"""Every way a tray can fail a relay: the event then goes to `hooktray once`, exactly once."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from desk import wait
from relays import (
    ACK,
    ANSWER,
    LONG,
    PORTABLE,
    Act,
    Agent,
    Impostor,
    Recorder,
    child_listener,
    frame_of,
    hangs_after,
    never_reads,
    replies,
    run,
    said,
)

from tray.ipc import frames
from tray.ipc.frames import PREFIX_SIZE

SMALL, LARGE = 2, 3_000_000  # bytes of the event: more than a socket takes without a reader
FAILURES: dict[str, tuple[Act, int]] = {
    "closes at once": (lambda connection: None, LARGE),
    "closes after the first bytes": (lambda connection: connection.recv(10), LARGE),
    "closes after the first bytes of little": (lambda connection: connection.recv(10), SMALL),
    "never reads": (never_reads, LARGE),
    "never acknowledges": (hangs_after(b""), SMALL),
    "half an acknowledgement, then hangs": (hangs_after(ACK[:3]), SMALL),
    "half an acknowledgement, then dies": (replies(ACK[:3]), SMALL),
    "dies before the acknowledgement": (replies(b""), SMALL),
    "dies after the acknowledgement": (replies(ACK), SMALL),
    "dies in the lead of its answer": (replies(ACK + ANSWER[:5]), SMALL),
    "dies in the middle of its answer": (replies(ACK + ANSWER[:-1]), SMALL),
    "hangs after a short patience": (hangs_after(frames.encode_ack(50)), SMALL),
    "hangs in the middle of its answer": (hangs_after(frames.encode_ack(50) + ANSWER[:-1]), SMALL),
    "speaks another language": (replies(b"HTTP/1.1 200 OK\r\n\r\n"), SMALL),
    "speaks another language after the acknowledgement": (replies(ACK + b"HTTP/1.1 200 OK\r\n\r\n"), SMALL),
}


@pytest.mark.parametrize(("fail", "size"), FAILURES.values(), ids=FAILURES)
def test_the_one_shot_engine_takes_the_event_if_the_tray_fails(agent: Agent, fail: Act, size: int) -> None:
    agent.without_tray()
    impostor = Impostor(agent.state / "tray.sock", fail)

    done = agent.relay("claude-code", "Stop", payload=b"x" * size)

    impostor.close()
    found = agent.once()
    assert found is not None
    assert found[1] == b"x" * size
    assert said(done) == (b"once out", b"once err", 0)


@pytest.mark.parametrize("left", ["nothing", "stale socket", "file"])
def test_without_a_tray_once_gets_the_event(agent: Agent, left: str) -> None:
    agent.without_tray(code=2)
    if left == "stale socket":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
            stale.bind(str(agent.state / "tray.sock"))
    if left == "file":
        (agent.state / "tray.sock").touch()

    assert said(agent.relay("claude-code", "Stop", payload=b"\0\xff")) == (b"once out", b"once err", 2)

    found = agent.once()
    assert found is not None
    (option, name, spent, ms, framed, *words), stdin = found
    assert (option, spent, framed) == ("--id", "--spent", "--framed")  # where its places are, relay.conf says
    assert (words, stdin) == (["claude-code", "Stop"], b"\0\xff")
    assert len(name) == 32
    assert 0 <= int(ms) < LONG * 1000


def test_once_is_told_what_the_relay_was_told_and_no_more(agent: Agent) -> None:
    agent.without_tray()

    run([*agent.words, "claude-code"], env={"HOOKTRAY_HOME": str(agent.home)})

    found = agent.once()
    assert found is not None
    assert found[0][4:] == ["--framed", "claude-code"]


def test_a_socket_nobody_accepts_at_is_given_up(agent: Agent) -> None:
    agent.without_tray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(agent.state / "tray.sock"))
        server.listen()
        assert agent.relay("claude-code", "Stop").stdout == b"once out"


def fill(path: Path) -> list[socket.socket]:
    """Callers that wait at this socket until nobody else can queue up."""
    queue = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
    queue[-1].setblocking(False)
    while queue[-1].connect_ex(str(path)) != errno.EAGAIN:
        queue.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        queue[-1].setblocking(False)
    queue.pop().close()
    return queue


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse at once")
def test_a_full_listen_queue_is_given_up(agent: Agent) -> None:
    agent.without_tray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(agent.state / "tray.sock"))
        server.listen(0)
        queue = fill(agent.state / "tray.sock")
        done = agent.relay("claude-code", "Stop")

    for caller in queue:
        caller.close()
    assert done.stdout == b"once out"


@pytest.mark.skipif(sys.platform != "linux", reason="finds the relay by SO_PEERCRED")
def test_an_answer_counts_even_when_the_payload_could_not_be_sent(agent: Agent) -> None:
    agent.without_tray()

    def act(connection: socket.socket) -> None:
        """The relay stands still until the tray has answered and closed, so its next write must fail."""
        connection.recv(PREFIX_SIZE)
        pid = int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        connection.sendall(ACK + ANSWER)
        connection.close()
        os.kill(pid, signal.SIGCONT)

    impostor = Impostor(agent.state / "tray.sock", act)
    done = agent.relay("claude-code", "Stop", payload=b"x" * 5_000_000)

    impostor.close()
    assert said(done) == (b"out", b"err", 2)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc; other systems refuse at once")
def test_a_full_listen_queue_is_waited_for(agent: Agent) -> None:
    path = agent.state / "tray.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.settimeout(LONG)
        server.bind(str(path))
        server.listen(0)
        queue = fill(path)
        with subprocess.Popen(agent.command("a"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as relay:
            wait(lambda: has_socket(relay.pid), LONG, "the relay asks")
            for _ in queue:
                server.accept()[0].close()
            connection, _ = server.accept()
            with connection:
                replies(ACK + ANSWER)(connection)
            assert relay.wait(LONG) == 2

    for caller in queue:
        caller.close()


def has_socket(pid: int) -> bool:
    names = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            names.append(str(entry.readlink()))
    return any(name.startswith("socket:") for name in names)


def test_a_relay_that_came_before_its_input_and_was_sent_away_comes_again(agent: Agent) -> None:
    agent.without_tray()
    is_early = agent.words != PORTABLE
    read, write = os.pipe()
    os.write(write, b"{")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.settimeout(LONG)
        server.bind(str(agent.state / "tray.sock"))
        server.listen()
        with subprocess.Popen(agent.command("claude-code", "Stop"), stdin=read, stdout=subprocess.PIPE) as relay:
            os.close(read)
            if is_early:
                server.accept()[0].close()  # as when its threads are taken by others that say nothing
            os.write(write, b"}")
            os.close(write)
            with server.accept()[0] as connection:
                replies(ACK + ANSWER)(connection)
            assert relay.communicate(timeout=LONG)[0] == b"out"

    assert agent.once() is None


def test_an_answer_in_single_bytes_is_read(agent: Agent) -> None:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        for byte in ACK + ANSWER:
            connection.send(bytes([byte]))

    impostor = Impostor(agent.state / "tray.sock", act)
    done = agent.relay("claude-code", "Stop")

    impostor.close()
    assert said(done) == (b"out", b"err", 2)


def test_an_environment_too_large_for_the_server_goes_to_once(agent: Agent, tray: Recorder) -> None:
    agent.without_tray()

    done = agent.relay("claude-code", "Stop", env={f"LARGE{number}": "x" * 120_000 for number in range(9)})

    assert (done.stdout, tray.requests) == (b"once out", [])


def test_a_hung_tray_is_left_alone_and_does_not_run_the_event_again_when_it_wakes_up(agent: Agent) -> None:
    agent.without_tray()
    with child_listener(agent.state / "tray.sock") as child:
        assert child.stdout is not None
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        hung = agent.relay("claude-code", "first")
        child.send_signal(signal.SIGCONT)
        awake = agent.relay("claude-code", "second")
        child.kill()
        ran = child.stdout.read()

    assert (hung.stdout, awake.stdout, ran) == (b"once out", b"second", b"second\n")


@pytest.mark.parametrize("seen", [0, 3])
def test_a_tray_killed_among_many_relays_leaves_each_with_one_answer(agent: Agent, seen: int) -> None:
    agent.without_tray()
    with child_listener(agent.state / "tray.sock") as child:
        assert child.stdout is not None
        relays = [
            subprocess.Popen(agent.command("claude-code", "event"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(6)
        ]
        for relay in relays:
            assert relay.stdin is not None
            relay.stdin.close()
            relay.stdin = None
        for _ in range(seen):
            child.stdout.readline()
        child.kill()
        answers = [relay.communicate(timeout=LONG)[0] for relay in relays]

    assert set(answers) <= {b"event", b"once out"}
    assert [relay.returncode for relay in relays] == [0] * 6
