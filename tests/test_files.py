"""Files as bytes, and those of other people: only what is a file, and no more of it than fits."""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from connect.sites import Person, own_agent_of_kiro
from every import every
from house import House

import tray
from tray.connect import connectors
from tray.engine.prompt_text import _transcript
from tray.errors import HooktrayError
from tray.files import CHUNK, content, user_file
from tray.paths import locate
from tray.sources.configuration import load


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK])
def test_a_file_of_any_size_is_read_whole(tmp_path: Path, size: int) -> None:
    whole = os.urandom(size)
    (tmp_path / "f").write_bytes(whole)
    assert content(str(tmp_path / "f")) == whole


@pytest.mark.parametrize("limit", [0, 1, CHUNK, CHUNK + 1])
def test_of_a_long_file_no_more_than_the_limit_is_read(tmp_path: Path, limit: int) -> None:
    whole = os.urandom(2 * CHUNK)
    (tmp_path / "f").write_bytes(whole)
    assert content(str(tmp_path / "f"), limit) == whole[:limit]


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@LINUX
def test_what_the_kernel_makes_up_has_no_size_and_is_read_all_the_same() -> None:
    assert content("/proc/self/stat").startswith(b"%d (" % os.getpid())


@LINUX
def test_what_cannot_be_read_is_an_error_of_the_system_and_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        content(str(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        content(str(tmp_path))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


PACKAGE = Path(tray.__file__).parent
# Modules that read themselves: files of the package, of the system, or of our own folders, which nobody else writes.
OWN_FILES = {
    "doctor/hooks.py", "installation/installed_relay.py", "execution/known_agents.py",
    "approvals/review.py", "approvals/script_start.py", "agents/opencode/connector.py", "cli/doctor.py",
    "desktop/artwork.py", "edit/backups.py", "engine/replay.py", "approvals/callers/caller_facts.py",
    "ipc/sockets.py",
    "language/__init__.py", "notify/push/sender.py", "relay.py", "relay_program.py",
    "sources/configuration.py", "store/checkpoint.py", "store/set_aside.py", "store/writer.py",
    "store/push_secrets.py", "store/trial_results.py", "execution/hook_runs.py", "execution/python_startup.py",
    "web/peers.py", "web/review_diff.py", "web/templating.py", "web/server.py",
}  # fmt: skip
CHECKED = {  # which ask the system by themselves what they have opened
    "sessions/presence_files.py", "sessions/unjudged_calls.py", "engine/prompt_text.py", "execution/process_table.py",
    "approvals/search_path.py", "execution/project_folder.py", "file_lock.py", "files.py",
    "protection/settings_edit.py", "sources/sound_pack.py",
}  # fmt: skip
NAMED_BY_HAND = {"cli/testing.py"}  # `--payload <(…)`: a pipe is meant, and the size has a limit
WRITES = ("'w'", "'x'", "'xb'", "'wb'", "'a'", "'ab'", "O_WRONLY", "O_RDWR", "O_PATH", "O_DIRECTORY", "O_CREAT")


def own_reads(module: Path) -> Iterator[str]:
    """The calls by which a module itself opens a file for reading."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function not in ("open", "read_bytes", "read_text"):
            continue
        text = ast.unparse(node)
        opens = text.startswith(("open(", "os.open(", "io.open(")) or (function == "open" and "'r" in text)
        if function != "open" or (opens and not any(word in text for word in WRITES)):
            yield text


def test_files_that_people_write_are_opened_in_one_place() -> None:
    found = {
        str(module.relative_to(PACKAGE)): list(own_reads(module))
        for module in PACKAGE.rglob("*.py")
        if str(module.relative_to(PACKAGE)) not in OWN_FILES | CHECKED | NAMED_BY_HAND
    }

    assert {name: calls for name, calls in found.items() if calls} == {}


def make_large(path: Path) -> None:
    path.touch()
    os.truncate(path, 100_000_000)


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
ODD: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo if sys.platform != "win32" else Path.mkdir, "not a file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "not a file"),
    "a folder": (Path.mkdir, "director"),
    "very large": (make_large, "bytes"),
    "a link to nothing": (lambda path: path.symlink_to(path.with_name("nothing")), "no such file"),
    "a link to itself": (lambda path: path.symlink_to(path), "symbolic links"),
}


@contextmanager
def time_limit(seconds: int = 10) -> Iterator[None]:
    """What waits for a pipe is ended by an error instead of by the whole run."""

    def fail(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@POSIX
@pytest.mark.parametrize("kind", ODD)
def test_what_is_not_a_file_of_a_usual_size_is_an_error_with_the_reason(tmp_path: Path, kind: str) -> None:
    make, reason = ODD[kind]
    make(tmp_path / "f")

    with time_limit(), pytest.raises(OSError, match=rf"(?i){reason}"):
        user_file(tmp_path / "f")


@POSIX
@pytest.mark.parametrize("kind", ODD)
def test_no_command_waits_for_an_odd_hooktray_yaml(tmp_path: Path, kind: str) -> None:
    make, reason = ODD[kind]
    paths = locate(str(tmp_path / "home"))
    paths.prepare()
    make(paths.config)

    with time_limit():
        problem = load(paths).problem

    message, _, cure = problem.partition("\n")
    assert message.startswith(f"{paths.config}: cannot be read: ")
    assert reason in message.lower()
    assert cure.strip() == "put a file there that you can read"


@POSIX
@every("agent", sorted(connectors()))
def test_no_connector_waits_for_an_odd_settings_file(agent: str, tmp_path: Path) -> None:
    person = Person(tmp_path / agent, agent)
    own_agent_of_kiro(person.home)
    person.connect()
    files = [backup.path for backup in person.site.backups.of_agent(agent)]
    for make, _ in ODD.values():
        for file in files:
            file.unlink(missing_ok=True) if not file.is_dir() or file.is_symlink() else file.rmdir()
            make(file)
        with time_limit():
            for look in (person.relay_entries, person.connect, lambda: connectors()[agent].trust(person.site)):
                with contextlib.suppress(HooktrayError):
                    look()


@POSIX
@pytest.mark.parametrize("kind", ODD)
def test_no_approval_waits_for_an_odd_script(house: House, kind: str) -> None:
    script = house.paths.config.parent / "guard.sh"
    ODD[kind][0](script)
    hook = {"name": "guard", "event": "tool_before", "command": f"sh {script}", "files": ["guard.sh"]}

    with time_limit():
        house.configure({"hooks": [hook]})

    (state,) = house.catalog.states
    assert not state.digest or script.is_symlink() or script.is_dir()


@POSIX
@pytest.mark.parametrize("kind", ODD)
def test_no_event_waits_for_an_odd_transcript(tmp_path: Path, kind: str) -> None:
    ODD[kind][0](tmp_path / "transcript")

    with time_limit():
        text = _transcript({"transcript_path": str(tmp_path / "transcript")})

    assert len(text) < 100_000
