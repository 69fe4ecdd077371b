from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import pytest
from threadless import no_thread_left

from tray.errors import HooktrayError
from tray.execution.process import Job
from tray.execution.request_job import AnyJob, Deadline, RequestJob, run_jobs
from tray.model.decision import Result

SHELL = Job(argv=("/bin/sh", "-c", "echo job"), cwd="/")


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What hangs ends with the test."""
    event = threading.Event()
    yield event
    event.set()


def far() -> float:
    return time.monotonic() + 60


def broken(deadline: Deadline) -> Result:
    raise HooktrayError("it is broken")


def test_results_come_in_the_order_of_the_work() -> None:
    jobs: list[AnyJob] = [RequestJob(ask=lambda deadline: Result(code=0, stdout=b"1")), SHELL]
    jobs.append(RequestJob(ask=lambda deadline: Result(code=0, stdout=b"2")))

    assert [result.stdout for result in run_jobs(jobs, far(), None)] == [b"1", b"job\n", b"2"]


def test_requests_run_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(deadline: Deadline) -> Result:
        both.wait()
        return Result(code=0)

    assert [one.code for one in run_jobs([RequestJob(ask=meet), RequestJob(ask=meet)], far(), None)] == [0, 0]


def test_what_hangs_where_nothing_can_cut_it_is_left_at_its_limit(released: threading.Event) -> None:
    def hang(deadline: Deadline) -> Result:
        released.wait()
        return Result(code=0)

    (result,) = run_jobs([RequestJob(ask=hang, timeout=0.2)], far(), None)

    assert (result.code, result.cause, result.timed_out) == (None, "timed out after 0.2 s", True)


def test_the_agents_deadline_ends_what_has_more_time_of_its_own(released: threading.Event) -> None:
    def hang(deadline: Deadline) -> Result:
        released.wait()
        return Result(code=0)

    (result,) = run_jobs([RequestJob(ask=hang, timeout=60)], time.monotonic() + 0.2, None)

    assert "the agent waits no longer" in result.cause


def test_trouble_stays_with_its_own_request() -> None:
    results = run_jobs([RequestJob(ask=broken), RequestJob(ask=lambda deadline: Result(code=0)), SHELL], far(), None)

    assert [(one.code, one.cause) for one in results] == [(None, "it is broken"), (0, ""), (0, "")]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of a thread's stack has a limit there")
def test_a_request_whose_thread_cannot_start_has_failed() -> None:
    with no_thread_left():
        results = run_jobs([RequestJob(ask=broken)], far(), None)

    assert [(one.code, "can't start new thread" in one.cause) for one in results] == [(None, True)]
