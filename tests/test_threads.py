"""The threads that others share."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from tray.event_loop import LONGEST_HOLD, LoopThread, ThrottledCall
from tray.threads import OUT_OF_MEMORY, WorkQueue


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


def test_what_is_asked_for_often_is_done_at_once_and_once_more_in_the_end(loop: LoopThread) -> None:
    done: list[float] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(time.monotonic()), 0.2)

    for _ in range(5):
        seldom.request()

    deadline = time.monotonic() + 20
    while len(done) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    first, last = done
    assert last - first >= 0.2


@pytest.mark.parametrize(("cost", "hold"), [(0.01, 0.5), (0.1, 5.0), (60.0, LONGEST_HOLD)])
def test_costly_work_is_done_less_often_and_no_call_waits_for_minutes(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch, cost: float, hold: float
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    done: list[int] = []
    seldom = ThrottledCall(loop.loop, lambda: done.append(1), 0.001)

    seldom.record_cost(cost)
    now += hold + 0.01
    seldom.request()

    assert len(done) == 1


def test_a_chore_that_is_done_is_let_go_though_none_comes_after_it() -> None:
    class Large:
        def use(self) -> None:
            pass

    work = WorkQueue("work")
    kept = weakref.WeakSet([large := Large()])
    work.post(large.use)
    del large

    deadline = time.monotonic() + 20
    while kept and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert not kept
    work.close()


def test_work_that_runs_more_work_of_its_own_queue_does_not_wait_for_itself() -> None:
    queue = WorkQueue("work")
    done: list[str] = []

    def outer() -> None:
        queue.run(lambda: done.append("inner"), timeout=300)
        done.append("outer")

    queue.run(outer, timeout=60)

    assert done == ["inner", "outer"]
    queue.close()


def test_work_that_fails_ends_neither_its_queue_nor_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    queue, done = WorkQueue("test"), threading.Event()

    def fail() -> None:
        raise ValueError("of our own")

    queue.post(fail)
    queue.post(done.set)

    assert done.wait(60)
    queue.close()
    assert "of our own" in caplog.text


def program(text: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which runs out of memory."""
    lines = f"import threading\nfrom tray.threads import end_without_memory, start_thread\n{text}"
    return subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this limit and this file")
def test_a_thread_without_memory_for_its_first_lines_cannot_be_started() -> None:
    done = program("""
import resource
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
threading.Thread(target=print).start()  # the next one gets its stack
resource.setrlimit(resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
try:
    start_thread(threading.Thread(target=print, args=("it runs",)))
except RuntimeError as error:
    print(error)
""")

    assert (done.stdout.strip(), done.returncode) == ("can't start new thread", 0)


def test_a_thread_that_ends_for_want_of_memory_ends_the_process() -> None:
    done = program("""
def work():
    raise MemoryError

threading.excepthook = end_without_memory
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("goes on")
""")

    assert (done.stdout, done.returncode) == ("", OUT_OF_MEMORY)


def test_a_thread_that_ends_for_another_reason_is_reported_and_ends_nothing_else() -> None:
    done = program("""
threading.excepthook = end_without_memory
thread = threading.Thread(target=int, args=("x",))
thread.start()
thread.join()
""")

    assert "invalid literal for int()" in done.stderr
    assert done.returncode == 0
