"""What Linux says of one process below /proc, each as bytes."""

from __future__ import annotations

from tray.files import content


def stat(pid: int, limit: int = -1) -> list[bytes]:
    """Its line: state, parent, group, session …; split `limit` times at most. OSError when it has gone."""
    # The name in brackets before them may hold blanks and brackets itself.
    return content(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, limit)


def environment(pid: int) -> bytes:
    """What it was started with; empty for one that is not ours, or has gone."""
    try:
        return content(f"/proc/{pid}/environ")
    except OSError:
        return b""
