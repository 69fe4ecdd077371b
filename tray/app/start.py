"""Starts the tray from a command line: its log file, its messages on the terminal, its exit code."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os

from tray.hidden_modules import hidden, lazy_patterns
from tray.paths import Paths, drop_foreign_runtime


def start(paths: Paths, *, headless: bool) -> int:
    _import_lean()
    from tray.app.runtime import run

    paths.prepare()
    _log_to(paths)
    if ignored := drop_foreign_runtime(os.environ):
        _echo(ignored)
    return run(paths, headless=headless, echo=_echo)


def _import_lean() -> None:
    """Import asyncio without TLS, which nothing of ours speaks through it, and msgspec without newer types: 2 MB.

    The patterns of their modules and of yaml take a tenth of a start to compile; an event uses none of them.
    """
    with hidden("ssl"):
        import asyncio  # noqa: F401
    with hidden("typing_extensions"), lazy_patterns():
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
