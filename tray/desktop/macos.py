"""What macOS requires: screen calls on the main thread, and sockets that launchd opened. No test runs it on a Mac."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

LAUNCHD_SOCKET = "Listener"  # its name in the property list


def post(work: Callable[[], object]) -> None:
    """Run it on the main thread, in the run loop that the icon owns."""
    import_module("PyObjCTools.AppHelper").callAfter(work)


def open_file(path: Path) -> None:
    subprocess.run(["open", path], stdin=subprocess.DEVNULL, timeout=10, check=False)


def activated_sockets() -> list[int]:
    """Returns the sockets that launchd opened for this process; see launch_activate_socket(3)."""
    system = ctypes.CDLL(None)
    numbers, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t()
    try:
        failed = system.launch_activate_socket(LAUNCHD_SOCKET.encode(), ctypes.byref(numbers), ctypes.byref(count))
    except AttributeError:
        return []
    if failed:
        return []
    found = [numbers[index] for index in range(count.value)]
    system.free(numbers)
    return found
