"""Each way of installing Hooktray, for a user with an empty home: it runs, guards, is upgraded and is removed."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from desk.wait import wait
from installed.ways import (
    GONE,
    HOUR,
    LONG,
    OLDER,
    PLAIN,
    RELEASES,
    REPOSITORY,
    TOOLS,
    Deb,
    Way,
    make,
    packed_roots,
    python_of,
)
from terminal import Terminal

from tray import __version__

SLOW = 60.0  # seconds on a busy machine
SECRET = "seven quiet bridges"
RELAY = ".local/share/hooktray/bin/hooktray-hook"
SETTINGS = "hooks:\n  - {name: guard, event: tool_before, tool: Bash, command: ./guard.sh, failure: block}\n"
CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
OFF = {**CALL, "tool_input": {"command": "hooktray off"}}
STOP = {"hook_event_name": "Stop", "session_id": "s"}
SILENT = (0, "", "")
MARKS = {"pip": ["venv/share/hooktray"]}  # what stays on purpose: tray/installation/installed_relay.py

pytestmark = pytest.mark.timeout(HOUR)

Record = Callable[[str, object], None]


@pytest.fixture(scope="module", params=[*RELEASES, *TOOLS])
def way(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    made = make(request.param, tmp_path_factory.mktemp(request.param), packed_roots(tmp_path_factory.getbasetemp()))
    yield made
    made.close()


@pytest.fixture
def installed(way: Way) -> Way:
    """The present version, and nothing of an earlier test's."""
    way.forget()
    if way.has(GONE) or not way.has("__init__.py"):
        way.install()
    return way


