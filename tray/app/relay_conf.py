"""Writes what relays do while the tray is not running."""

from __future__ import annotations

import sys

from tray.approvals.callers.ancestry import ONE_SHOT
from tray.paths import Paths
from tray.sources.configuration import write_atomic


def write(paths: Paths, without_tray: str) -> None:
    folders = ("--config", paths.config, "--state", paths.state, "--logs", paths.logs)
    options = paths.relay_options if paths.home else folders
    argv = "\x1f".join(map(str, (sys.executable, *ONE_SHOT, *options)))
    text = f"without_tray={without_tray}\nonce={argv}\n".encode()
    if not paths.relay_conf.exists() or paths.relay_conf.read_bytes() != text:
        write_atomic(paths.relay_conf, text)
