"""Sockets that launchd opened for this process: launch_activate_socket(3) of macOS. No Mac has run it."""

from __future__ import annotations

import ctypes

LAUNCHD_SOCKET = "Listener"  # its name in the property list


def activated_sockets(name: str) -> list[int]:
    """The descriptors of this name in the property list; none when launchd did not start this process."""
    system = ctypes.CDLL(None)
    numbers, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t()
    try:
        failed = system.launch_activate_socket(name.encode(), ctypes.byref(numbers), ctypes.byref(count))
    except AttributeError:
        return []
    if failed:
        return []
    found = [numbers[index] for index in range(count.value)]
    system.free(numbers)
    return found
