"""The commands about decisions: log, why, stats, export, replay. They work whether the tray runs or not."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TextIO

from msgspec.structs import asdict

from tray.cli import new_file
from tray.cli.command_line import Argument, Json, Option, UsageError
from tray.cli.filters import (
    Agent,
    Event,
    Hook,
    Project,
    Session,
    Since,
    Text,
    VerdictName,
    check_names,
    parse_filters,
    parse_since,
)
from tray.cli.follow import follow_journal
from tray.cli.tray_reports import ask_report
from tray.cli.views import clock, print_log, table
from tray.cli.why import report, why_row
from tray.engine.log_rows import LogEntry, log_report, row_filter
from tray.errors import HooktrayError
from tray.model.decision import Record
from tray.paths import Paths
from tray.store.db import Database, open_db
from tray.store.journal import Journal
from tray.store.stats import Statistics
from tray.text import printable

MAX_ROWS = 10_000
MAX_ASKED = 1000  # rows that the tray is asked for: it serves agents meanwhile

FORMATS = ("jsonl", "csv")
FORMULA_STARTS = tuple("=+-@|%\t\r\n\uff1d\uff0b\uff0d\uff20")  # of formulas; some spreadsheets take wide signs
COLUMNS = (
    "id", "at", "agent", "session", "project", "cwd", "event", "kind", "tool", "subject", "verdict", "reason",
    "ms", "wait_ms", "hooks_ms", "rewrites", "hooks", "notes", "adjustments", "problem", "payload", "digest",
    "masked", "masks", "answer", "ledger", "offline", "test", "alerted",
)  # fmt: skip
MAX_CELL = 32_000  # characters; spreadsheets cut a longer one

Id = Annotated[str, Argument(metavar="ID", help="The id of a row of `hooktray log`, or its beginning.")]


def log(
    paths: Paths,
    as_json: Json = False,
    limit: Annotated[int, Option("--limit", "-n", metavar="N", help="How many rows.")] = 20,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on with what comes in, oldest first.")] = False,
    agent: Agent = "",
    project: Project = "",
    session: Session = "",
    event: Event = "",
    verdict: VerdictName = "",
    hook: Hook = "",
    text: Text = "",
    since: Since = "",
) -> None:
    if not 1 <= limit <= MAX_ROWS:
        raise UsageError(f"argument --limit/-n: {limit} is not between 1 and {MAX_ROWS}")
    wanted = parse_filters(
        agent=agent, project=project, session=session, event=event, verdict=verdict, hook=hook, text=text, since=since
    )
    if follow:
        follow_journal(_checked_journal(paths, wanted), paths.database, wanted, limit, as_json=as_json)
        return
    asked = ask_report(paths, "log", limit=limit, wanted=wanted) if limit <= MAX_ASKED else None
    entries: Sequence[LogEntry] = asked["entries"] if asked else ()
    if not entries:  # the log may be empty because a name is misspelt
        entries = log_report(_checked_journal(paths, wanted), limit, row_filter(wanted))
    if not as_json:
        print_log(entries, filtered=any(value != "" for value in wanted.values()))
        return
    for entry in entries:
        print(json.dumps(entry["row"], ensure_ascii=False))


def why(paths: Paths, decision: Id, as_json: Json = False) -> None:
    record = _record(_journal(paths), decision)
    print(json.dumps(why_row(record)) if as_json else report(record))


def stats(paths: Paths, as_json: Json = False, since: Since = "7d") -> None:
    database, journal = _open(paths)
    begin = parse_since(since)
    rows = stats_rows(Statistics(database), begin, journal.dropped)
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    print_stats(rows, begin)


def export(
    paths: Paths,
    file: Annotated[str, Argument(metavar="FILE", help="Where to; - is stdout.")] = "-",
    form: Annotated[
        str, Option("--format", metavar="FORMAT", help="jsonl or csv; default: by the file's name.")
    ] = "",
    agent: Agent = "",
    project: Project = "",
    session: Session = "",
    event: Event = "",
    verdict: VerdictName = "",
    hook: Hook = "",
    text: Text = "",
    since: Since = "",
    as_json: Annotated[bool, Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    form = "jsonl" if as_json else form or ("csv" if file.lower().endswith(".csv") else "jsonl")
    if form not in FORMATS:
        raise HooktrayError(f"--format {form}: there is no such format", hint="write jsonl or csv")
    wanted = parse_filters(
        agent=agent, project=project, session=session, event=event, verdict=verdict, hook=hook, text=text, since=since
    )
    records = _checked_journal(paths, wanted).iterate(row_filter(wanted))
    if file == "-":
        write(records, form, sys.stdout)
        return
    with new_file(file, newline="") as out:
        number = write(records, form, out)
    print(f"{number} decisions written to {file}.", file=sys.stderr)


def replay(
    paths: Paths,
    decision: Id,
    hook: Annotated[str, Option("--hook", metavar="HOOK", help="Ask this approved hook alone.")] = "",
    against: Annotated[
        str,
        Option("--against", metavar="FILE", help="With --hook: run this file, not its copy."),
    ] = "",
    as_json: Json = False,
) -> None:
    if against and not hook:
        raise UsageError("--against says which file to run for a hook: name the hook with --hook")
    from tray.cli.replay import replay as run_replay  # the engine, which the other commands here do not need

    record = _record(_journal(paths), decision)
    run_replay(paths, record, hook=hook, against=against, as_json=as_json)


def _checked_journal(paths: Paths, wanted: Mapping[str, object]) -> Journal:
    """The journal, once the names in `wanted` are known ones."""
    journal = _journal(paths)
    check_names(wanted, journal, paths)
    return journal


def _journal(paths: Paths) -> Journal:
    return _open(paths)[1]


def _open(paths: Paths) -> tuple[Database, Journal]:
    """The journal by itself: the other stores take longer to import than it takes to read."""
    paths.prepare()
    database = open_db(paths.database)
    return database, Journal(database)


def _record(journal: Journal, word: str) -> Record:
    record = journal.get(word)
    if record is None:
        raise HooktrayError(f"no decision has the id `{word}`", hint="`hooktray log` shows the ids")
    return record


def stats_rows(statistics: Statistics, since: float, dropped: int) -> list[dict[str, object]]:
    """One row for each hook, one for each agent, and one for rows that were dropped."""
    hooks = [{"of": "hook", **asdict(one)} for one in statistics.hooks(since)]
    agents = [{"of": "agent", "agent": agent, **counts} for agent, counts in statistics.agents(since).items()]
    return [*hooks, *agents, {"of": "journal", "dropped": dropped}]


def print_stats(rows: Sequence[Mapping[str, object]], since: float) -> None:
    hooks = [row for row in rows if row["of"] == "hook"]
    agents = [row for row in rows if row["of"] == "agent"]
    if not agents:
        print(f"No decisions since {clock(since)}.")
    else:
        print(f"Since {clock(since)}:")
        heads = ("agent", "abstain", "allow", "ask", "deny", "unjudged")
        table(heads, [[str(row[head]) for head in heads] for row in agents])
    if hooks:
        names = ("hook", "runs", "failed", "timed_out", "skipped")
        titles = (*(name.replace("_", " ") for name in names), "p50", "p95")
        cells = [[*(str(row[name]) for name in names), _ms(row["p50"]), _ms(row["p95"])] for row in hooks]
        print()
        table(titles, cells)
    if dropped := rows[-1]["dropped"]:
        print(f"{dropped} decisions could not be written down.")


def _ms(ms: object) -> str:
    return f"{ms:.1f} ms"


def write(records: Iterable[Record], form: str, out: TextIO) -> int:
    """Returns how many rows there were."""
    number = 0
    table = csv.writer(out)
    if form == "csv":
        table.writerow(COLUMNS)
    for record in records:
        row = why_row(record)
        if form == "csv":
            table.writerow([cell(row[name]) for name in COLUMNS])
        else:  # in ASCII: a terminal obeys nothing of that
            out.write(json.dumps({name: row[name] for name in COLUMNS}) + "\n")
        number += 1
    return number


def cell(value: object) -> object:
    """One cell of a table: a number, or text that is not a formula."""
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = printable(text[:MAX_CELL], MAX_CELL)
    return f"'{plain}" if plain.lstrip(" ").startswith(FORMULA_STARTS) else plain
