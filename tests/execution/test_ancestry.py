"""A process descends from what started it; the kernel, not the command line, shows which program that is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tray.execution.ancestry import DEPTH, HookAncestry, descent, is_command, is_own_program, sent_by_command
from tray.execution.hook_runs import Descent
from tray.execution.isolation import one_shot_command

SHOWS_PROGRAMS = pytest.mark.skipif(sys.platform == "win32", reason="wine shows the program of no other process")
IS_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="starts `cat`, `sh` and `xargs`")
# Programs that start a child, print its process id and end with their input.
PYTHON_PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
child.communicate(b"\\n")
"""
SHELL_PARENT = "cat <&0 >/dev/null & echo $!; wait"


@contextmanager
def running(argv: list[str], executable: str | None = None) -> Iterator[int]:
    child = subprocess.Popen(argv, executable=executable, stdin=subprocess.PIPE)
    try:
        yield child.pid
    finally:
        assert child.stdin is not None
        child.stdin.close()
        child.wait(60)


@contextmanager
def started_by(argv: list[str], executable: str | None = None) -> Iterator[tuple[int, int]]:
    """The process id of the child that this program prints, and the program's own."""
    parent = subprocess.Popen(argv, executable=executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    try:
        yield int(parent.stdout.readline()), parent.pid
    finally:
        parent.communicate(timeout=60)


def script(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@SHOWS_PROGRAMS
def test_a_process_below_a_one_shot_engine_descends_from_it(tmp_path: Path) -> None:
    starter = script(tmp_path / "tray" / "isolated.py", PYTHON_PARENT)

    with started_by([sys.executable, "-I", "-S", starter, "folders", "once"]) as (child, engine):
        assert descent(child, own=1) == Descent((child,), is_below_one_shot=True)
        assert descent(child, own=engine) == Descent((child,), is_below_one_shot=False)
        assert descent(engine, own=1) is None


@IS_POSIX
def test_a_process_below_another_program_with_the_command_line_of_an_engine_does_not(tmp_path: Path) -> None:
    """`xargs` takes the same words: it starts the script for each line."""
    starter = script(tmp_path / "tray" / "isolated.py", "#!/bin/sh\necho $$\nexec cat >/dev/null <&0\n")
    line = tmp_path / "line"
    line.write_text("go\n")
    argv = ["python3", "-I", "-S", starter, "folders", "once"]
    with line.open() as stdin:
        engine = subprocess.Popen(argv, executable=shutil.which("xargs"), stdin=stdin, stdout=subprocess.PIPE)
        assert engine.stdout is not None
        child = int(engine.stdout.readline())

    assert descent(child, own=1) is None
    engine.communicate(timeout=60)


@IS_POSIX
def test_a_program_with_the_words_of_the_one_shot_engine_is_not_the_engine() -> None:
    with running([sys.executable, *one_shot_command()[1:]], executable="/bin/cat") as pid:
        assert not is_own_program(pid)


@SHOWS_PROGRAMS
def test_only_a_process_of_the_trays_interpreter_is_the_trays_program() -> None:
    with running([sys.executable, "-I", "-c", "import sys; sys.stdin.read()"]) as pid:
        assert is_own_program(pid)
    assert is_own_program(os.getpid())
    assert not is_own_program(pid)


@IS_POSIX
def test_a_lineage_says_each_time_what_the_ancestors_say() -> None:
    with running(["/bin/cat"], executable="/bin/cat") as ours:
        below, beside = map(HookAncestry, (os.getpid(), ours))

        assert [below.descent(ours), below.descent(ours)] == [Descent((ours,), is_below_one_shot=False)] * 2
        assert [beside.descent(os.getpid()), beside.descent(os.getpid())] == [None, None]
    assert beside.descent(ours) is None


@pytest.mark.parametrize(
    ("command", "verbs"),
    [
        ("/usr/bin/python3 /usr/bin/hooktray test Stop", {"test"}),
        ("/usr/bin/python3 -I -m tray --home /h test Stop", {"test"}),
        ("hooktray.exe --home C:\\h test Stop", {"test"}),
        ("python3 /venv/bin/hooktray doctor", {"doctor"}),
        ("python3 -m tray --home /h agents --try", {"agents"}),
        ("python3 /venv/bin/hooktray run", {"run"}),
        ("python3 /venv/bin/hooktray list", set()),
        ("node /usr/bin/claude test hooktray", set()),
        ("sh -c hooktray-hook x", set()),
        ("make test", set()),
        ("", set()),
    ],
)
def test_a_command_of_hooktray_is_known_by_its_words(command: str, verbs: set[str]) -> None:
    words = command.split()

    assert {verb for verb in ("agents", "doctor", "run", "test") if is_command(words, verb)} == verbs


@IS_POSIX
def test_another_program_with_the_words_of_a_command_is_not_that_command(tmp_path: Path) -> None:
    command = script(tmp_path / "hooktray", SHELL_PARENT)

    with started_by(["sh", command, "test", "Stop"]) as (relay, _):
        assert not sent_by_command(relay, ("test",), DEPTH)
