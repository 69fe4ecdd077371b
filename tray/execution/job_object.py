"""A Windows Job Object: holds a hook's process and all its descendants, and ends them together, even without us.

Run under wine, not on Windows; the calls are also tested against a library that records them.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Protocol

LIMITS, ACCOUNTING = 9, 1  # JobObjectExtendedLimitInformation, JobObjectBasicAccountingInformation
KILL_ON_CLOSE = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
MAY_JOIN = 0x0101  # PROCESS_SET_QUOTA | PROCESS_TERMINATE: what AssignProcessToJobObject wants
SUSPENDED = 0x4  # CREATE_SUSPENDED: begins once it is in its job, so that no child of it is born outside
ENDED = 1  # the exit code of whoever is ended with the job


class Kernel32(Protocol):
    """What is used of kernel32, under its own names; all return 0 when they failed."""

    def CreateJobObjectW(self, security: None, name: None, /) -> int: ...  # noqa: N802
    def SetInformationJobObject(self, job: int, sort: int, limits: object, size: int, /) -> int: ...  # noqa: N802
    def OpenProcess(self, rights: int, inherit: int, pid: int, /) -> int: ...  # noqa: N802
    def AssignProcessToJobObject(self, job: int, process: int, /) -> int: ...  # noqa: N802
    def QueryInformationJobObject(  # noqa: N802
        self, job: int, sort: int, counts: object, size: int, length: None, /
    ) -> int: ...
    def TerminateJobObject(self, job: int, code: int, /) -> int: ...  # noqa: N802
    def CloseHandle(self, handle: int, /) -> int: ...  # noqa: N802


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_memory", ctypes.c_size_t),
        ("most_memory", ctypes.c_size_t),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("process_peak", ctypes.c_size_t),
        ("job_peak", ctypes.c_size_t),
    )


class JobCounts(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_int64 * 4),
        ("faults", ctypes.c_uint32),
        ("total", ctypes.c_uint32),
        ("active", ctypes.c_uint32),
        ("ended", ctypes.c_uint32),
    )


class JobObject:
    """One job. False and 0 where Windows refused; its holder then goes by the parents' numbers."""

    def __init__(self, library: Kernel32) -> None:
        self._library = library
        self._job = library.CreateJobObjectW(None, None)
        limits = JobLimits()
        limits.basic.flags = KILL_ON_CLOSE
        if self._job and not library.SetInformationJobObject(
            self._job, LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        ):
            self.close()

    def assign(self, pid: int) -> bool:
        """Put a process into the job, and with it whatever it starts."""
        process = self._library.OpenProcess(MAY_JOIN, 0, pid) if self._job else 0
        if not process:
            self.close()
            return False
        try:
            assigned = bool(self._library.AssignProcessToJobObject(self._job, process))
        finally:
            self._library.CloseHandle(process)
        if not assigned:
            self.close()
        return assigned

    def active(self) -> int:
        """How many of its processes live."""
        counts = JobCounts()
        size = ctypes.sizeof(counts)
        if not self._job or not self._library.QueryInformationJobObject(
            self._job, ACCOUNTING, ctypes.byref(counts), size, None
        ):
            return 0
        return int(counts.active)

    def end(self) -> None:
        """End all of them, and the job."""
        if self._job:
            self._library.TerminateJobObject(self._job, ENDED)
        self.close()

    def close(self) -> None:
        """Let go of it, which ends whoever is still in it."""
        job, self._job = self._job, 0
        if job:
            self._library.CloseHandle(job)


if sys.platform == "win32":

    def kernel() -> Kernel32:
        """kernel32, with handles as wide as they are."""
        found = ctypes.WinDLL("kernel32", use_last_error=True)
        handle, number = ctypes.c_void_p, ctypes.c_uint32
        found.CreateJobObjectW.restype = found.OpenProcess.restype = handle
        found.CreateJobObjectW.argtypes = (handle, handle)
        found.OpenProcess.argtypes = (number, ctypes.c_int, number)
        found.SetInformationJobObject.argtypes = (handle, ctypes.c_int, handle, number)
        found.AssignProcessToJobObject.argtypes = (handle, handle)
        found.QueryInformationJobObject.argtypes = (handle, ctypes.c_int, handle, number, handle)
        found.TerminateJobObject.argtypes = (handle, ctypes.c_uint)
        found.CloseHandle.argtypes = (handle,)
        return found
