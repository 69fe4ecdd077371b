"""A hook that denies, and how it is approved with the pointer."""

from __future__ import annotations

from desk.wait import wait
from wine.windows import START, Tray

FIRST, APPROVE = 0, 1  # rows of submenus
GUARD = {"name": "守卫", "event": "tool_before", "tool": "Bash"}
REFUSES = "@echo off\r\nmore >nul\r\necho not today 1>&2\r\nexit /b 2\r\n"


def verdict(answer: dict[str, object]) -> object:
    output = answer.get("hookSpecificOutput", {})
    assert isinstance(output, dict)
    return output.get("permissionDecision")


def approve(tray: Tray) -> None:
    tray.windows.choose("approvals", FIRST, APPROVE)
    wait(lambda: [row["state"] for row in tray.rows("list")] == ["approved"], START, "the hook is approved")
