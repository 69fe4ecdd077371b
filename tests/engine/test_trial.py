"""What counts as a test: only what `hooktray test` has started."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from house import PRE_TOOL_USE, House

from tray.engine import trial
from tray.engine.receive import parse_event
from tray.errors import HooktrayError
from tray.model.event import PROBE_PREFIX, TEST_VARIABLE, RelayRequest


@contextmanager
def relay_below(verb: str, *, shell: bool) -> Iterator[int]:
    """The number of a process that one of our own commands started, itself or by a shell."""
    line = "/bin/sh -c 'echo $$; exec cat'; true" if shell else "echo $$; exec cat"
    start = f"import subprocess; subprocess.run(['/bin/sh', '-c', {line!r}])"
    argv = [sys.executable, "-c", start, "-m", "tray", verb]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        yield int(command.stdout.readline())
        command.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="starts a shell")
@pytest.mark.parametrize(
    ("verb", "shell", "session", "is_test"),
    [
        ("test", False, "s-1", True),
        ("test", True, "s-1", False),  # whoever it started did that
        ("doctor", True, f"{PROBE_PREFIX}1", True),
        ("doctor", False, f"{PROBE_PREFIX}1", True),
        ("doctor", True, "s-1", False),
        ("list", False, f"{PROBE_PREFIX}1", False),
    ],
)
def test_who_started_a_relay_is_asked_the_kernel(verb: str, shell: bool, session: str, is_test: bool) -> None:
    body = json.dumps(PRE_TOOL_USE | {"session_id": session}).encode()

    with relay_below(verb, shell=shell) as pid:
        for environment in ({TEST_VARIABLE: "1"}, {}):
            request = RelayRequest(
                agent="claude-code", event="PreToolUse", id="0" * 32, body=body, environment=environment, pid=pid
            )
            assert parse_event(request, 1).test is (is_test and TEST_VARIABLE in environment)


def test_an_observing_hook_is_tried_under_its_own_time(house: House) -> None:
    house.hook("look", on="session_end", script="echo seen >&2")
    (approved,) = house.stores.ledger.in_order()
    event = trial.synthetic_event("claude-code", "SessionEnd", environment={}, cwd="/")

    tried = trial.run(house.engine, approved, event)

    assert (tried.result, tried.outcome.stderr, tried.answer.stdout) == ("abstain", "seen\n", b"")


def test_a_hook_that_timed_out_counts_as_failed_whatever_its_policy(house: House) -> None:
    house.hook("slow", on="tool_before", script="sleep 30", timeout=0.2, failure="block")
    (approved,) = house.stores.ledger.in_order()
    event = trial.synthetic_event("x-code", "PreToolUse", environment={"PATH": "/usr/bin:/bin"}, cwd="/")

    tried = trial.run(house.engine, approved, event)

    assert tried.result == "failed"
    assert b'"decision":"deny"' in tried.answer.stdout


def test_a_hook_of_another_agent_is_never_asked(house: House) -> None:
    house.hook("mine", on="tool_before", script=":", agent="x-code")
    (approved,) = house.stores.ledger.in_order()
    event = trial.synthetic_event("claude-code", "PreToolUse", environment={}, cwd="/")

    with pytest.raises(HooktrayError, match=r"mine is never asked on PreToolUse of claude-code\n.*of x-code"):
        trial.is_matched(approved, event)
