"""Processes are recognised again; what is read of them is what psutil reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from desk.wait import wait

from tray.execution.process_place import TOLERANCE, command_of, environment_of, is_alive, is_below, processes_from
from tray.execution.process_table import command_line, program_name
from tray.model.place import ProcessId

if sys.platform == "win32":
    pytest.skip("the programs of a POSIX system are started", allow_module_level=True)

SLEEP = ["/bin/sleep", "60"]


def test_a_process_and_those_above_it_have_the_starts_that_psutil_computes() -> None:
    with subprocess.Popen(SLEEP) as child:
        try:
            found = processes_from(child.pid)
            known = psutil.Process(child.pid)
            expected = [(one.pid, one.create_time()) for one in (known, *known.parents()) if one.pid > 1]
        finally:
            child.kill()

    assert [one.pid for one in found] == [pid for pid, _ in expected]
    assert [one.started for one in found] == pytest.approx([started for _, started in expected], abs=TOLERANCE)


def test_a_process_is_alive_until_it_ends_and_another_one_with_its_number_is_not_it() -> None:
    with subprocess.Popen(SLEEP) as child:
        try:
            process = processes_from(child.pid)[0]
            assert is_alive(process)
            assert not is_alive(ProcessId(process.pid, process.started - 2 * TOLERANCE))
        finally:
            child.kill()

    assert not is_alive(process)
    assert processes_from(child.pid) == ()
    assert command_of(child.pid) == ()
    assert program_name(child.pid) == ""


def test_the_environment_of_a_process_is_what_it_was_started_with() -> None:
    variables = {"ONE": "a=b", "EMPTY": "", "LINES": "1\n2"}
    with subprocess.Popen(SLEEP, env=variables) as child:
        try:
            found = wait(lambda: environment_of(child.pid), what="the kernel has its environment")
            assert found == variables
        finally:
            child.kill()


def test_a_long_name_of_a_program_is_whole(tmp_path: Path) -> None:
    program = tmp_path / "a-terminal-with-a-long-name"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        try:
            wait(lambda: command_line(child.pid) != (), what="the kernel has its command line")
            assert program_name(child.pid) == psutil.Process(child.pid).name() == program.name
            assert is_below(processes_from(child.pid), "a-terminal-with")
            assert not is_below((ProcessId(child.pid, 0.0),), "another")
        finally:
            child.kill()


def test_the_words_of_a_command_line_are_kept_also_empty_ones() -> None:
    argv = ["/bin/sh", "-c", "read line; true", "", "a b", ""]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as child:
        try:
            wait(lambda: command_line(child.pid) != (), what="the kernel has its command line")
            assert command_line(child.pid) == command_of(child.pid) == tuple(argv)
        finally:
            child.kill()


def test_a_command_line_that_a_program_rewrote_is_split_at_its_blanks() -> None:
    with subprocess.Popen(
        [
            "agent --print",
        ],
        executable="/bin/cat",
        stdin=subprocess.PIPE,
    ) as child:
        try:
            wait(lambda: command_line(child.pid) != (), what="the kernel has its command line")
            assert command_of(child.pid) == ("agent", "--print")
        finally:
            child.kill()


def test_our_own_process_is_below_its_own_program() -> None:
    assert is_below(processes_from(os.getpid()), program_name(os.getpid()))
    assert is_below((), "whatever")
