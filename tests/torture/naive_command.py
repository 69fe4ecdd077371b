"""Commands, sockets and handlers that believe what they are told: `naive_command.py GRANTED MODE [WORD]`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit


def configuration(word: str) -> bool:
    """What a file allows itself is allowed."""
    return "*" in json.loads(Path(word).read_text())["protection"]["allow"]


def link(word: str) -> bool:
    return urlsplit(word).netloc == "approve"


def prompt(word: str) -> bool:
    """A prompt was typed by a person: by whom else?"""
    return str(json.load(sys.stdin)["prompt"]).startswith("/hooks off")


def socket(word: str) -> bool:
    """A request that says that it is the tray is the tray's."""
    return b'"tray"' in Path(word).read_bytes()


def stdin(word: str) -> bool:
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def variables(word: str) -> bool:
    return bool(os.environ.get("CI") or os.environ.get("HOOKTRAY_YES"))


MODES: tuple[Callable[[str], bool], ...] = (configuration, link, prompt, socket, stdin, variables)


def main(granted: str, mode: str, word: str = "") -> None:
    if {one.__name__: one for one in MODES}[mode](word):
        Path(granted).touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
