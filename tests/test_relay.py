"""The portable relay as agents run it: a process of its own, a real door, and every way a tray can fail it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tray.door import frames
from tray.door.frames import LEAD_SIZE
from tray.door.listener import Gone, Listener, Peer
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, Knock

RELAY = Path(__file__).parents[1] / "tray" / "relay.py"
LONG = 30.0  # seconds; every wait below ends far earlier unless something is broken

ACK = frames.encode_ack(20_000)
ANSWER = frames.encode_answer(Answer(stdout=b"out", stderr=b"err", code=2))

ONCE = """
import json, os, sys
record, code = sys.argv[1], int(sys.argv[2])
with open(record, "w") as file:
    json.dump({"argv": sys.argv[3:], "stdin": sys.stdin.buffer.read().hex(), "cwd": os.getcwd()}, file)
sys.stdout.write("once out")
sys.stderr.write("once err")
sys.stdout.flush()
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class Recorder:
    """A service that writes down its knocks; the event's name says how it answers."""

    def __init__(self) -> None:
        self.knocks: list[Knock] = []
        self.started = threading.Event()
        self.gone = threading.Event()

    def patience(self, agent: str, event: str) -> float:
        return 20.0

    def answer(self, knock: Knock) -> Answer | Callable[[Gone], Answer]:
        self.knocks.append(knock)
        if knock.event == "slow":
            return self._slow
        if knock.event == "until-gone":
            return self._until_gone
        if knock.event == "echo":
            return Answer(stdout=knock.body)
        return Answer(stdout=b"out\0\xff", stderr=b"err", code=2)

    def _slow(self, gone: Gone) -> Answer:
        """Longer than a relay waits for the acknowledgement."""
        select.select([gone], [], [], 0.5)
        return Answer(stdout=b"late")

    def _until_gone(self, gone: Gone) -> Answer:
        self.started.set()
        select.select([gone], [], [], LONG)
        if gone.is_set():
            self.gone.set()
        return Answer()

    def busy(self, knock: Knock) -> Answer:
        return Answer(stdout=b"busy")

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        return Answer(stdout=b"neutral")

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        return {}


