from __future__ import annotations

import subprocess
import sys
import threading

from tray.desktop.mainloop import MainLoop

# Each round a signal comes at another moment around the wait; one that goes unnoticed leaves the program hanging.
ROUNDS = """
import os, signal, threading, time
from tray.desktop.mainloop import MainLoop
for n in range(300):
    loop = MainLoop()
    signal.signal(signal.SIGTERM, lambda number, frame: loop.stop())
    delay = n * 2e-6
    def send(delay=delay):
        until = time.perf_counter() + delay
        while time.perf_counter() < until:
            pass
        os.kill(os.getpid(), signal.SIGTERM)
    thread = threading.Thread(target=send)
    thread.start()
    loop.run()
    thread.join()
print("ended")
"""


def test_a_signal_ends_the_wait_whenever_it_comes() -> None:
    done = subprocess.run([sys.executable, "-c", ROUNDS], capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (0, b"ended\n"), done.stderr.decode()


def test_what_was_posted_runs_in_order_and_the_rest_of_it_before_the_end() -> None:
    loop, ran = MainLoop(), list[int]()
    for number in range(5):
        loop.post(lambda number=number: ran.append(number))  # type: ignore[misc]
    loop.stop()

    loop.run()

    assert ran == [0, 1, 2, 3, 4]


def test_others_can_post_while_it_waits() -> None:
    loop, ran = MainLoop(), list[str]()
    thread = threading.Thread(target=loop.run)
    thread.start()

    for _ in range(10_000):
        loop.post(lambda: ran.append("x"))
    loop.stop()
    thread.join(60)

    assert len(ran) == 10_000