@contextlib.contextmanager
def tray(way: Way) -> Iterator[Path]:
    """Hooktray as a user without a screen starts it; the file has what it prints."""
    printed = way.home / "printed"
    with printed.open("wb") as output:
        process = subprocess.Popen(
            way.words("hooktray", "run"), env=PLAIN, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        wait(lambda: process.poll() is not None or is_running(way), SLOW, "the tray runs")
        assert process.poll() is None, printed.read_text()
        yield printed
    finally:
        process.terminate()
        process.wait(SLOW)
    assert process.returncode == 0, printed.read_text()


def is_running(way: Way) -> bool:
    done = way.run("hooktray", "status", "--json")
    return done.returncode == 0 and bool(json.loads(done.stdout)["running"])


def event(way: Way, payload: Mapping[str, object], relay: str = "") -> tuple[int, str, str]:
    """What the agent gets: exit code, standard output, standard error."""
    words = (relay or f"./{RELAY}", "claude-code", str(payload["hook_event_name"]))
    done = way.run(*words, text=json.dumps(payload))
    return done.returncode, done.stdout, done.stderr


def refusal(way: Way, payload: Mapping[str, object], relay: str = "") -> str:
    """The reason of the denial that the agent gets; nothing for an answer without an opinion."""
    code, stdout, stderr = event(way, payload, relay)
    assert (code, stderr) == (0, "")
    if not stdout:
        return ""
    found = json.loads(stdout)["hookSpecificOutput"]
    assert found["permissionDecision"] == "deny"
    return str(found["permissionDecisionReason"])


def is_asking(terminal: Terminal, question: str) -> bool:
    """Whether it shows the question and waits for something that it does not show."""
    return question in terminal.text and not terminal.echoes


def types(way: Way, *command: str, answers: list[tuple[str, str]], done: str) -> None:
    """A person at a terminal, who reads what is asked before typing."""
    # `setsid` gives the command this terminal as its own, as a login does.
    terminal = Terminal(["setsid", "--ctty", "--wait", *way.words(*command)], Path("/"), PLAIN)
    try:
        for question, answer in answers:
            wait(partial(is_asking, terminal, question), SLOW, f"{command}: {question}")
            terminal.type(f"{answer}\n")
        wait(lambda: done in terminal.text, SLOW, f"{command}: {done}")
    except AssertionError as error:
        raise AssertionError(f"{error}\n{terminal.text}") from None
    finally:
        terminal.close()


def approve_guard(way: Way) -> None:
    """What a new user does at a terminal: a passphrase, a connected agent, an approved hook."""
    way.write(".config/hooktray/hooktray.yaml", SETTINGS)
    way.write(".config/hooktray/guard.sh", "#!/bin/sh\ncat > /dev/null\necho no >&2\nexit 2\n", 0o700)
    types(
        way, "hooktray", "passphrase",
        answers=[("is not shown", SECRET), ("Once more:", SECRET)], done="The passphrase is set",
    )  # fmt: skip
    way.says("hooktray", "connect", "claude-code", "--yes")
    types(
        way, "hooktray", "approve", "guard",
        answers=[("Your Hooktray passphrase", SECRET)], done="done, recorded as `passphrase`",
    )  # fmt: skip


def test_both_commands_are_on_the_path_and_say_the_version(installed: Way, record_property: Record) -> None:
    version = installed.says("hooktray", "--version")

    assert version.split()[1] == __version__
    assert event(installed, STOP, "hooktray-hook") == SILENT
    record_property("version of Python", python_of(installed))
    if isinstance(installed, Deb):
        size = int(installed.root.run("dpkg-query", "-W", "-f", "${Installed-Size}", "hooktray"))
        record_property("packed, MB", round(installed.package.stat().st_size / 1e6))
        record_property("installed, MB", round(size * 1024 / 1e6))


def test_a_tray_without_an_icon_answers_an_event_through_the_native_relay(installed: Way) -> None:
    with tray(installed) as printed:
        reason = refusal(installed, OFF)
        rows = [json.loads(line) for line in installed.says("hooktray", "log", "--json").splitlines()]

    assert "headless" in printed.read_text()
    assert "Hooktray" in reason
    assert [row["verdict"] for row in rows] == ["deny"]
    assert (installed.home / RELAY).read_bytes()[:4] == b"\x7fELF"


def test_a_hook_that_its_user_approved_at_a_terminal_denies(installed: Way) -> None:
    with tray(installed):
        approve_guard(installed)

        assert refusal(installed, CALL) == "guard (Hooktray): no"
    assert refusal(installed, CALL) == "guard (Hooktray): no", "by the one-shot engine"


def test_an_upgrade_below_a_running_tray_loses_no_guard_and_leaves_no_old_file(way: Way) -> None:
    way.forget()
    way.install(older=True)
    assert way.says("hooktray", "--version").split()[1] == OLDER
    with tray(way):
        approve_guard(way)
        before = refusal(way, CALL)

        way.install()
        meanwhile = refusal(way, CALL)
    with tray(way):
        afterwards = refusal(way, CALL)

    assert {before, meanwhile, afterwards} == {"guard (Hooktray): no"}
    assert way.says("hooktray", "--version").split()[1] == __version__
    assert not way.has(GONE)


def test_a_panel_has_its_icon_and_its_menu_is_on_the_bus(installed: Way) -> None:
    if isinstance(installed, Deb):
        program = ["chroot", str(installed.root.path), "/usr/bin/hooktray"]
        installed.root.mount("/tmp", "tmp", "--bind")  # where the panel's bus and screen are
    else:
        program = [installed.says("which", "hooktray").strip()]

    words = [sys.executable, str(REPOSITORY / "installers" / "try.py"), *program]
    done = subprocess.run(words, env=PLAIN, capture_output=True, text=True, timeout=LONG, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Hooks enabled" in done.stdout


def test_after_its_removal_agents_go_on_and_no_file_is_left_but_the_users_own(installed: Way) -> None:
    with tray(installed):
        approve_guard(installed)

    installed.remove()
    installed.age()
    guarded = refusal(installed, CALL)
    if guarded:  # its environment is gone, and may be made anew: docs/connect.md
        ending = re.search(r"a person ends this with `(.*?)`", guarded)
        assert ending, guarded
        installed.says("sh", "-c", ending[1])

    assert bool(guarded) == (installed.name in ("pipx", "uv"))
    assert refusal(installed, CALL) == ""
    assert event(installed, STOP) == SILENT
    assert installed.run("hooktray", "--version").returncode != 0
    assert installed.left() == MARKS.get(installed.name, [])
