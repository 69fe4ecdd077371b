"""Hooks' children that live on after their hook: who they are, and their end."""

from __future__ import annotations

import threading
import time

from tray.execution.orphans import Reaper, end_orphans
from tray.execution.process import GRACE, ProcessTree
from tray.threads import start_thread

POLL_INTERVAL = 0.01  # seconds between two looks at a tree that was asked to end


class BackgroundProcesses:
    """Ends each tree at its deadline; one timer thread, there only while something is waiting."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._trees: dict[ProcessTree, float] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self._reaper = Reaper()

    def reap(self) -> None:
        """Reap the dead that became our children; called after each hook that finds any children of that kind."""
        self._reaper.reap()

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
        """The process group and deadline of every tree that still lives."""
        with self._change:
            return {tree.pid: deadline for tree, deadline in self._trees.items() if tree.has_survivors()}

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
