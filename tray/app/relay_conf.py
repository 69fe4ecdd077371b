"""Tells the relays what to do when we are not there."""

from __future__ import annotations

import sys

from tray.engine.callers.ancestry import ONCE
from tray.paths import Paths
from tray.sources.configuration import write_whole


def write(paths: Paths, when_down: str) -> None:
    places = paths.named if paths.home else ("--config", paths.config, "--state", paths.state, "--logs", paths.logs)
    argv = "\x1f".join(map(str, (sys.executable, *ONCE, *places)))
    text = f"when_down={when_down}\nonce={argv}\n".encode()
    if not paths.relay_conf.exists() or paths.relay_conf.read_bytes() != text:
        write_whole(paths.relay_conf, text)
