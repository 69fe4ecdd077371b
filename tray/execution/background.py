"""Ends processes that outlive their hooks: children in the background, and on Linux orphans.

There the tray is a subreaper, so no process escapes by forking twice: the kernel makes an orphan a child of the
tray's main thread. Other threads start hooks, so that thread has few children, and no other code waits for them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

from tray.execution.process import GRACE, OPENED_VARIABLE, RUN_VARIABLE, ProcessTree
from tray.execution.process_table import ProcessEntry, environment, read_entry
from tray.files import content
from tray.threads import start_thread

POLL_INTERVAL = 0.01  # seconds between two looks at a tree that was asked to end
SET_SUBREAPER, GET_SUBREAPER = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
REAP_DELAY = 1.0  # seconds that whoever started a process has to wait for it himself
REAP_INTERVAL = 0.2  # seconds between two looks


def become_subreaper() -> bool:
    """From here on orphans come to us; False where the system has no such thing."""
    os.environ[OPENED_VARIABLE] = "1"
    return sys.platform == "linux" and _prctl(SET_SUBREAPER, 1) == 0


def is_subreaper() -> bool:
    return sys.platform == "linux" and _prctl(GET_SUBREAPER) == 1


def _prctl(option: int, value: int | None = None) -> int:
    """Calls prctl(2) and returns its result; without `value`, the value that the kernel wrote, or -1 on failure."""
    import ctypes  # only the tray needs it

    given = ctypes.c_int(value or 0)
    done = int(ctypes.CDLL(None).prctl(option, ctypes.byref(given) if value is None else given, 0, 0, 0))
    return done if done or value is not None else given.value


def orphans() -> tuple[int, ...]:
    """Our main thread's children, dead ones too."""
    try:
        return tuple(map(int, content(f"/proc/self/task/{os.getpid()}/children").split()))
    except OSError:
        return ()


def is_stray(entry: ProcessEntry, variables: bytes) -> bool:
    """Whether an orphan with this environment has no hook's mark, and is nothing that we opened for the user."""
    if sys.platform == "win32" or entry.parent != os.getpid() or entry.session == os.getsid(0):
        return False
    return OPENED_VARIABLE.encode() not in variables and RUN_VARIABLE.encode() not in variables and is_subreaper()


def end_orphans() -> None:
    """End every orphan of any hook."""
    if sys.platform == "win32":
        return
    for pid in orphans():
        variables, entry = environment(pid), read_entry(pid)
        if entry is None or entry.is_dead:
            continue
        if is_stray(entry, variables) or (RUN_VARIABLE.encode() in variables and is_subreaper()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


class BackgroundProcesses:
    """Ends each tree at its deadline; one timer thread, there only while something is waiting."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._trees: dict[ProcessTree, float] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self._seen_dead: dict[tuple[int, float], float] = {}  # by number and start
        self._reap_lock = threading.Lock()
        self._next_reap = 0.0

    def reap(self) -> None:
        """Reaps dead orphans. Each hook that finds an orphan calls it when it ends.

        It never blocks. It leaves other code REAP_DELAY seconds to wait for a process that it started.
        """
        if sys.platform != "linux" or time.monotonic() < self._next_reap:
            return
        self._next_reap = time.monotonic() + REAP_INTERVAL
        dead, own = set[tuple[int, float]](), os.getsid(0)
        for pid in orphans():
            entry = read_entry(pid)
            if entry is not None and entry.is_dead and entry.session != own:  # in the tray's session: no hook's
                dead.add((pid, entry.start))
        with self._reap_lock:
            now = time.monotonic()
            self._seen_dead = {one: self._seen_dead.get(one, now) for one in dead}
            due = [pid for (pid, _), since in self._seen_dead.items() if now - since >= REAP_DELAY]
        for pid in due:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def add(self, tree: ProcessTree, deadline: float) -> None:
        """Let `tree` live until `deadline` (time.monotonic()); at once over when we are closed or have no thread."""
        with self._change:
            closed = self._closed
            if not closed:
                self._trees[tree] = deadline
                closed = not self._wake()
        if closed:
            end_trees([tree])

    def alive(self) -> dict[int, float]:
        """The process group and deadline of every tree of which a process still runs."""
        with self._change:
            trees = self._trees.items()
            return {tree.pid: end for tree, end in trees if tree.has_survivors() and tree.is_alive()}

    def close(self) -> None:
        """End all of them, and the thread."""
        with self._change:
            self._closed = True
            trees, self._trees = list(self._trees), {}
            thread = self._thread
            self._change.notify_all()
        if thread is not None:
            thread.join()
        end_trees(trees)
        end_orphans()

    def _wake(self) -> bool:
        if self._thread is None:
            thread = threading.Thread(target=self._watch, name="hook-background", daemon=True)
            try:
                start_thread(thread)
            except RuntimeError:  # the system has no thread left
                self._trees.clear()
                return False
            self._thread = thread
        self._change.notify_all()
        return True

    def _watch(self) -> None:
        while due := self._due():
            end_trees(due)

    def _due(self) -> list[ProcessTree]:
        """Wait for the next deadline; nothing when there is none to wait for."""
        with self._change:
            while self._trees:
                now = time.monotonic()
                due = [tree for tree, deadline in self._trees.items() if deadline <= now]
                if due:
                    for tree in due:
                        del self._trees[tree]
                    return due
                self._change.wait(min(min(self._trees.values()) - now, threading.TIMEOUT_MAX))
            self._thread = None
            return []


def end_trees(trees: list[ProcessTree]) -> None:
    """Ask them to end, and kill what does not."""
    trees = [tree for tree in trees if tree.has_survivors()]
    for tree in trees:
        tree.terminate()
    until = time.monotonic() + GRACE
    while any(tree.has_survivors() for tree in trees) and time.monotonic() < until:
        time.sleep(POLL_INTERVAL)
    for tree in trees:
        tree.sweep()
