"""The checks inside the running tray: which hooks are broken, a full report, what only it knows."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tray.approvals.catalog import HookCatalog, HookState
from tray.doctor.checklist import own_findings, render, run_checks
from tray.doctor.finding import CheckContext, Finding
from tray.doctor.hooks import broken_hooks
from tray.engine.stores import Stores
from tray.ipc.health import HealthSource, TrayHealth
from tray.language import say
from tray.paths import Paths
from tray.text import printable
from tray.threads import run_logged, start_thread

REPORT = "doctor.txt"
TYPED_SECONDS = 5.0  # that `/hooks doctor` takes at most; every agent waits longer for its answer


class LiveDoctor:
    """`broken` only reads files; `summary` and `report` run hooks, and `report` sends events, too."""

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog, tray: HealthSource) -> None:
        self._paths = paths
        self._stores = stores
        self._catalog = catalog
        self._tray = tray
        self._examined: tuple[HookState, ...] | None = None
        self._typed: _Examination | None = None
        self._typing = threading.Lock()
        self.broken: frozenset[str] = frozenset()

    def refresh(self) -> None:
        """Check again if the state of any hook has changed."""
        states = self._catalog.states
        if states is self._examined:
            return
        self._examined = states
        self.broken = broken_hooks(self._context()) if states else frozenset()

    def failing_hooks(self, failed: frozenset[str]) -> frozenset[str]:
        """The hooks that are broken by their files, and those of `failed` that still exist."""
        return self.broken | (failed & {one.hook.name for one in self._catalog.states})

    def summary(self, seconds: float = TYPED_SECONDS) -> str:
        """Returns what `/hooks doctor` has found after these seconds; it tries each hook in force on a test event.

        What takes longer goes on, and the next call returns it. So there is one such examination at a time.
        """
        with self._typing:
            typed = self._typed = self._typed or _Examination(self._context(static=False))
        is_done = typed.wait(seconds)
        with self._typing:
            if is_done and self._typed is typed:
                self._typed = None
        goes_on = () if is_done else (say("This goes on: type it again for the rest"),)
        return "\n".join([printable(render(list(typed.found))), *goes_on])

    def report(self) -> Path:
        """All checks, written to a file."""
        path = self._paths.reviews / REPORT
        path.parent.mkdir(mode=0o700, exist_ok=True)
        health: TrayHealth = {"pid": os.getpid(), **self._tray.health()}
        text = render(run_checks(self._paths, health, opened=(self._stores, self._catalog)))
        path.write_text(printable(text) + "\n", encoding="utf-8")
        return path

    def _context(self, *, static: bool = True) -> CheckContext:
        return CheckContext(paths=self._paths, stores=self._stores, catalog=self._catalog, static=static)


class _Examination:
    """Hooktray and its hooks are examined in a thread; `found` grows meanwhile."""

    def __init__(self, context: CheckContext) -> None:
        self.found: list[Finding] = []
        self._context = context
        words = ((self._run,), "an examination failed")
        self._thread = threading.Thread(target=run_logged, args=words, name="doctor", daemon=True)
        start_thread(self._thread)

    def wait(self, seconds: float) -> bool:
        """Returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        for one in own_findings(self._context):
            self.found.append(one)
