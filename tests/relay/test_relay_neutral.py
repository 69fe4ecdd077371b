"""When nobody can decide: the agent gets its neutral answer, and never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from every import every
from relays import LONG, Agent, Recorder, opened, run, said

NOBODY: dict[str, Callable[[Agent], object]] = {
    "no relay.conf": lambda agent: None,
    "allow": lambda agent: agent.without_tray(mode="allow"),
    "not found": lambda agent: agent.without_tray(command=["/nonexistent/hooktray", "once"]),
    "empty": lambda agent: (agent.state / "relay.conf").write_text("without_tray=once\nonce=\n"),
    "junk": lambda agent: (agent.state / "relay.conf").write_bytes(b"\0\xff=\n=without_tray\nonce"),
    "does not read": lambda agent: agent.without_tray(command=["/bin/sh", "-c", "exec <&-; exit 3"]),
}


@every("case", NOBODY)
def test_the_agent_gets_its_neutral_answer(agent: Agent, case: str) -> None:
    NOBODY[case](agent)
    payload = b"You are Shelley.\n" * 20_000

    assert said(agent.relay("claude-code", "PreToolUse", payload=payload)) == (b"", b"", 0)
    assert said(agent.relay("shelley", "system-prompt", payload=payload)) == (payload, b"", 0)
    assert said(agent.relay("shelley", "end-of-turn", payload=payload)) == (b"", b"", 0)


BROKEN = {
    "a module that is not there": "echo No module named tray >&2; exit 1",
    "says nothing": "cat >/dev/null",
    "speaks without a frame": "cat >/dev/null; echo hello; exit 2",
    "gives the payload back": "cat",
    "dies in the lead": "cat >/dev/null; printf 'R\\000\\000'; kill -9 $$",
    "dies in its answer": "cat >/dev/null; printf 'R\\002\\000\\000\\000\\003\\000\\000\\000\\000no'; kill -9 $$",
    "never ends its nonsense": "yes",
}


@every("broken", BROKEN)
def test_what_a_broken_once_says_never_reaches_the_agent(agent: Agent, broken: str) -> None:
    agent.without_tray(command=["/bin/sh", "-c", BROKEN[broken]])
    payload = b"You are Shelley.\n" * 20_000

    assert said(agent.relay("claude-code", "PreToolUse", payload=payload)) == (b"", b"", 0)
    assert said(agent.relay("shelley", "system-prompt", payload=payload)) == (payload, b"", 0)


def test_a_whole_answer_counts_even_if_once_fails_afterwards(agent: Agent) -> None:
    frame = "R\\002\\000\\000\\000\\002\\000\\000\\000\\003no!!!"
    agent.without_tray(command=["/bin/sh", "-c", f"cat >/dev/null; printf '{frame}'; echo more; exit 1"])

    assert said(agent.relay("claude-code", "PreToolUse")) == (b"no", b"!!!", 2)


USAGE_ERRORS = [
    [],
    ["--home"],
    ["--home", "/nonexistent"],
    ["--help"],
    ["-x", "shelley"],
    ["", ""],
    ["a", "b", "c"],
    ["--home", "/nonexistent", "--home", "/nonexistent", "a"],
    ["--state"],
    ["--state", "/nonexistent", "--home", "/nonexistent", "a"],
    ["--stately", "a"],
    ["\udcff", "\udcff"],
    ["é" * 1000, "\n"],
]


@every("words", USAGE_ERRORS)
def test_a_usage_error_is_silent(tmp_path: Path, relay: list[str], words: list[str]) -> None:
    done = run([*relay, *words], env={"HOOKTRAY_HOME": str(tmp_path)})

    assert said(done) == (b"", b"", 0)


BLOCKING = [  # options that name the folder, and the relay's words: some are invalid, some find no tray
    (["--home", "/nonexistent"], ["claude-code", "PreToolUse"]),
    (["--home", "/nonexistent"], ["--help"]),
    (["--home=/nonexistent"], ["a", "b", "c"]),
    ([], ["--nonsense", "claude-code"]),
    ([], []),
]


@every(("named", "words"), BLOCKING)
def test_a_relay_command_with_a_folder_option_blocks_no_agent(
    tmp_path: Path, named: list[str], words: list[str]
) -> None:
    done = run([sys.executable, "-I", "-m", "tray", *named, "relay", *words], env={"HOOKTRAY_HOME": str(tmp_path)})

    assert said(done) == (b"", b"", 0)


@pytest.mark.parametrize("is_joined", [False, True])
def test_the_command_finds_the_tray_of_the_folder_that_is_named_first(tmp_path: Path, is_joined: bool) -> None:
    agent = Agent(tmp_path / "home")
    home = [f"--home={agent.home}"] if is_joined else ["--home", str(agent.home)]

    with opened(agent) as tray:
        run([sys.executable, "-I", "-m", "tray", *home, "relay", "claude-code", "PreToolUse"])

    assert [(request.agent, request.event) for request in tray.requests] == [("claude-code", "PreToolUse")]


def test_a_usage_error_does_not_take_shelleys_prompt_away(tmp_path: Path, relay: list[str]) -> None:
    words = ["shelley", "system-prompt", "--verbose"]

    done = run([*relay, *words], b"prompt", env={"HOOKTRAY_HOME": str(tmp_path)})

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
        assert relay.wait(LONG) == -signal.SIGINT


def test_an_agent_that_never_closes_our_stdin_gets_its_neutral_answer(agent: Agent, tray: Recorder) -> None:
    agent.without_tray()
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    relays = [
        subprocess.Popen(agent.command(*words), **streams)  # type: ignore[call-overload]
        for words in (("claude-code", "PreToolUse"), ("shelley", "system-prompt"))
    ]
    for relay in relays:
        relay.stdin.write(b"{}")
        relay.stdin.flush()

    codes = [relay.wait(LONG) for relay in relays]

    outputs = [relay.communicate() for relay in relays]
    assert codes == [0, 0]
    assert outputs == [(b"", b""), (b"{}", b"")]
    assert (tray.requests, agent.once()) == ([], None)
