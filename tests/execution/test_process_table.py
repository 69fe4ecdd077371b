"""The process table: one look for all who ask at the same time, and nobody missing who was there."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from desk import wait

if sys.platform == "win32":
    pytest.skip("there are no groups and sessions", allow_module_level=True)

from tray.execution.process import RUN_VARIABLE
from tray.execution.process_table import ProcessEntry, ProcessSnapshots, ProcessTable, environment, read_entry

# who: parent, group, session
PEOPLE = {10: (1, 10, 10), 11: (10, 10, 10), 12: (11, 12, 10), 13: (11, 13, 13), 14: (13, 13, 13), 20: (1, 20, 20)}
TABLE = ProcessTable({pid: ProcessEntry(*who, start=float(pid)) for pid, who in PEOPLE.items()})


def test_kin_is_whoever_is_of_the_group_or_the_session() -> None:
    assert TABLE.group(10) == {10, 11, 12}
    assert TABLE.group(12) == {12}
    assert TABLE.group(20) == {20}
    assert TABLE.group(99) == set()


def test_below_are_all_descendants_once() -> None:
    assert TABLE.descendants({11}) == {11, 12, 13, 14}
    assert TABLE.descendants({10, 13}) == {10, 11, 12, 13, 14}
    assert TABLE.descendants(()) == set()


def test_a_circle_of_parents_has_an_end() -> None:
    """Numbers come back while the table is read."""
    assert ProcessTable({1: ProcessEntry(2, 1, 1, 0.0), 2: ProcessEntry(1, 2, 2, 0.0)}).descendants({1}) == {1, 2}


def test_whoever_is_there_when_it_is_asked_for_is_in_the_table() -> None:
    looks = ProcessSnapshots()
    for mark in ("one", "another"):
        with subprocess.Popen(["/bin/sleep", "60"], env={RUN_VARIABLE: mark}, start_new_session=True) as child:
            try:
                wait(lambda: environment(child.pid), what="the kernel has its environment")
                table = looks.now()
                assert child.pid in table.entries
                assert table.entries[child.pid] == read_entry(child.pid)
                assert table.group(child.pid) == table.marked(mark) == {child.pid}
                assert table.marked(mark[:-1]) == set()
            finally:
                child.kill()
        assert child.pid not in looks.now().entries  # waited for by now
    assert os.getpid() not in looks.now().entries


def test_the_dead_are_not_in_it() -> None:
    with subprocess.Popen(["/bin/true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and not let go
        entry = read_entry(child.pid)
        assert entry is not None
        assert entry.is_dead
        assert child.pid not in ProcessSnapshots().now().entries


def test_many_who_ask_together_share_a_few_looks() -> None:
    looks, ready, found = ProcessSnapshots(), threading.Barrier(64), []

    def ask() -> None:
        ready.wait(60)
        found.append(looks.now())

    threads = [threading.Thread(target=ask) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 64
    assert len(set(map(id, found))) < 32


def test_each_who_asks_later_gets_a_later_look() -> None:
    looks = ProcessSnapshots()
    assert looks.now() is not looks.now()
