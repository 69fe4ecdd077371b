"""What only the portable relay has: an interpreter that starts slowly, and modules that it must not import."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from relays import Agent, Recorder, run, said

from tray import relay_program
from tray.model.event import PAYLOAD_LIMIT
from tray.relay import PAYLOAD_LIMIT as RELAY_LIMIT

RELAY = relay_program.portable()[-1]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "home")


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


EARLY = """
import os, runpy, sys

def interrupt(event, args):
    if event == "import" and args[0] in ("_socket", "select"):
        os.kill(os.getpid(), {signal})

sys.addaudithook(interrupt)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def test_a_relay_that_is_interrupted_while_it_starts_shows_no_traceback() -> None:
    code = EARLY.format(signal=int(signal.SIGINT))

    assert said(run([sys.executable, "-I", "-S", "-c", code, RELAY])) == (b"", b"", -signal.SIGINT)


def test_where_interrupts_are_ignored_it_starts_all_the_same(agent: Agent, tray: Recorder) -> None:
    code = f"import os, signal; signal.signal(2, signal.SIG_IGN); {EARLY.format(signal=2)}"
    command = [sys.executable, "-I", "-S", "-c", code, *agent.command("claude-code", "Stop")[3:]]

    assert said(run(command)) == (b"out\0\xff", b"err", 2)


def test_the_relay_knows_the_limit_of_a_payload() -> None:
    assert RELAY_LIMIT == PAYLOAD_LIMIT
