"""What macOS requires: every call that touches the screen on the main thread. Not run by our tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def post(work: Callable[[], object]) -> None:
    """Run it on the main thread, in the run loop that the icon owns."""
    import_module("PyObjCTools.AppHelper").callAfter(work)


def open_file(path: Path) -> None:
    subprocess.run(["open", path], stdin=subprocess.DEVNULL, timeout=10, check=False)