class Agent:
    """Runs relays in a home of its own, without a tray until one is opened."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.state = home / "state"
        self.state.mkdir(mode=0o700, parents=True)
        self.record = home / "once.json"

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(RELAY), "--home", str(self.home), *words]

    def relay(
        self, *words: str, payload: bytes = b"{}", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return run(self.command(*words), payload, env)

    def when_down(self, *, code: int = 0, mode: str = "once", command: list[str] | None = None) -> None:
        script = self.home / "once.py"
        script.write_text(ONCE)
        once = command or [sys.executable, "-I", "-S", str(script), str(self.record), str(code)]
        (self.state / "relay.conf").write_text(f"when_down={mode}\nonce={chr(0x1F).join(once)}\n")

    def once(self) -> tuple[list[str], bytes] | None:
        """What `once` was given, if it ran."""
        if not self.record.exists():
            return None
        found = json.loads(self.record.read_text())
        return found["argv"], bytes.fromhex(found["stdin"])


def run(
    command: list[str], payload: bytes = b"{}", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    whole = {**os.environ, **(env or {})}
    return subprocess.run(command, input=payload, capture_output=True, timeout=LONG, check=False, env=whole)


def said(done: subprocess.CompletedProcess[bytes]) -> tuple[bytes, bytes, int]:
    return done.stdout, done.stderr, done.returncode


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "home")


@pytest.fixture
def tray(agent: Agent) -> Iterator[Recorder]:
    service = Recorder()
    listener = Listener(agent.state / "door.sock", service)
    listener.start()
    yield service
    listener.close()


# With a tray


def test_the_answer_becomes_output_and_exit_code(agent: Agent, tray: Recorder) -> None:
    assert said(agent.relay("claude-code", "Stop")) == (b"out\0\xff", b"err", 2)


def test_the_tray_learns_the_address_the_payload_and_where_the_agent_stands(
    agent: Agent, tray: Recorder, tmp_path: Path
) -> None:
    command = agent.command("claude-code", "Stop")
    env = {b"HOME": b"/h", b"ODD": b"\xff=1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, env=env
    ) as relay:
        relay.communicate(b"\0\xff\n", timeout=LONG)

    knock = tray.knocks[0]
    assert (knock.agent, knock.event, knock.body, knock.problem) == ("claude-code", "Stop", b"\0\xff\n", "")
    assert (knock.pid, knock.parent, knock.cwd) == (relay.pid, os.getpid(), str(tmp_path))
    assert {name: knock.environment[name] for name in ("HOME", "ODD")} == {"HOME": "/h", "ODD": "\udcff=1"}
    assert len(knock.id) == 32


def test_an_event_may_be_left_to_the_payload(agent: Agent, tray: Recorder) -> None:
    agent.relay("claude-code")

    assert (tray.knocks[0].agent, tray.knocks[0].event) == ("claude-code", "")


def test_ten_megabytes_arrive_and_come_back_whole(agent: Agent, tray: Recorder) -> None:
    payload = os.urandom(1024 * 1024) * 10

    done = agent.relay("shelley", "echo", payload=payload)

    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(payload).digest()
    assert (done.stderr, done.returncode) == (b"", 0)


def test_a_payload_over_the_limit_is_announced_and_not_cut_short(agent: Agent, tray: Recorder) -> None:
    done = agent.relay("claude-code", "Stop", payload=b"x" * (PAYLOAD_LIMIT + 1))

    assert done.returncode == 2
    assert tray.knocks[0].body == b""
    assert tray.knocks[0].problem == f"payload of {PAYLOAD_LIMIT + 1} bytes is over the limit of {PAYLOAD_LIMIT}"


def test_after_the_acknowledgement_the_relay_waits(agent: Agent, tray: Recorder) -> None:
    agent.when_down()

    assert said(agent.relay("claude-code", "slow")) == (b"late", b"", 0)
    assert agent.once() is None


def test_a_relay_that_its_agent_kills_is_seen_to_have_gone(agent: Agent, tray: Recorder) -> None:
    with subprocess.Popen(agent.command("claude-code", "until-gone"), stdin=subprocess.DEVNULL) as relay:
        assert tray.started.wait(LONG)
        relay.kill()

    assert tray.gone.wait(LONG)


def test_sixty_four_relays_at_once_are_all_answered(agent: Agent, tray: Recorder) -> None:
    agent.when_down()
    relays = [
        subprocess.Popen(agent.command("shelley", "echo"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(64)
    ]

    answers = [relay.communicate(str(number).encode(), timeout=LONG)[0] for number, relay in enumerate(relays)]

    assert answers == [str(number).encode() for number in range(64)]
    assert len({knock.id for knock in tray.knocks}) == 64


def test_the_relay_imports_next_to_nothing(agent: Agent, tray: Recorder) -> None:
    command = agent.command("shelley", "echo")
    command[1:1] = ["-X", "importtime"]

    lines = run(command).stderr.decode().splitlines()
    modules = {line.rpartition("|")[2].strip() for line in lines}

    assert {"_socket", "select"} <= modules
    assert modules.isdisjoint(
        {"site", "socket", "subprocess", "json", "re", "argparse", "struct", "threading", "tray"}
    )


def test_the_command_can_call_the_relay_in_its_own_process(agent: Agent, tray: Recorder) -> None:
    code = "import sys; from tray.relay import main; sys.exit(main(sys.argv[1:]))"

    done = run([sys.executable, "-c", code, "--home", str(agent.home), "claude-code", "Stop"])

    assert said(done) == (b"out\0\xff", b"err", 2)


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_not_confuse_it(agent: Agent, tray: Recorder, redirection: str) -> None:
    done = run(["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *agent.command("claude-code", "Stop")])

    assert done.returncode == 2
    assert done.stdout == (b"" if ">&-" in redirection.replace("2>&-", "") else b"out\0\xff")
    assert len(tray.knocks) == 1


# Where the door is


def test_the_line_of_the_settings_wins_over_the_environment(agent: Agent, tray: Recorder, tmp_path: Path) -> None:
    done = agent.relay("claude-code", "Stop", env={"HOOKTRAY_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)})

    assert done.returncode == 2


@pytest.mark.parametrize("words", [["--home={home}"], ["--home", "{home}"], []])
def test_the_home_is_given_by_option_or_variable(agent: Agent, tray: Recorder, words: list[str]) -> None:
    home = [word.format(home=agent.home) for word in words]
    env = {} if words else {"HOOKTRAY_HOME": str(agent.home)}

    done = run([sys.executable, "-I", "-S", str(RELAY), *home, "claude-code", "Stop"], env=env)

    assert done.returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the state folder of Linux")
@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_without_a_home_it_is_the_state_folder_of_the_user(tmp_path: Path, variable: str) -> None:
    base = tmp_path if variable == "XDG_STATE_HOME" else tmp_path / ".local" / "state"
    (base / "hooktray").mkdir(mode=0o700, parents=True)
    listener = Listener(base / "hooktray" / "door.sock", Recorder())
    listener.start()
    env = {"XDG_STATE_HOME": "", "HOOKTRAY_HOME": "", variable: str(tmp_path)}

    done = run([sys.executable, "-I", "-S", str(RELAY), "claude-code", "Stop"], env=env)

    listener.close()
    assert done.returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_path_too_long_for_a_socket_works(tmp_path: Path) -> None:
    agent = Agent(tmp_path / ("deep" * 30))
    listener = Listener(agent.state / "door.sock", Recorder())
    listener.start()

    done = agent.relay("claude-code", "Stop")

    listener.close()
    assert done.returncode == 2


def test_where_there_is_only_a_loopback_door_the_token_opens_it(agent: Agent) -> None:
    listener = Listener(agent.state / "door.sock", Recorder(), loopback=True)
    listener.start()

    done = agent.relay("shelley", "echo", payload=b"x" * 3_000_000)

    listener.close()
    assert done.stdout == b"x" * 3_000_000


def test_with_a_wrong_token_the_loopback_door_stays_shut(agent: Agent) -> None:
    agent.when_down()
    service = Recorder()
    listener = Listener(agent.state / "door.sock", service, loopback=True)
    listener.start()
    file = agent.state / "door.addr"
    file.write_text(f"{file.read_text().split()[0]} {'0' * 64}\n")

    done = agent.relay("claude-code", "Stop")

    listener.close()
    assert (done.stdout, service.knocks) == (b"once out", [])


@pytest.mark.parametrize("text", ["", "80", "x y", "99999999 t", "1 2 3", "-1 t"])
def test_a_damaged_address_file_is_no_door(agent: Agent, text: str) -> None:
    agent.when_down()
    (agent.state / "door.addr").write_text(text)

    assert agent.relay("claude-code", "Stop").stdout == b"once out"


@pytest.mark.parametrize("wrong", ["mode", "link", "owner"])
def test_a_folder_that_others_could_write_decides_nothing(agent: Agent, tmp_path: Path, wrong: str) -> None:
    agent.when_down()
    if wrong == "mode":
        agent.state.chmod(0o770)
    elif wrong == "link":
        agent.state.rename(tmp_path / "real")
        agent.state.symlink_to(tmp_path / "real")
    elif os.getuid() == 0:
        os.chown(agent.state, 65534, 65534)
    else:
        pytest.skip("needs root to give a folder away")

    assert said(agent.relay("claude-code", "Stop")) == (b"", b"", 0)
    assert agent.once() is None


# Without a tray, or with one that fails


class Impostor:
    """A daemon at the door's place that behaves badly: it takes one connection and does `act` with it."""

    def __init__(self, path: Path, act: Callable[[socket.socket], object]) -> None:
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._door.bind(str(path))
        self._door.listen()
        self._act = act
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._door.accept()
        with connection:
            self._act(connection)

    def close(self) -> None:
        self._thread.join(LONG)
        self._door.close()


