"""What Linux has of one process below /proc, each as bytes; and the clock of its start."""

from __future__ import annotations

import os
import sys
import time

from tray.files import content

LOOKS = 20  # at a process that is exchanging its program
LOOK_INTERVAL = 0.0005  # seconds between two of them
ENDING_OR_KERNEL = 0x4 | 0x200000  # PF_EXITING, PF_KTHREAD: these have no environment any more, or never
FLAGS, END_OF_ENVIRONMENT = 6, 48  # in `stat`


def stat(pid: int, limit: int = -1) -> list[bytes]:
    """Its line: state, parent, group, session …; split `limit` times at most. OSError when it has gone."""
    # The name in brackets before them may hold blanks and brackets itself.
    return content(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, limit)


def environment(pid: int) -> bytes:
    """What it was started with; empty for one that is not ours, or has gone."""
    try:
        for _ in range(LOOKS):
            found = content(f"/proc/{pid}/environ")
            if found or not _is_in_exec(pid):
                return found
            time.sleep(LOOK_INTERVAL)
    except (OSError, ValueError, IndexError):
        pass
    return b""


def _is_in_exec(pid: int) -> bool:
    """Whether it is between two programs: the old one's environment has gone, and the new one's is not there yet."""
    fields = stat(pid)
    return not int(fields[FLAGS]) & ENDING_OR_KERNEL and fields[END_OF_ENVIRONMENT] == b"0"


def boot_ticks() -> float:
    """Now, in the unit of the start in `stat`; 0 where there is no such thing."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")
