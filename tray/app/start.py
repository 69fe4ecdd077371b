"""Starts the tray: its log file, its core, which judges events, and then its user interface."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tray.hidden_modules import hidden, lazy_patterns
from tray.lazy_modules import use_lazy_modules
from tray.paths import Paths, drop_foreign_runtime

if TYPE_CHECKING:
    from tray.app.click_trust import ClickTrust
    from tray.app.core import TrayCore
    from tray.app.runtime import App
    from tray.app.state_folder import StateFolder

# Seconds that a thread may keep Python's lock while others wait for it. With Python's default of 5 ms, an event that
# arrives while the tray reads 5 MB of numbers takes 6.4 ms instead of 1.7 (median).
SWITCH_INTERVAL = 0.0001


def start(paths: Paths, *, headless: bool) -> int:
    """From a command line."""
    paths.prepare()
    _log_to(paths)
    if ignored := drop_foreign_runtime(os.environ):
        _echo(ignored)
    return run(paths, headless=headless, echo=_echo)


def run(
    paths: Paths,
    *,
    headless: bool = False,
    echo: Callable[[str], None] = print,
    trust: type[ClickTrust] | None = None,
    grace: float | None = None,
) -> int:
    """The tray, until it quits. Returns the exit code.

    `grace` is how many seconds a hook then has to finish if an agent waits for it.
    """
    _import_lean()
    from tray.app.core import TrayCore
    from tray.app.shutdown import GRACE, stop_on_signal
    from tray.app.state_folder import AnotherTrayError, StateFolder
    from tray.execution.hook_process import raise_limit
    from tray.execution.orphans import become_subreaper
    from tray.threads import end_without_memory

    paths.prepare()
    sys.setswitchinterval(SWITCH_INTERVAL)
    threading.excepthook = end_without_memory
    folder = StateFolder(paths)
    try:
        folder.claim()
        become_subreaper()
        raise_limit()
        core = TrayCore(paths, folder, grace=GRACE if grace is None else grace)
        with stop_on_signal(core.quit):  # a second signal must not cut `close` short
            app = _build(core, folder, headless=headless, echo=echo, trust=trust)
            with contextlib.closing(app):
                app.run()
    except AnotherTrayError:
        echo(f"Hooktray is already running for {paths.state}.")
    finally:
        folder.release()
    return 0


def _build(
    core: TrayCore,
    folder: StateFolder,
    *,
    headless: bool,
    echo: Callable[[str], None],
    trust: type[ClickTrust] | None,
) -> App:
    """The user interface around the core."""
    from tray.app.click_trust import ClickTrust
    from tray.app.runtime import App

    try:
        app = App(core, folder, headless=headless, echo=echo, trust=trust or ClickTrust)
    except BaseException:
        core.abort()
        raise
    core.ui = app
    return app


def _import_lean() -> None:
    """Import asyncio without TLS, which we never use with it, and msgspec without newer types; this saves 2 MB.

    Their patterns and those of yaml are not compiled: that takes a tenth of a start, and events use none of them.
    `hmac` compares two texts without OpenSSL, which takes 3.4 MB and 3 ms to load; the lazy `hashlib` loads it when a
    passphrase or something large is hashed.
    """
    with hidden("_hashlib"):
        import hmac  # noqa: F401
    with hidden("ssl"):
        import asyncio  # noqa: F401
    with hidden("typing_extensions"), lazy_patterns():
        use_lazy_modules("msgspec.inspect")  # only a schema needs it
        import msgspec  # noqa: F401
        import yaml  # noqa: F401


def _echo(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal is closed: the tray runs all the same
        print(text, flush=True)


def _log_to(paths: Paths) -> None:
    handler = logging.handlers.RotatingFileHandler(
        paths.logs / "hooktray.log", maxBytes=1 << 20, backupCount=2, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
