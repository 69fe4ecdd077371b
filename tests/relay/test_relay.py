"""The relay as agents run it: a process of its own, a real server, and where it finds it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from every import every
from relays import LONG, Agent, Recorder, opened, run, said


def test_the_answer_becomes_output_and_exit_code(agent: Agent, tray: Recorder) -> None:
    assert said(agent.relay("claude-code", "Stop")) == (b"out\0\xff", b"err", 2)


def test_the_tray_learns_what_the_agent_sent_and_from_where(agent: Agent, tray: Recorder, tmp_path: Path) -> None:
    command = agent.command("claude-code", "Stop")
    env = {b"HOME": b"/h", b"ODD": b"\xff=1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, env=env
    ) as relay:
        relay.communicate(b"\0\xff\n", timeout=LONG)

    request = tray.requests[0]
    assert (request.agent, request.event, request.body, request.problem) == ("claude-code", "Stop", b"\0\xff\n", "")
    assert (request.pid, request.parent, request.cwd) == (relay.pid, os.getpid(), str(tmp_path))
    assert {name: request.environment[name] for name in ("HOME", "ODD")} == {"HOME": "/h", "ODD": "\udcff=1"}
    assert len(request.id) == 32


def test_an_event_may_be_left_to_the_payload(agent: Agent, tray: Recorder) -> None:
    agent.relay("claude-code")

    assert (tray.requests[0].agent, tray.requests[0].event) == ("claude-code", "")


def test_ten_megabytes_arrive_and_come_back_whole(agent: Agent, tray: Recorder) -> None:
    payload = os.urandom(1024 * 1024) * 10

    done = agent.relay("shelley", "echo", payload=payload)

    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(payload).digest()
    assert (done.stderr, done.returncode) == (b"", 0)


def test_after_the_acknowledgement_the_relay_waits(agent: Agent, tray: Recorder) -> None:
    agent.without_tray()

    assert said(agent.relay("claude-code", "slow")) == (b"late", b"", 0)
    assert agent.once() is None


def test_a_relay_that_its_agent_kills_is_seen_to_have_gone(agent: Agent, tray: Recorder) -> None:
    with subprocess.Popen(agent.command("claude-code", "until-gone"), stdin=subprocess.DEVNULL) as relay:
        assert tray.started.wait(LONG)
        relay.kill()

    assert tray.gone.wait(LONG)


def test_many_relays_at_once_are_all_answered(agent: Agent, tray: Recorder) -> None:
    agent.without_tray()
    relays = [
        subprocess.Popen(agent.command("shelley", "echo"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(16)
    ]

    answers = [relay.communicate(str(number).encode(), timeout=LONG)[0] for number, relay in enumerate(relays)]

    assert answers == [str(number).encode() for number in range(16)]
    assert len({request.id for request in tray.requests}) == 16


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_not_confuse_it(agent: Agent, tray: Recorder, redirection: str) -> None:
    done = run(["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *agent.command("claude-code", "Stop")])

    assert done.returncode == 2
    assert done.stdout == (b"" if ">&-" in redirection.replace("2>&-", "") else b"out\0\xff")
    assert len(tray.requests) == 1


# Where the socket is


@every("words", [["--state={state}"], ["--state", "{state}"], ["--home={home}"], ["--home", "{home}"]])
def test_the_folder_on_the_command_line_overrides_the_environment(
    agent: Agent, tray: Recorder, tmp_path: Path, words: list[str]
) -> None:
    named = [word.format(state=agent.state, home=agent.home) for word in words]
    astray = dict.fromkeys(("HOOKTRAY_HOME", "XDG_STATE_HOME", "HOME", "LOCALAPPDATA"), str(tmp_path / "none"))

    assert run([*agent.words, *named, "claude-code", "Stop"], env=astray).returncode == 2


def test_the_home_can_be_set_by_a_variable(agent: Agent, tray: Recorder) -> None:
    assert run([*agent.words, "claude-code", "Stop"], env={"HOOKTRAY_HOME": str(agent.home)}).returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the state folder of Linux")
@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_without_a_home_it_is_the_state_folder_of_the_user(tmp_path: Path, relay: list[str], variable: str) -> None:
    base = tmp_path if variable == "XDG_STATE_HOME" else tmp_path / ".local" / "state"
    agent = Agent(tmp_path / "home", relay)
    agent.state = base / "hooktray"
    agent.state.mkdir(mode=0o700, parents=True)
    env = {"XDG_STATE_HOME": "", "HOOKTRAY_HOME": "", variable: str(tmp_path)}

    with opened(agent):
        assert run([*relay, "claude-code", "Stop"], env=env).returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_path_too_long_for_a_socket_works(tmp_path: Path, relay: list[str]) -> None:
    agent = Agent(tmp_path / ("deep" * 30), relay)

    with opened(agent):
        assert agent.relay("claude-code", "Stop").returncode == 2


def test_where_there_is_only_a_loopback_socket_the_token_counts(agent: Agent) -> None:
    with opened(agent, loopback=True):
        assert agent.relay("shelley", "echo", payload=b"x" * 3_000_000).stdout == b"x" * 3_000_000


def test_with_a_wrong_token_a_loopback_request_is_rejected(agent: Agent) -> None:
    agent.without_tray()
    file = agent.state / "tray.addr"

    with opened(agent, loopback=True) as tray:
        file.write_text(f"{file.read_text().split()[0]} {'0' * 64}\n")
        done = agent.relay("claude-code", "Stop")

    assert (done.stdout, tray.requests) == (b"once out", [])


@every("text", ["", "80", "x y", "99999999 t", "1 2 3", "-1 t"])
def test_a_damaged_address_file_is_no_address(agent: Agent, text: str) -> None:
    agent.without_tray()
    (agent.state / "tray.addr").write_text(text)

    assert agent.relay("claude-code", "Stop").stdout == b"once out"


@every(("mode", "after"), [*((mode, 0o700) for mode in (0o777, 0o722, 0o770, 0o1777)), (0o755, 0o755)])
def test_a_folder_that_is_open_to_others_is_closed_again(agent: Agent, tray: Recorder, mode: int, after: int) -> None:
    agent.state.chmod(mode)

    assert agent.relay("claude-code", "Stop").returncode == 2
    assert agent.state.stat().st_mode & 0o7777 == after


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can act for somebody else")
@pytest.mark.parametrize("name", ["tray.sock", "tray.addr", "relay.conf"])
def test_what_somebody_else_left_in_an_open_folder_decides_nothing(agent: Agent, name: str) -> None:
    agent.without_tray()
    with opened(agent, loopback=name == "tray.addr") if name != "relay.conf" else contextlib.nullcontext():
        agent.state.chmod(0o777)
        os.chown(agent.state / name, 65534, 65534)
        done = agent.relay("claude-code", "Stop")

    assert said(done) == ((b"", b"", 0) if name == "relay.conf" else (b"once out", b"once err", 0))


MANY = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
null = os.open(os.devnull, os.O_RDONLY)
while os.dup(null) < 1100:
    pass
for opened in range(null, 1101):
    os.set_inheritable(opened, True)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="numbers of descriptors")
@pytest.mark.parametrize("listener", ["tray", "loopback", "once"])
def test_an_agent_that_leaks_a_thousand_descriptors_gets_its_answer(agent: Agent, listener: str) -> None:
    agent.without_tray()
    command = [sys.executable, "-c", MANY, *agent.command("claude-code", "Stop")]
    if listener == "once":
        assert said(run(command)) == (b"once out", b"once err", 0)
        return
    with opened(agent, loopback=listener == "loopback"):
        assert said(run(command)) == (b"out\0\xff", b"err", 2)


@pytest.mark.parametrize("wrong", ["link", "owner"])
def test_a_folder_that_is_not_ours_decides_nothing(agent: Agent, tmp_path: Path, wrong: str) -> None:
    agent.without_tray()
    if wrong == "link":
        agent.state.rename(tmp_path / "real")
        agent.state.symlink_to(tmp_path / "real")
    elif sys.platform != "win32" and os.getuid() == 0:
        os.chown(agent.state, 65534, 65534)
    else:
        pytest.skip("needs root to give a folder away")

    assert said(agent.relay("claude-code", "Stop")) == (b"", b"", 0)
    assert agent.once() is None
