"""A signal and the wait of the main thread."""

from __future__ import annotations

import subprocess
import sys

# Each round a signal comes at another moment around the wait; one that goes unnoticed leaves the program hanging.
ROUNDS = """
import os, signal, threading, time
from tray.desktop.mainloop import MainLoop
for n in range(100):
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
