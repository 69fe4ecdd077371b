"""Hooks' children that live on after their hook: who they are, and their end."""

from __future__ import annotations

import sys
import threading
import time

from tray.engine.runners.orphans import Reaper
from tray.engine.runners.process import GRACE, Tree

if sys.platform != "win32":
    from tray.engine.runners.tree import end_escaped

LOOK = 0.01  # seconds between two looks at a tree that was asked to end


class Background:
    """Ends each tree at its deadline; one timer thread, there only while something is waiting."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._trees: dict[Tree, float] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self._reaper = Reaper()

    def look(self) -> None:
        """Let the dead go that came to us; after each turn, which is when there may be some."""
        self._reaper.look()

    def add(self, tree: Tree, deadline: float) -> None:
        """Let `tree` live until `deadline` (time.monotonic()); at once over when we are closed."""
        with self._change:
            closed = self._closed
            if not closed:
                self._trees[tree] = deadline
                self._wake()
        if closed:
            end([tree])

    def living(self) -> dict[int, float]:
        """The process group and deadline of every tree that still lives."""
        with self._change:
            return {tree.pid: deadline for tree, deadline in self._trees.items() if tree.left()}

    def close(self) -> None:
        """End all of them, and the thread."""
        with self._change:
            self._closed = True
            trees, self._trees = list(self._trees), {}
            thread = self._thread
            self._change.notify_all()
        if thread is not None:
            thread.join()
        end(trees)
        if sys.platform != "win32":
            end_escaped()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="hook-background", daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _watch(self) -> None:
        while due := self._due():
            end(due)

    def _due(self) -> list[Tree]:
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


def end(trees: list[Tree]) -> None:
    """Ask them to end, and kill what does not."""
    trees = [tree for tree in trees if tree.left()]
    for tree in trees:
        tree.terminate()
    until = time.monotonic() + GRACE
    while any(tree.left() for tree in trees) and time.monotonic() < until:
        time.sleep(LOOK)
    for tree in trees:
        tree.sweep()
