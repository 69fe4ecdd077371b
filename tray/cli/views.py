"""Prints the tables and reports of the commands that only read.

A table is cut to a terminal's width and coloured there; a file or a pipe gets tabs between the cells.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

from tray.paths import Paths
from tray.text import printable, sanitise

if sys.platform == "win32":
    import msvcrt

if TYPE_CHECKING:
    from tray.agents.registry import SupportedAgents
    from tray.doctor.reports import AgentsReport, ConfigurationRow, HookRow, ListReport, StatusReport, StatusRow
    from tray.engine.log_rows import LogEntry

CELL_LIMIT = 300  # characters
GAP = 2  # columns between two cells
MIN_WIDTH = 6  # columns that a cell keeps on a narrow terminal
STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}  # SGR, of ECMA-48
LOG_HEADS = ("id", "time", "agent", "project", "verdict", "what happened")
LOG_WORDS = {"rewrite": "rewritten", "trouble": "failed"}  # labels that are no verdicts; the others are
LOG_STYLES = {
    "unjudged": "bold red",
    "deny": "bold red",
    "ask": "yellow",
    "trouble": "magenta",
    "rewrite": "cyan",
    "allow": "green",
    "abstain": "dim",
}
STATE_STYLES = {
    "approved": "",
    "pending": "yellow",
    "changed": "yellow",
    "denied": "red",
    "revoked": "red",
    "inactive": "dim",
}


def print_status(report: StatusReport) -> None:
    row = report["row"]
    state = "on" if row["enabled"] else "off"
    if row["enabled"] and row["paused_until"]:
        state = f"paused until {clock(row['paused_until'])}"
    print(f"Hooks are {state}.")
    print(f"The tray is {'running' if row['running'] else 'not running; `hooktray run` starts it'}.")
    for problem in row["problems"]:
        print(f"{clock(problem['at'])}: {printable(problem['text'])}")
    for loss in report["losses"]:
        print(printable(loss))
    if row["unjudged"]:
        print(f"Calls that ran unjudged lately: {row['unjudged']}; `hooktray doctor` shows more.")
    if row["dropped"]:
        print(f"{row['dropped']} decisions could not be written down, ever: the disk was full, or the file in use.")
    if row["pending"]:
        print(f"{row['pending']} waiting for you: {_where_to_decide(row)}.")
    for pause in row["pauses"]:
        if pause["agent"] or pause["session"]:
            target = printable(" ".join(filter(None, (pause["agent"], pause["session"]))))
            print(f"Paused for {target} until {clock(pause['until'])}.")
    if row["trouble"]:
        print(f"Hooks in trouble: {row['trouble']}; `hooktray doctor` says why and what to do.")
    for one in row["agents"]:
        cure = "" if one["remedy"] else f"; `hooktray connect {one['agent']}` connects it"
        word = "connected" if one["connected"] else f"not connected{cure}"
        last = f"last event {clock(one['last_event'])}" if one["last_event"] else "no event yet"
        remedy = f"; {printable(one['remedy'])}" if one["remedy"] else ""
        print(f"{one['agent']}: {word}; {last}{remedy}.")
    for other in row["unsupported"]:
        last = clock(other["last_event"])
        print(f"{other['agent']}: not supported yet, its tool calls are not guarded; last event {last}.")
    if report["problem"]:
        print(f"The configuration is broken, the last good one is in force:\n{printable(report['problem'])}")
    _print_warnings(report)


def _where_to_decide(row: StatusRow) -> str:
    """Where to decide: the page is there without an icon, too."""
    if not row["running"]:
        return "start the tray; its menu and `hooktray open` show them"
    return "open the tray's menu, Approvals, or run `hooktray open`" if row["icon"] else "`hooktray open` shows them"


def print_hooks(report: ListReport, paths: Paths) -> None:
    print(f"Hooks are {'on' if report['enabled'] else 'off'} · {paths.config}")
    if report["problem"]:
        print(f"Broken, the last good one is in force: {printable(report['problem'])}")
    _print_warnings(report)
    rows = report["rows"]
    cells = [
        (row["name"], row["event"], row["runs"], _state_text(row), _short_source(row["source"], paths))
        for row in rows
    ]
    if rows:
        styles = [STATE_STYLES.get(row["state"], "") for row in rows]
        table(("hook", "event", "runs", "state", "source"), cells, styles)
    else:
        print("No hooks yet. Add one under `hooks:` in that file.")
    for line in filter(None, (report["loss"], *report["waiting"])):
        print(line)


def _print_warnings(report: ConfigurationRow) -> None:
    for warning in report["warnings"]:
        print(f"Warning: {printable(warning)}")


def print_log(entries: Sequence[LogEntry], *, filtered: bool) -> None:
    if not entries:
        print("No decision matches." if filtered else "No decisions yet.")
        return
    table(LOG_HEADS, [_log_cells(one) for one in entries], [LOG_STYLES[one["label"]] for one in entries])


def print_log_line(entry: LogEntry) -> None:
    """One row on one line, for following."""
    print_line([sanitise(cell, CELL_LIMIT) for cell in _log_cells(entry)], LOG_STYLES[entry["label"]])


def _log_cells(entry: LogEntry) -> tuple[str, ...]:
    row, label = entry["row"], LOG_WORDS.get(entry["label"], entry["label"])
    word = f"{label} (test)" if row["test"] else label
    return row["id"][:8], clock(row["at"]), row["agent"], row["project"], word, entry["sentence"]


def print_agents(report: AgentsReport) -> None:
    rows = [one["row"] for one in report["agents"]]
    cells = [
        (
            row["agent"],
            "yes" if row["installed"] else "no",
            f"{len(row['events'])} events" if row["connected"] else "no",
            one["trust"],
            {True: "yes", False: "no", None: "not tried"}[row["firing"]] if row["connected"] else "-",
            clock(row["last_event"]) if row["last_event"] else "never",
        )
        for row, one in zip(rows, report["agents"], strict=True)
    ]
    table(("agent", "installed", "connected", "trusted", "firing", "last event"), cells)
    for row in rows:
        for text in filter(None, (row["problem"], *row["advice"])):
            print(f"{row['agent']}: {printable(text)}")
    places = {row["agent"]: row["files"] for row in rows}
    for other in report["unsupported"]:
        where = ", ".join(places.get(other["row"]["line"], ()))
        print(printable(f"{other['row']['agent']}: {other['text']}" + (f"; they are in {where}" if where else "")))


def print_packages(agents: SupportedAgents) -> None:
    """The agents that packages bring, and those that are left out."""
    for agent, package in agents.packaged.packages.items():
        how = "" if agents[agent].connector else f"; `hooktray relay {agent} EVENT` is what it has to run"
        print(printable(f"{agent}: third-party, of the package {package}{how}"))
    for one in agents.packaged.broken:
        print(printable(f"{one.agent}: {one.text}; {one.remedy}"))


def _short_source(source: str, paths: Paths) -> str:
    """Short, for a table: from our folder on, whose path is printed above it, or from the home folder on."""
    near, home = f"{paths.config.parent}{os.sep}", f"{Path.home()}{os.sep}"
    return source.removeprefix(near) if source.startswith(near) else source.replace(home, f"~{os.sep}", 1)


def _state_text(row: HookRow) -> str:
    state, health = str(row["state"]), str(row["health"])
    if health == "ok":
        return state
    text = health if health.startswith(state) else f"{state}: {health}"
    return f"{text}; {row['remedy']}" if row["remedy"] else text


def clock(at: float) -> str:
    same_day = time.localtime(at)[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M", time.localtime(at))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """One line for each row; `styles` colour whole rows."""
    cells = [[sanitise(str(cell), CELL_LIMIT) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (heads, *cells):
            print("\t".join(row))
        return
    widths = _widths([heads, *cells], get_terminal_size().columns)
    for row, style in zip((heads, *cells), ("bold", *(styles or repeat("", len(cells)))), strict=True):
        line = (" " * GAP).join(_cut(cell, width) for cell, width in zip(row, widths, strict=True))
        print(_styled(line.rstrip(), style))


def print_line(cells: Sequence[str], style: str) -> None:
    """A row without its table: the terminal wraps it."""
    if sys.stdout.isatty():
        print(_styled((" " * GAP).join(cells), style), flush=True)
    else:
        print("\t".join(cells), flush=True)


def text_width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):  # drawn over the one before, or not at all
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _widths(rows: Sequence[Sequence[str]], available: int) -> list[int]:
    """The widest column gives way first, until all fit or none has more than `MIN_WIDTH`."""
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + GAP * (len(widths) - 1) - available
    while over > 0 and max(widths) > MIN_WIDTH:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
        over -= 1
    return widths


def _cut(cell: str, width: int) -> str:
    """The cell in exactly so many columns."""
    if text_width(cell) > width:
        while text_width(cell) >= width:
            cell = cell[:-1]
        cell += "…"
    return cell + " " * (width - text_width(cell))


def _styled(line: str, style: str) -> str:
    """The line in its colour, where the terminal shows colours and the user wants them."""
    if not style or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not _obeys_colours():
        return line
    return f"\x1b[{';'.join(str(STYLES[word]) for word in style.split())}m{line}\x1b[0m"


def _obeys_colours() -> bool:
    """Switch a Windows console to colour codes; False if it cannot print them."""
    if sys.platform == "win32":
        handle, mode = msvcrt.get_osfhandle(sys.stdout.fileno()), ctypes.c_ulong()
        kernel = ctypes.windll.kernel32
        return bool(
            kernel.GetConsoleMode(handle, ctypes.byref(mode))
            and kernel.SetConsoleMode(handle, mode.value | 4)  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
        )
    return True
