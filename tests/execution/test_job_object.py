"""Which calls a Windows Job Object is made of, told by a library that records them (not run on Windows)."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import pytest

from tray.execution.job_object import (
    ACCOUNTING,
    ENDED,
    KILL_ON_CLOSE,
    LIMITS,
    MAY_JOIN,
    JobCounts,
    JobLimits,
    JobObject,
)

JOB, PROCESS = 70, 71


class Recorder:
    """kernel32 as far as it is used: remembers what it is asked, and refuses what `refuses` names."""

    def __init__(self, *refuses: str, active: int = 0) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.flags = 0
        self._refuses, self._active = refuses, active

    def __getattr__(self, name: str) -> Any:
        def call(*words: Any) -> int:
            self.calls.append((name, *(word for word in words if isinstance(word, int))))
            if name in self._refuses:
                return 0
            if name == "SetInformationJobObject":
                self.flags = words[2]._obj.basic.flags
            if name == "QueryInformationJobObject":
                words[2]._obj.active = self._active
            return {"CreateJobObjectW": JOB, "OpenProcess": PROCESS}.get(name, 1)

        return call


def test_a_job_ends_with_its_last_handle_and_takes_the_process_in() -> None:
    library = Recorder()

    assert JobObject(library).assign(4242)

    assert library.flags == KILL_ON_CLOSE
    assert library.calls == [
        ("CreateJobObjectW",),
        ("SetInformationJobObject", JOB, LIMITS, ctypes.sizeof(JobLimits)),
        ("OpenProcess", MAY_JOIN, 0, 4242),
        ("AssignProcessToJobObject", JOB, PROCESS),
        ("CloseHandle", PROCESS),
    ]


def test_its_end_is_the_end_of_all_and_comes_once() -> None:
    library = Recorder(active=3)
    job = JobObject(library)
    job.assign(4242)
    assert job.active() == 3
    library.calls.clear()

    job.end()
    job.end()
    job.close()

    assert library.calls == [("TerminateJobObject", JOB, ENDED), ("CloseHandle", JOB)]
    assert job.active() == 0


@pytest.mark.parametrize(
    "refused", ["CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"]
)
def test_a_job_that_windows_refuses_holds_nobody_and_leaves_no_handle_open(refused: str) -> None:
    library = Recorder(refused)

    assert not JobObject(library).assign(4242)

    names = [call[0] for call in library.calls]
    opened = {"CreateJobObjectW": JOB, "OpenProcess": PROCESS}
    handles = [handle for name, handle in opened.items() if name in names and name != refused]
    assert sorted(call[1] for call in library.calls if call[0] == "CloseHandle") == sorted(handles)


def test_how_many_live_is_zero_where_nobody_can_say() -> None:
    library = Recorder("QueryInformationJobObject", active=5)
    job = JobObject(library)

    assert job.active() == 0
    assert library.calls[-1] == ("QueryInformationJobObject", JOB, ACCOUNTING, ctypes.sizeof(JobCounts))


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the sizes are those of 64 bits")
def test_the_structures_have_the_sizes_that_windows_knows() -> None:
    assert (ctypes.sizeof(JobLimits), ctypes.sizeof(JobCounts)) == (144, 48)
