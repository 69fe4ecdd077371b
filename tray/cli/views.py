"""What the reading commands print: rows for programs, tables and reports for people."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tray.cli.tables import CELL_LIMIT, print_line, table
from tray.paths import Paths
from tray.text import printable, sanitise

if TYPE_CHECKING:
    from tray.agents.registry import SupportedAgents
    from tray.doctor.reports import AgentsReport, ConfigurationRow, HookRow, ListReport, StatusReport, StatusRow
    from tray.engine.log_rows import LogEntry

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
    _print_table(report["rows"], paths)
    for line in filter(None, (report["loss"], *report["waiting"])):
        print(line)


def _print_table(rows: Sequence[HookRow], paths: Paths) -> None:
    if not rows:
        print("No hooks yet. Add one under `hooks:` in that file.")
        return
    cells = [
        (row["name"], row["event"], row["runs"], _state_text(row), _short_source(row["source"], paths))
        for row in rows
    ]
    table(("hook", "event", "runs", "state", "source"), cells, [STATE_STYLES.get(row["state"], "") for row in rows])


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
    for agent, package in agents.packages.items():
        how = "" if agents[agent].connector else f"; `hooktray relay {agent} EVENT` is what it has to run"
        print(printable(f"{agent}: third-party, of the package {package}{how}"))
    for one in agents.broken:
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
