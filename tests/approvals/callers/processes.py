"""Facts about processes, as the kernel reports them, for the tests of callers."""

from __future__ import annotations

from typing import Any

from tray.approvals.callers.person import ProcessFacts

ME = 1000
MARK = frozenset({"CLAUDECODE"})


def seen(pid: int, parent: int, name: str, **more: Any) -> ProcessFacts:
    return ProcessFacts(**{"pid": pid, "parent": parent, "uid": ME, "name": name, "is_system": True, **more})


INIT = seen(1, 0, "systemd", uid=0, environment=None)
SHELL = seen(60, 50, "bash")
CALLER = seen(70, 60, "python3.11", command=("python", "-m", "tray", "off"))
SSHD = seen(40, 1, "sshd", uid=0, environment=None)
