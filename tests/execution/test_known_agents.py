"""Which processes are agents, and what runs below, beside and above them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from desk import wait

from tray.execution.known_agents import KnownAgents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sessions and shells of POSIX")


def test_what_runs_below_an_agent_is_no_person() -> None:
    agents = KnownAgents(os.getpid())
    agent = subprocess.Popen([sys.executable, "-c", "import subprocess; subprocess.run(['sleep', '60'])"])
    try:
        agents.record(agent.pid)
        child = wait(lambda: _children(agent.pid), what="the agent's child")[0]

        assert agents.has_agent_above(agent.pid)
        assert agents.has_agent_above(child)
        assert not agents.has_agent_above(os.getpid())
    finally:
        for pid in [*_children(agent.pid), agent.pid]:
            os.kill(pid, 9)
        agent.wait()


def test_the_shell_of_a_relay_line_stands_for_the_agent_that_runs_it(tmp_path: Path) -> None:
    agents = KnownAgents(os.getpid())
    line = f"echo $$ >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/shell; read line; :"
    program = f"import subprocess; subprocess.run(['sh', '-c', {line!r}])"
    agent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
    wait((tmp_path / "shell").exists, what="the shell")

    agents.record(int((tmp_path / "shell").read_text()))

    assert agents.has_agent_above(agent.pid)
    agent.communicate(b"\n")


def test_what_an_agent_left_in_its_session_is_its_own_until_the_agent_ends() -> None:
    agents = KnownAgents(os.getpid())
    # A child that is handed to somebody else, as `setsid -f` would, though without the new session.
    program = (
        "import subprocess; middle = 'sleep 60 >/dev/null & echo $!';"
        "print(subprocess.check_output(['sh', '-c', middle]).decode(), flush=True); input()"
    )
    agent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert agent.stdout is not None
    left = int(agent.stdout.readline())
    agents.record(agent.pid)

    beside = agents.shares_session(left)
    agent.communicate(b"\n")

    assert (beside, agents.shares_session(left)) == (True, False)
    assert not agents.has_agent_above(left)
    assert not agents.predates_agents(left), "what it has left behind could wait for its end"
    assert not agents.shares_session(os.getpid())
    assert agents.predates_agents(os.getpid())
    os.kill(left, 9)


@pytest.mark.parametrize(
    ("name", "words", "is_agent"),
    [
        ("zed-editor", (), False),
        ("tmux", (), False),
        ("code", (), False),
        ("code", ("--type=utility",), True),
        ("some-agent", (), True),
    ],
)
def test_the_window_of_an_agent_is_not_an_agent(
    tmp_path: Path, name: str, words: tuple[str, ...], is_agent: bool
) -> None:
    """Else the terminals of the same editor or multiplexer would be the agent's."""
    agents = KnownAgents(os.getpid())
    program = shutil.copy("/bin/bash", tmp_path / name)
    command = [program, "-c", "echo it runs; read line", *words]
    window = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert window.stdout is not None
    window.stdout.readline()  # before that the system may still show who started it

    agents.record(window.pid)

    assert agents.has_agent_above(window.pid) is is_agent
    window.communicate(b"\n")


def test_a_relay_that_names_another_parent_than_its_own_marks_nobody() -> None:
    """Otherwise a tool call could make an agent of the panel, and the user's clicks would count no more."""
    agents = KnownAgents(os.getpid())
    panel, relay = (subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2))

    agents.record(panel.pid, relay.pid)
    lied_to = agents.has_agent_above(panel.pid)
    agents.record(panel.pid)  # a loopback connection shows no pid

    assert (lied_to, agents.has_agent_above(panel.pid)) == (False, True)
    for one in (panel, relay):
        one.communicate(b"\n")


def test_an_agent_is_not_forgotten_by_having_those_below_it_send_events(tmp_path: Path) -> None:
    agents = KnownAgents(os.getpid())
    program = "import subprocess; subprocess.run(['sh', '-c', 'sleep 60; :'])"
    agent = subprocess.Popen([sys.executable, "-c", program])
    try:
        agents.record(agent.pid)
        below = wait(lambda: _children(agent.pid), what="a process below it")[0]
        agents.record(below)

        assert agents.count == 1
    finally:
        for pid in [*_children(below), *_children(agent.pid), agent.pid]:
            with contextlib.suppress(ProcessLookupError):  # it has ended by losing its child
                os.kill(pid, 9)
        agent.wait()


def test_what_is_above_ourselves_is_no_agent() -> None:
    agents = KnownAgents(os.getpid())

    agents.record(os.getpid())
    agents.record(os.getppid())

    assert not agents.has_agent_above(os.getpid())


def test_somebody_else_with_the_same_pid_later_is_not_the_agent() -> None:
    agents = KnownAgents(os.getpid())
    agents.record(1)
    agents.record(-1)
    agents.record(2**22 + 1)

    assert not agents.has_agent_above(os.getpid())


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text() if Path(f"/proc/{pid}").exists() else ""
    return [int(word) for word in text.split()]
