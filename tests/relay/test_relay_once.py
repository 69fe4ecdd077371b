"""The relay with the real `hooktray once` behind it, as relay.conf names it when no tray runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from desk import wait
from house import PRE_TOOL_USE, House
from relays import LONG, Agent, opened, said

from tray.model.event import PAYLOAD_LIMIT

Going = Callable[..., subprocess.Popen[bytes]]
DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"no"}\''
CALL = json.dumps(PRE_TOOL_USE).encode()
PROMPT = b"You are Shelley.\n" + b"x" * PAYLOAD_LIMIT
SESSION_END = b'{"session_id":"s","cwd":"/","hook_event_name":"SessionEnd","reason":"other"}'


@pytest.fixture
def agent(house: House, relay: list[str]) -> Agent:
    """An agent whose tray has just ended."""
    assert house.paths.home is not None
    agent = Agent(house.paths.home, relay)
    agent.without_tray(command=[sys.executable, "-I", "-m", "tray", "once", *house.paths.relay_options])
    return agent


@pytest.fixture
def going(agent: Agent) -> Iterator[Going]:
    """Relays that were given their payload and are still at it."""
    relays: list[subprocess.Popen[bytes]] = []

    def start(*words: str, payload: bytes) -> subprocess.Popen[bytes]:
        relay = subprocess.Popen(agent.command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        relays.append(relay)
        assert relay.stdin is not None
        relay.stdin.write(payload)
        relay.stdin.close()
        return relay

    yield start
    for relay in relays:
        relay.kill()
        relay.wait()
        assert relay.stdout is not None
        relay.stdout.close()


def pid_in(path: Path) -> int:
    wait(lambda: path.exists() and path.read_text().endswith("\n"), LONG, f"{path}")
    return int(path.read_text())


def test_a_guard_denies_through_relay_and_once(house: House, agent: Agent) -> None:
    house.hook("guard", on="tool_before", script=DENY)

    done = agent.relay("claude-code", "PreToolUse", payload=CALL)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (done.stderr, done.returncode) == (b"", 0)


def test_exit_code_and_stderr_come_through(house: House, agent: Agent) -> None:
    house.hook("guard", on="system_prompt", script=DENY)

    done = agent.relay("shelley", "system-prompt", payload=b"You are Shelley.")

    assert said(done) == (b"", b"guard (Hooktray): no\n", 1)


@pytest.mark.parametrize("sent", ["SIGTERM", "SIGKILL"])
def test_when_the_agent_ends_the_relay_its_hooks_end(house: House, going: Going, tmp_path: Path, sent: str) -> None:
    script = f"echo $$ >{tmp_path}/hook; echo $PPID >{tmp_path}/once; sleep 90"
    house.hook("slow", on="tool_before", script=script, timeout=90)
    relay = going("claude-code", "PreToolUse", payload=CALL)
    pids = [pid_in(tmp_path / name) for name in ("hook", "once")]

    relay.send_signal(signal.Signals[sent])

    assert relay.wait(LONG) == -signal.Signals[sent]
    wait(lambda: not any(map(psutil.pid_exists, pids)), LONG, "once and its hook end")


def test_a_once_that_is_ended_ends_its_hooks_and_leaves_the_neutral_answer(
    house: House, going: Going, tmp_path: Path
) -> None:
    script = f"echo $$ >{tmp_path}/hook; echo $PPID >{tmp_path}/once; sleep 90"
    house.hook("slow", on="system_prompt", script=script, timeout=90)
    relay = going("shelley", "system-prompt", payload=b"You are Shelley.")
    hook, once = [pid_in(tmp_path / name) for name in ("hook", "once")]

    os.kill(once, signal.SIGTERM)

    assert relay.stdout is not None
    assert (relay.stdout.read(), relay.wait(LONG)) == (b"You are Shelley.", 0)
    wait(lambda: not psutil.pid_exists(hook), LONG, "the hook ends")


def test_an_observed_event_lets_the_relay_go_while_its_hooks_run_on(
    house: House, agent: Agent, tmp_path: Path
) -> None:
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done"
    house.hook("done", on="session_end", script=script)

    done = agent.relay("claude-code", "SessionEnd", payload=SESSION_END)

    assert said(done) == (b"", b"", 0)
    (tmp_path / "go").touch()
    wait(lambda: house.stores.journal.count() == 1, LONG, "the row")
    assert house.stores.journal.recent(1)[0].hooks[0]["status"] == "ok"


def test_without_a_tray_a_system_prompt_over_the_limit_comes_back(house: House, agent: Agent) -> None:
    done = agent.relay("shelley", "system-prompt", payload=PROMPT)

    assert (done.stdout == PROMPT, done.stderr, done.returncode) == (True, b"", 0)
    wait(lambda: house.stores.journal.count() == 1, LONG, "the row")
    assert "over the limit" in house.stores.journal.recent(1)[0].problem


def test_with_a_tray_a_system_prompt_over_the_limit_comes_back_and_no_other_text(agent: Agent) -> None:
    with opened(agent) as tray:
        assert agent.relay("shelley", "system-prompt", payload=PROMPT).stdout == PROMPT
        assert agent.relay("shelley", "end-of-turn", payload=PROMPT).stdout == b"out\0\xff"

    problem = f"payload of {len(PROMPT)} bytes is over the limit of {PAYLOAD_LIMIT}"
    assert [(request.body, request.problem) for request in tray.requests] == [(b"", problem)] * 2