def frame_of(connection: socket.socket) -> bytes:
    """Read one whole frame."""
    received = b""
    while len(received) < LEAD_SIZE or len(received) < size_of(received):
        received += connection.recv(65536)
    return received


def size_of(received: bytes) -> int:
    lead = frames.decode_lead(received[:LEAD_SIZE])
    return LEAD_SIZE + lead.head + lead.body


def replies(data: bytes) -> Callable[[socket.socket], object]:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        connection.sendall(data)

    return act


def hangs_after(data: bytes) -> Callable[[socket.socket], object]:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        connection.sendall(data)
        connection.recv(1)  # until the relay gives up

    return act


def never_reads(connection: socket.socket) -> None:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    poll.poll(LONG * 1000)


FAILURES: dict[str, Callable[[socket.socket], object]] = {
    "closes at once": lambda connection: None,
    "closes after the first bytes": lambda connection: connection.recv(10),
    "never reads": never_reads,
    "never acknowledges": hangs_after(b""),
    "half an acknowledgement, then hangs": hangs_after(ACK[:3]),
    "half an acknowledgement, then dies": replies(ACK[:3]),
    "dies before the acknowledgement": replies(b""),
    "dies after the acknowledgement": replies(ACK),
    "dies in the lead of its answer": replies(ACK + ANSWER[:5]),
    "dies in the middle of its answer": replies(ACK + ANSWER[:-1]),
    "hangs after a short patience": hangs_after(frames.encode_ack(50)),
    "hangs in the middle of its answer": hangs_after(frames.encode_ack(50) + ANSWER[:-1]),
    "speaks another language": replies(b"HTTP/1.1 200 OK\r\n\r\n"),
    "speaks another language after the acknowledgement": replies(ACK + b"HTTP/1.1 200 OK\r\n\r\n"),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("size", [2, 3_000_000])
def test_a_tray_that_fails_hands_the_event_to_once(agent: Agent, failure: str, size: int) -> None:
    agent.when_down()
    impostor = Impostor(agent.state / "door.sock", FAILURES[failure])

    done = agent.relay("claude-code", "Stop", payload=b"x" * size)

    impostor.close()
    found = agent.once()
    assert found is not None
    assert found[1] == b"x" * size
    assert said(done) == (b"once out", b"once err", 0)


@pytest.mark.parametrize("left", ["nothing", "stale socket", "file"])
def test_without_a_tray_once_gets_the_event(agent: Agent, left: str) -> None:
    agent.when_down(code=2)
    if left == "stale socket":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
            stale.bind(str(agent.state / "door.sock"))
    if left == "file":
        (agent.state / "door.sock").touch()

    assert said(agent.relay("claude-code", "Stop", payload=b"\0\xff")) == (b"once out", b"once err", 2)

    found = agent.once()
    assert found is not None
    (home, where, option, name, spent, ms, *words), stdin = found
    assert (home, where, option, spent) == ("--home", str(agent.home), "--id", "--spent")
    assert (words, stdin) == (["claude-code", "Stop"], b"\0\xff")
    assert len(name) == 32
    assert 0 <= int(ms) < 10_000


def test_once_is_told_what_the_relay_was_told_and_no_more(agent: Agent) -> None:
    agent.when_down()

    run([sys.executable, "-I", "-S", str(RELAY), "claude-code"], env={"HOOKTRAY_HOME": str(agent.home)})

    found = agent.once()
    assert found is not None
    assert "--home" not in found[0]
    assert found[0][-1] == "claude-code"


def test_a_door_nobody_opens_is_given_up(agent: Agent) -> None:
    agent.when_down()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(agent.state / "door.sock"))
        door.listen()
        assert agent.relay("claude-code", "Stop").stdout == b"once out"


