"""`connect` and each start of the tray run the agents' lines once: a line that gives no answer is not "connected"."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from connect.sites import NOTHING_ARRIVED, Person, own_agent_of_kiro
from connect.trays import by_person, installed
from desk import wait
from live import PYTHON, Live
from plain import Plain

from tray.agents import relay_command
from tray.connect import connectors
from tray.doctor import agent_status
from tray.doctor.agent_status import agent_statuses, check_line, failing_lines
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.model.event import PROBE_HEAD, PROBE_TAIL, probe_answer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

BODY = PROBE_HEAD + b"0" * 32 + PROBE_TAIL


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    live = installed(tmp_path)
    (tmp_path / ".claude").mkdir()
    yield live
    assert isinstance(live.place, Plain)
    live.place.close()


def connected(person: Person, agent: str) -> Person:
    """As the command does it, without trying the line."""
    person.agent = agent
    installed_relay.prepare_to_connect(person.site.paths, agent)
    person.connect(relay_command.relay_argv(person.site.paths))
    return person


@pytest.mark.parametrize("agent", sorted(connectors()))
def test_each_agents_line_answers_a_probe_that_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    person = Person(tmp_path, agent)
    monkeypatch.setenv("HOME", str(person.home))
    own_agent_of_kiro(person.home)
    connected(person, agent)

    check_line(person.site, agent)

    stores = open_stores(person.site.paths, create=False)
    assert stores.journal.count() == 0
    assert stores.journal.last_events((agent,)) == {}
    stores.journal.close()


def replaced(text: str) -> Callable[[Path], None]:
    def replace(relay: Path) -> None:
        relay.write_text(text)
        relay.chmod(0o700)

    return replace


def folder(relay: Path) -> None:
    relay.unlink()
    (relay / "something").mkdir(parents=True)


def pipe(relay: Path) -> None:
    relay.unlink()
    os.mkfifo(relay, 0o700)


def foreign(relay: Path) -> None:
    """A program for another processor, by the name that it has in the head of an ELF file."""
    found = bytearray(Path(sys.executable).read_bytes()[:64])
    found[18] ^= 0xFF
    relay.write_bytes(found)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "is not there any more"),
    "a folder": (folder, "is a folder, so its lines do nothing"),
    "a pipe": (pipe, "is missing, so its lines do nothing"),
    "not executable": (lambda relay: relay.chmod(0o600), "is not executable, so its lines do nothing"),
    "of another machine": (foreign, "is a program for another processor"),
    "silent": (replaced("#!/bin/sh\ncat >/dev/null\n"), "it ran, and nothing of Hooktray answered"),
    "an echo": (replaced("#!/bin/sh\ncat\n"), "it ran, and nothing of Hooktray answered"),
    "failing": (replaced("#!/bin/sh\nexit 3\n"), "ended with 3"),
    "without its interpreter": (replaced("#!/nonexistent/python\n"), "ended with 12"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_line_that_gives_no_answer_is_found_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    damage, reason = BROKEN[case]
    person = Person(tmp_path)
    monkeypatch.setenv("HOME", str(person.home))
    connected(person, "claude-code")
    damage(person.site.paths.relay)

    with pytest.raises(HooktrayError, match=reason) as caught:
        check_line(person.site, "claude-code")

    assert caught.value.hint
    unanswered = failing_lines(person.site)
    assert list(unanswered) == ["claude-code"]
    states = agent_statuses(person.site, NOTHING_ARRIVED, unanswered=unanswered)
    (state,) = [one for one in states if one.agent == "claude-code"]
    assert (bool(state.events), state.connected) == (True, False)
    assert state.advice


def test_a_line_that_hangs_is_waited_for_once_and_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(tmp_path)
    monkeypatch.setenv("HOME", str(person.home))
    monkeypatch.setattr(agent_status, "COMMAND_TIMEOUT", 3.0)
    connected(person, "claude-code")
    started = tmp_path / "started"
    replaced(f'#!/bin/sh\nsleep 600 & echo $! >>"{started}"; wait\n')(person.site.paths.relay)

    with pytest.raises(HooktrayError, match="timed out after 3 s"):
        check_line(person.site, "claude-code")

    (pid,) = map(int, started.read_text().split())
    wait(lambda: not psutil.pid_exists(pid), what="the process that the line started has ended")


def test_only_a_payload_that_is_nothing_else_is_a_probe() -> None:
    assert probe_answer(BODY) == b"hooktray " + b"0" * 32 + b"\n"
    event = json.dumps({"hooktray_probe": "0" * 32, "tool_name": "Bash"}).encode()
    for other in (b"", event, BODY + b" ", BODY.replace(b"0", b'"', 1), BODY.replace(b"probe", b"prone")):
        assert probe_answer(other) == b""


@by_person
def test_connect_does_not_call_an_agent_connected_whose_line_gives_no_answer(live: Live, tmp_path: Path) -> None:
    assert live.cli("connect", "claude-code", "--yes").returncode == 0
    folder(tmp_path / "h" / "bin" / "hooktray-hook")

    done = live.cli("connect", "claude-code", "--yes")

    assert done.returncode == 1
    assert b"connected" not in done.stdout
    assert b"hooktray-hook is a folder\n  move it away" in done.stderr


@by_person
def test_the_tray_runs_hooks_for_no_probe_and_records_none(live: Live) -> None:
    live.start("--headless")

    assert live.cli("connect", "claude-code", "--yes").returncode == 0

    assert live.log() == []
    (row,) = [one for one in live.rows("agents") if one["agent"] == "claude-code"]
    assert (row["connected"], row["last_event"]) == (True, None)


@by_person
def test_a_start_finds_a_line_that_gives_no_answer(live: Live, tmp_path: Path) -> None:
    live.cli("connect", "claude-code", "--yes")
    other = tmp_path / "other" / "hooktray-hook"
    other.parent.mkdir()
    replaced("#!/bin/sh\ncat >/dev/null\n")(other)
    settings = tmp_path / ".claude" / "settings.json"
    text = settings.read_text()
    settings.write_text(text.replace(str(tmp_path / "h" / "bin" / "hooktray-hook"), str(other)))
    assert settings.read_text() != text

    live.start("--headless")

    status = wait(lambda: json.loads(live.cli("status", "--json").stdout)["problem"], what="the problem in `status`")
    assert "nothing of Hooktray answered" in status
    (row,) = [one for one in live.cli_json("agents") if one["agent"] == "claude-code"]
    assert row["connected"] is False
    assert "nothing of Hooktray answered" in row["problem"]


NOEXEC = 'mount -t tmpfs -o noexec tmpfs "$1" && mkdir "$1/.claude" && shift && exec "$@"'


@pytest.fixture
def noexec(tmp_path: Path) -> Iterator[list[str]]:
    """What leads a command into a mount namespace with a home on a `noexec` file system."""
    if sys.platform != "linux" or not shutil.which("nsenter"):
        pytest.skip("mount namespaces of Linux")
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    home = tmp_path / "home"
    home.mkdir()
    argv = ["unshare", *user, "--mount", "sh", "-c", NOEXEC, "sh", str(home), "sh", "-c", "echo; exec sleep 600"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"\n"
        yield ["nsenter", *(["--user", "--preserve-credentials"] if user else []), "-m", "-t", str(holder.pid)]
        holder.kill()


@by_person
def test_a_home_whose_file_system_runs_no_programs_is_reported_with_a_cure_that_works(
    tmp_path: Path, noexec: list[str]
) -> None:
    place = Plain(tmp_path)
    place.environment["HOME"] = str(tmp_path / "home")
    hooktray = [*noexec, PYTHON, "-I", "-m", "tray"]

    done = place.run([*hooktray, "connect", "claude-code", "--yes"])
    state = json.loads(place.run([*hooktray, "status", "--json"]).stdout)
    tested = place.run([*hooktray, "test", "tool_before"])
    doctor = place.run([*hooktray, "doctor", "--static"]).stdout

    assert done.returncode == 1
    assert b"is on a file system that runs no programs (noexec), so its lines do nothing" in done.stderr
    assert b"hooktray --home DIR connect" in done.stderr
    assert "(noexec)" in state["problem"]
    assert [one["connected"] for one in state["agents"] if one["agent"] == "claude-code"] == [False]
    assert (tested.returncode, tested.stdout) == (1, b"")
    assert b"(noexec)" in tested.stderr
    assert b"broken     agent: claude-code" in doctor

    cured = place.run([*hooktray, "--home", tmp_path / "h", "connect", "claude-code", "--yes"])
    assert cured.returncode == 0, cured.stderr
    assert b"claude-code: connected." in cured.stdout
