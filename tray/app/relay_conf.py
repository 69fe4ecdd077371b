"""Writes what `hooktray relay` and other relays without a table of their own do while the tray is not running."""

from __future__ import annotations

import os

from tray.execution.isolation import one_shot_command
from tray.paths import Paths
from tray.sources.configuration import write_atomic

SEPARATOR = "\x1f"


def once_command(paths: Paths) -> tuple[str, ...]:
    """The command of the one-shot engine, up to what the relay adds."""
    folders = ("--config", paths.config, "--state", paths.state, "--logs", paths.logs)
    options = paths.relay_options if paths.home else folders
    return (*one_shot_command(), *map(str, options))


def write(paths: Paths, without_tray: str) -> None:
    text = os.fsencode(f"without_tray={without_tray}\nonce={SEPARATOR.join(once_command(paths))}\n")
    if not paths.relay_conf.exists() or paths.relay_conf.read_bytes() != text:
        write_atomic(paths.relay_conf, text)