def fill(path: Path) -> list[socket.socket]:
    """Callers that wait at this door until nobody else can queue up."""
    queue = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
    queue[-1].setblocking(False)
    while queue[-1].connect_ex(str(path)) != errno.EAGAIN:
        queue.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        queue[-1].setblocking(False)
    queue.pop().close()
    return queue


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse at once")
def test_a_full_queue_before_the_door_is_given_up(agent: Agent) -> None:
    agent.when_down()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(agent.state / "door.sock"))
        door.listen(0)
        queue = fill(agent.state / "door.sock")
        done = agent.relay("claude-code", "Stop")

    for caller in queue:
        caller.close()
    assert done.stdout == b"once out"


@pytest.mark.skipif(sys.platform != "linux", reason="finds the relay by SO_PEERCRED")
def test_an_answer_counts_even_when_the_payload_could_not_be_sent(agent: Agent) -> None:
    agent.when_down()

    def act(connection: socket.socket) -> None:
        """The relay stands still until the tray has answered and closed, so its next write must fail."""
        connection.recv(LEAD_SIZE)
        pid = int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        connection.sendall(ACK + ANSWER)
        connection.close()
        os.kill(pid, signal.SIGCONT)

    impostor = Impostor(agent.state / "door.sock", act)
    done = agent.relay("claude-code", "Stop", payload=b"x" * 5_000_000)

    impostor.close()
    assert said(done) == (b"out", b"err", 2)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc; other systems refuse at once")
