"""Puts the installed relay and its table back when they are removed or altered, and announces it."""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path
from typing import Protocol

from tray.doctor import relay_problems
from tray.doctor.finding import Cause, Finding
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.language import say
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.store.db import Database

ATTEMPTS = 3  # to put it back
CONFIRM = 0.4  # seconds between two looks: `connect` writes files and record one after the other

USUAL_AT_START = frozenset({Cause.RELAY_ELSEWHERE, Cause.RELAY_OTHER})  # another version, another Hooktray

log = logging.getLogger(__name__)


def files(paths: Paths) -> tuple[Path, ...]:
    """The files to watch."""
    return paths.relay, paths.relay_table


def altered_before_start(paths: Paths, database: Database) -> tuple[Finding, ...]:
    """What was altered while no tray ran, other than by an upgrade; called before the tray installs its relay."""
    with contextlib.suppress(HooktrayError):
        found = relay_problems.problems(paths, database)
        return tuple(one for one in found if one.cause not in USUAL_AT_START)
    return ()


class RelayWatchOwner(Protocol):
    """The part of ConnectionWatch that is used here, which calls `check`."""

    def recheck(self, seconds: float) -> None:
        """Call `check` again in so many seconds."""

    def relay_changed(self) -> None:
        """There is another `problem`."""


class RelayWatch:
    """All of it runs on one thread, the work queue's.

    `at_start` is what was altered before the tray started; the start has installed it again.
    """

    def __init__(
        self,
        owner: RelayWatchOwner,
        paths: Paths,
        database: Database,
        alerts: AlertService,
        at_start: tuple[Finding, ...] = (),
    ) -> None:
        self._owner = owner
        self._paths = paths
        self._database = database
        self._alerts = alerts
        self._seen: tuple[tuple[Finding, ...], float] = ((), 0.0)
        self._at_start = at_start
        self._announced: tuple[Finding, ...] = ()
        self.problem = ""  # what could not be mended

    @property
    def is_pending(self) -> bool:
        """Whether a problem was seen only once: it is announced before anything is written."""
        return bool(self._seen[0])

    def announce_start(self) -> None:
        """After the relay was installed."""
        if self._at_start:
            with contextlib.suppress(HooktrayError):
                self._report(self._at_start, relay_problems.problems(self._paths, self._database))
            self._at_start = ()

    def check(self) -> None:
        """Mend what is ours. A relay that leads to another Hooktray, which is still there, is only announced."""
        try:
            found = relay_problems.problems(self._paths, self._database)
        except HooktrayError as error:  # the database cannot be read, which has an alert of its own
            log.warning("the relay cannot be checked: %s", error.message)
            return
        if found and found != self._announced and not self._is_confirmed(found):
            self._owner.recheck(CONFIRM)
            return
        left = self._mend(found) if found else ()
        if found != self._announced or left != found:
            self._report(found, left)
        elif not found:
            self._seen = ((), 0.0)

    def _is_confirmed(self, found: tuple[Finding, ...]) -> bool:
        known, at = self._seen
        if known != found:
            self._seen = (found, time.monotonic())
            return False
        return time.monotonic() - at >= CONFIRM

    def _mend(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """What is left. It may be removed again while it is put back, which does not end the attempts."""
        try:
            left = found
            for _ in range(ATTEMPTS):
                left = left and installed_relay.mend(self._paths, self._database)
            return left
        except HooktrayError as error:
            log.warning("the relay cannot be put back: %s", error.message)
            return found

    def _report(self, found: tuple[Finding, ...], left: tuple[Finding, ...]) -> None:
        self._seen = ((), 0.0)
        self._announced = left
        before, self.problem = self.problem, " · ".join(one.message for one in left)
        if found:
            text = " · ".join(one.message for one in found)
            outcome = say("Nothing could be put back") if left else say("It was put back")
            log.warning("%s: %s", text, "not put back" if left else "put back")
            self._alerts.alarm(say("The relay that agents run was changed"), f"{text} · {outcome}")
        if self.problem != before:
            self._owner.relay_changed()
