"""macOS by AppleScript: the tab of Terminal and of iTerm2; of Ghostty and of others the program's window."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from tray.desktop.focus.windows_of import FocusError, Raised, run
from tray.execution.process_place import terminal_of
from tray.model.place import Place

TTY = re.compile(r"/dev/ttys\d{1,4}")
# Only text that matched a strict form is put into a script.
TERMINAL = """
tell application "Terminal"
  repeat with w in windows
    repeat with t in tabs of w
      if tty of t is "{tty}" then
        set selected of t to true
        set index of w to 1
        activate
        return "found"
      end if
    end repeat
  end repeat
end tell
"""
ITERM = """
tell application "iTerm2"
  repeat with w in windows
    repeat with t in tabs of w
      repeat with s in sessions of t
        if id of s is "{session}" then
          select s
          select t
          select w
          activate
          return "found"
        end if
      end repeat
    end repeat
  end repeat
end tell
"""
GHOSTTY = 'tell application "Ghostty" to activate\nreturn "window"'
PROCESS = """
tell application "System Events"
  set frontmost of (first process whose unix id is {pid}) to true
  return "window"
end tell
"""


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    if sys.platform != "darwin":
        return None
    for script in scripts(place, terminal_of(place.processes[0].pid) if place.processes else ""):
        try:
            said = run(("/usr/bin/osascript", "-e", script)).strip()
        except FocusError:  # this program has no such window, or may not be asked
            continue
        if said in ("found", "window"):
            return Raised(said == "found")
    return None


def scripts(place: Place, tty: str) -> list[str]:
    """What is tried, in order."""
    found = []
    if place.program == "iTerm.app" and place.iterm:
        found.append(ITERM.replace("{session}", place.iterm))
    if place.program == "Apple_Terminal" and TTY.fullmatch(tty):
        found.append(TERMINAL.replace("{tty}", tty))
    if place.program == "ghostty":
        found.append(GHOSTTY)
    return found + [PROCESS.replace("{pid}", str(one.pid)) for one in place.processes]
