"""Processes are recognised again; what is read of them is what psutil reads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from desk.wait import wait

from tray.execution.process_place import TOLERANCE, command_of, environment_of, is_alive, is_below, processes_from
from tray.execution.process_table import command_line, program_name
from tray.model.place import ProcessId

if sys.platform == "win32":
    pytest.skip("the programs of a POSIX system are started", allow_module_level=True)

SLEEP = ("/bin/sleep", "60")


@contextmanager
def running(*argv: str, **keys: Any) -> Iterator[int]:
    with subprocess.Popen(argv, stdin=subprocess.PIPE, **keys) as child:
        try:
            wait(lambda: command_line(child.pid) != (), what="the kernel has its command line")
            yield child.pid
        finally:
            child.kill()


def test_a_process_and_those_above_it_have_the_starts_that_psutil_computes() -> None:
    with running(*SLEEP) as pid:
        found = processes_from(pid)
        known = psutil.Process(pid)
        expected = [(one.pid, one.create_time()) for one in (known, *known.parents()) if one.pid > 1]

    assert [one.pid for one in found] == [pid for pid, _ in expected]
    assert [one.started for one in found] == pytest.approx([started for _, started in expected], abs=TOLERANCE)


def test_a_process_is_alive_until_it_ends_and_another_one_with_its_number_is_not_it() -> None:
    with running(*SLEEP) as pid:
        process = processes_from(pid)[0]
        assert is_alive(process)
        assert not is_alive(ProcessId(process.pid, process.started - 2 * TOLERANCE))

    assert not is_alive(process)
    assert (processes_from(pid), command_of(pid), program_name(pid)) == ((), (), "")


def test_the_environment_of_a_process_is_what_it_was_started_with() -> None:
    variables = {"ONE": "a=b", "EMPTY": "", "LINES": "1\n2"}
    with running(*SLEEP, env=variables) as pid:
        assert wait(lambda: environment_of(pid), what="the kernel has its environment") == variables


def test_a_long_name_of_a_program_is_whole(tmp_path: Path) -> None:
    program = tmp_path / "a-terminal-with-a-long-name"
    program.symlink_to("/bin/sleep")
    with running(str(program), "60") as pid:
        assert program_name(pid) == psutil.Process(pid).name() == program.name
        assert is_below(processes_from(pid), "a-terminal-with")
        assert not is_below((ProcessId(pid, 0.0),), "another")


def test_the_words_of_a_command_line_are_kept_also_empty_ones() -> None:
    argv = ("/bin/sh", "-c", "read line; true", "", "a b", "")
    with running(*argv) as pid:
        assert command_line(pid) == command_of(pid) == argv


def test_a_command_line_that_a_program_rewrote_is_split_at_its_blanks() -> None:
    with running("agent --print", executable="/bin/cat") as pid:
        assert command_of(pid) == ("agent", "--print")


def test_our_own_process_is_below_its_own_program() -> None:
    assert is_below(processes_from(os.getpid()), program_name(os.getpid()))
    assert is_below((), "whatever")
