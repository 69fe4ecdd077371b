"""Starts the tray: its log file, its core, which judges events, and then its user interface."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
import threading

from tray.app.core import TrayCore
from tray.app.runtime import App
from tray.app.shutdown import GRACE
from tray.approvals.callers.click_check import ClickTrust
from tray.execution.background import become_subreaper
from tray.execution.hook_process import raise_limit
from tray.installation.state_folder import AnotherTrayError, StateFolder
from tray.installation.welcome import echo
from tray.paths import Paths, drop_foreign_runtime
from tray.threads import end_without_memory

# Seconds that a thread may keep Python's lock while others wait for it. With Python's default of 5 ms, an event that
# arrives while the tray reads 5 MB of numbers takes 6.4 ms instead of 1.7 (median).
SWITCH_INTERVAL = 0.0001


def start(paths: Paths, *, headless: bool) -> int:
    """From a command line."""
    paths.prepare()
    _log_to(paths)
    if ignored := drop_foreign_runtime(os.environ):
        echo(ignored)
    return run(paths, headless=headless)


def run(
    paths: Paths,
    *,
    headless: bool = False,
    trust: type[ClickTrust] | None = None,
    grace: float | None = None,
) -> int:
    """The tray, until it quits. Returns the exit code.

    `grace` is how many seconds a hook then has to finish if an agent waits for it.
    """
    paths.prepare()
    sys.setswitchinterval(SWITCH_INTERVAL)
    threading.excepthook = end_without_memory
    folder = StateFolder(paths)
    try:
        folder.claim()
        become_subreaper()
        raise_limit()
        core = TrayCore(paths, folder, grace=GRACE if grace is None else grace)
        with core.shutdown.on_signals():  # a second signal must not cut `close` short
            app = _build(core, folder, headless=headless, trust=trust)
            with contextlib.closing(app):
                app.run()
    except AnotherTrayError:
        echo(f"Hooktray is already running for {paths.state}.")
    finally:
        folder.release()
    return 0


def _build(core: TrayCore, folder: StateFolder, *, headless: bool, trust: type[ClickTrust] | None) -> App:
    """The user interface around the core."""
    try:
        app = App(core, folder, headless=headless, trust=trust or ClickTrust)
    except BaseException:
        core.abort()
        raise
    core.attach(app)
    return app


def _log_to(paths: Paths) -> None:
    handler = logging.handlers.RotatingFileHandler(
        paths.logs / "hooktray.log", maxBytes=1 << 20, backupCount=2, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
