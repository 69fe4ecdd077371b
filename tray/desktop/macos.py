"""What macOS wants: every call that touches the screen on the main thread. Not run by our tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def post(fn: Callable[[], None]) -> None:
    """Run it on the main thread, in the run loop that the icon owns."""
    import_module("PyObjCTools.AppHelper").callAfter(fn)


def open_file(path: Path) -> None:
    subprocess.run(["open", path], stdin=subprocess.DEVNULL, timeout=10, check=False)


def template(icon: Any) -> None:
    """Have the menu bar choose the ink: of a template picture it takes the shape alone."""
    picture = getattr(icon, "_icon_image", None)  # pystray knows no template pictures
    if picture is not None:
        picture.setTemplate_(True)
        icon._status_item.button().setImage_(picture)
