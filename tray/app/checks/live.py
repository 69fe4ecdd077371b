"""The checks inside the running tray: which hooks are broken, a full report, what only it knows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tray.app import Stores
from tray.approvals.catalog import HookCatalog, HookState
from tray.desktop.icon import Icon
from tray.execution.command import BackgroundProcesses
from tray.paths import Paths
from tray.store.journal import Journal
from tray.text import printable

if TYPE_CHECKING:
    from tray.app.checks.context import CheckContext
    from tray.ipc.health import TrayHealth

REPORT = "doctor.txt"


class LiveDoctor:
    """`broken` and `summary` only read files; `report` runs hooks and sends events."""

    def __init__(self, paths: Paths, stores: Stores, catalog: HookCatalog, health: Callable[[], TrayHealth]) -> None:
        self._paths = paths
        self._stores = stores
        self._catalog = catalog
        self._health = health
        self._examined: tuple[HookState, ...] | None = None
        self.broken: frozenset[str] = frozenset()

    def refresh(self) -> None:
        """Check again if the state of any hook has changed."""
        states = self._catalog.states
        if states is self._examined:
            return
        from tray.app.checks.hooks import broken_hooks

        self._examined = states
        self.broken = broken_hooks(self._context()) if states else frozenset()

    def failing_hooks(self, failed: frozenset[str]) -> frozenset[str]:
        """The hooks that are broken by their files, and those of `failed` that still exist."""
        return self.broken | (failed & {one.hook.name for one in self._catalog.states})

    def summary(self) -> str:
        """What is broken or needs attention, for a user who typed `/hooks doctor`."""
        from tray.app.checks.checklist import own_findings, render

        return printable(render(own_findings(self._context())))

    def report(self) -> Path:
        """All checks, written to a file."""
        from tray.app.checks.checklist import render, run_checks

        path = self._paths.state / "reviews" / REPORT
        path.parent.mkdir(mode=0o700, exist_ok=True)
        health: TrayHealth = {"pid": os.getpid(), **self._health()}
        text = render(run_checks(self._paths, health, opened=(self._stores, self._catalog)))
        path.write_text(printable(text) + "\n", encoding="utf-8")
        return path

    def _context(self) -> CheckContext:
        from tray.app.checks.context import build_context

        return build_context(self._paths, self._stores, self._catalog, None, static=True)


def runtime_health(icon: Icon, background: BackgroundProcesses, journal: Journal, problems: TrayHealth) -> TrayHealth:
    """`problems` is what went wrong last with notifications and sounds, and which hooks fail."""
    now = time.monotonic()
    return {
        "icon": icon.name if icon.visible else "",
        "reason": icon.reason,
        "background": [(group, round(deadline - now, 1)) for group, deadline in background.alive().items()],
        "late": journal.late_count,
        **problems,
    }
