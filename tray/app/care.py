"""The examination inside the running tray: which hooks are broken, and the whole of it as a text to read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tray.app import Stores
from tray.engine.approval.roster import Roster, Standing
from tray.paths import Paths
from tray.text import printable

if TYPE_CHECKING:
    from tray.app.doctor import Case

REPORT = "doctor.txt"


class Care:
    """`trouble` and `summary` come from looking alone; only `report` runs hooks and sends events."""

    def __init__(
        self, paths: Paths, kept: Stores, roster: Roster, vitals: Callable[[], Mapping[str, object]]
    ) -> None:
        self._paths = paths
        self._kept = kept
        self._roster = roster
        self._vitals = vitals
        self._seen: tuple[Standing, ...] | None = None
        self.trouble: frozenset[str] = frozenset()

    def look(self) -> None:
        """Look again, if any hook stands otherwise than the last time."""
        standings = self._roster.standings
        if standings is self._seen:
            return
        from tray.app.doctor import hooks, troubled

        self._seen = standings
        self.trouble = troubled(hooks.check(self._case())) if standings else frozenset()

    def troubled(self, asked: frozenset[str]) -> frozenset[str]:
        """The hooks in trouble: by looking at them, and when they were `asked`, of those that are still there."""
        return self.trouble | (asked & {one.hook.name for one in self._roster.standings})

    def summary(self) -> str:
        """What is broken or deserves a look, for whoever typed `/hooks doctor`."""
        from tray.app.doctor import Health, hooks, ours, told

        case = self._case()
        checks = (ours.switch, ours.configuration, ours.sources, hooks.check, ours.database)
        found = [one for check in checks for one in check(case) if one.health is not Health.OK]
        return printable(told(found))

    def report(self) -> Path:
        """The whole examination, written down."""
        from tray.app.doctor import examine, told

        path = self._paths.state / "reviews" / REPORT
        path.parent.mkdir(mode=0o700, exist_ok=True)
        vitals = {"pid": os.getpid(), **self._vitals()}
        text = told(examine(self._paths, vitals, inside=(self._kept, self._roster)))
        path.write_text(printable(text) + "\n", encoding="utf-8")
        return path

    def _case(self) -> Case:
        from tray.app.doctor import case

        return case(self._paths, self._kept, self._roster, None, static=True)