def test_a_full_queue_before_the_door_is_waited_for(agent: Agent) -> None:
    path = agent.state / "door.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(path))
        door.listen(0)
        queue = fill(path)
        with subprocess.Popen(agent.command("a"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as relay:
            until(lambda: has_socket(relay.pid))
            for _ in queue:
                door.accept()[0].close()
            connection, _ = door.accept()
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


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        select.select([], [], [], 0.002)


def test_an_answer_in_single_bytes_is_read(agent: Agent) -> None:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        for byte in ACK + ANSWER:
            connection.send(bytes([byte]))

    impostor = Impostor(agent.state / "door.sock", act)
    done = agent.relay("claude-code", "Stop")

    impostor.close()
    assert said(done) == (b"out", b"err", 2)


def test_an_environment_too_large_for_the_door_goes_to_once(agent: Agent, tray: Recorder) -> None:
    agent.when_down()

    done = agent.relay("claude-code", "Stop", env={f"LARGE{number}": "x" * 120_000 for number in range(9)})

    assert (done.stdout, tray.knocks) == (b"once out", [])


CHILD = """
import sys, threading
from pathlib import Path
from tray.door.listener import Listener
from tray.model.decision import Answer

class Service:
    def patience(self, agent, event): return 60.0
    def answer(self, knock):
        print(knock.event, flush=True)
        return Answer(stdout=knock.event.encode())

listener = Listener(Path(sys.argv[1]), Service())
listener.start()
print("open", file=sys.stderr, flush=True)
threading.Event().wait()
"""


def test_a_hung_tray_is_left_alone_and_does_not_run_the_event_again_when_it_wakes_up(agent: Agent) -> None:
    agent.when_down()
    command = [sys.executable, "-c", CHILD, str(agent.state / "door.sock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stderr.readline() == b"open\n"
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        hung = agent.relay("claude-code", "first")
        child.send_signal(signal.SIGCONT)
        awake = agent.relay("claude-code", "second")
        child.kill()
        ran = child.stdout.read()

    assert (hung.stdout, awake.stdout, ran) == (b"once out", b"second", b"second\n")


@pytest.mark.parametrize("seen", [0, 1, 3, 6])
def test_a_tray_killed_among_many_relays_leaves_each_with_one_answer(agent: Agent, seen: int) -> None:
    agent.when_down()
    command = [sys.executable, "-c", CHILD, str(agent.state / "door.sock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stderr.readline() == b"open\n"
        relays = [
            subprocess.Popen(agent.command("claude-code", "event"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(12)
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
    assert [relay.returncode for relay in relays] == [0] * 12


# When nobody can decide


def nobody(agent: Agent, case: str) -> None:
    if case == "allow":
        agent.when_down(mode="allow")
    elif case == "not found":
        agent.when_down(command=["/nonexistent/hooktray", "once"])
    elif case == "empty":
        (agent.state / "relay.conf").write_text("when_down=once\nonce=\n")
    elif case == "junk":
        (agent.state / "relay.conf").write_bytes(b"\0\xff=\n=when_down\nonce")
    elif case == "our bug":
        agent.when_down(command=["/bin/sh", "-c", "exit 3"])
    elif case == "killed":
        agent.when_down(command=["/bin/sh", "-c", "kill -9 $$"])
    elif case == "does not read":
        agent.when_down(command=["/bin/sh", "-c", "exec <&-; exit 3"])


CASES = ["no relay.conf", "allow", "not found", "empty", "junk", "our bug", "killed", "does not read"]


@pytest.mark.parametrize("case", CASES)
def test_the_agent_gets_its_neutral_answer(agent: Agent, case: str) -> None:
    nobody(agent, case)
    payload = b"You are Shelley.\n" * 20_000

    assert said(agent.relay("claude-code", "PreToolUse", payload=payload)) == (b"", b"", 0)
    assert said(agent.relay("shelley", "system-prompt", payload=payload)) == (payload, b"", 0)
    assert said(agent.relay("shelley", "end-of-turn", payload=payload)) == (b"", b"", 0)


@pytest.mark.parametrize("code", [3, -9, -15])
def test_a_once_that_broke_does_not_break_the_agent(agent: Agent, code: int) -> None:
    agent.when_down(code=code)

    assert agent.relay("claude-code", "Stop").returncode == 0
    assert agent.once() is not None


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--home"],
        ["--home", "/nonexistent"],
        ["--help"],
        ["-x", "shelley"],
        ["", ""],
        ["a", "b", "c"],
        ["--home", "/nonexistent", "--home", "/nonexistent", "a"],
        ["\udcff", "\udcff"],
        ["é" * 1000, "\n"],
    ],
)
def test_a_usage_error_is_silent(tmp_path: Path, words: list[str]) -> None:
    done = run([sys.executable, "-I", "-S", str(RELAY), *words], env={"HOOKTRAY_HOME": str(tmp_path)})

    assert said(done) == (b"", b"", 0)


def test_a_usage_error_does_not_take_shelleys_prompt_away(tmp_path: Path) -> None:
    words = ["shelley", "system-prompt", "--verbose"]

    done = run([sys.executable, "-I", "-S", str(RELAY), *words], b"prompt", env={"HOOKTRAY_HOME": str(tmp_path)})

    assert said(done) == (b"prompt", b"", 0)


def test_an_agent_that_stops_reading_ends_no_relay_with_a_traceback(agent: Agent, tray: Recorder) -> None:
    with subprocess.Popen(
        agent.command("shelley", "echo"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as relay:
        assert relay.stdin is not None
        assert relay.stdout is not None
        assert relay.stderr is not None
        relay.stdout.close()
        relay.stdin.write(b"x" * 1_000_000)
        relay.stdin.close()
        assert relay.stderr.read() == b""
        assert relay.wait(LONG) == 0


def test_an_interrupted_relay_shows_no_traceback(agent: Agent, tray: Recorder) -> None:
    with subprocess.Popen(
        agent.command("claude-code", "until-gone"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as relay:
        assert relay.stderr is not None
        assert tray.started.wait(LONG)
        relay.send_signal(signal.SIGINT)
        assert relay.stderr.read() == b""
        assert relay.wait(LONG) == 0
