"""The commands about decisions: log, why, stats, export, replay. They work whether the tray runs or not."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from tray.cli.command_line import Argument, Json, Option, UsageError
from tray.cli.export import FORMATS, write
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
from tray.cli.follow import follow as follow_journal
from tray.cli.stats import print_stats, stats_rows
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_log
from tray.cli.why import report, why_row
from tray.engine.log_rows import LogEntry, log_report, row_filter
from tray.errors import HooktrayError
from tray.model.decision import Record
from tray.paths import Paths
from tray.store.db import Database, open_db
from tray.store.journal import Journal
from tray.store.stats import Statistics

MAX_ASKED = 1000  # rows that the tray is asked for: it serves agents meanwhile

Id = Annotated[str, Argument(metavar="ID", help="The id of a row of `hooktray log`, or its beginning.")]


def log(
    paths: Paths,
    as_json: Json = False,
    limit: Annotated[int, Option("--limit", "-n", metavar="N", minimum=1, maximum=10000, help="How many rows.")] = 20,
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
    wanted = parse_filters(
        agent=agent, project=project, session=session, event=event, verdict=verdict, hook=hook, text=text, since=since
    )
    if follow:
        follow_journal(_checked_journal(paths, wanted), paths.database, wanted, limit, as_json=as_json)
        return
    asked = ask_report(paths, "log", limit=limit, wanted=wanted) if limit <= MAX_ASKED else None
    entries = asked["entries"] if asked else ()
    entries = entries or _read_log(paths, limit, wanted)  # an empty log may be that of a misspelt name
    if not as_json:
        print_log(entries, filtered=any(value != "" for value in wanted.values()))
        return
    for entry in entries:
        print(json.dumps(entry["row"], ensure_ascii=False))


def _read_log(paths: Paths, limit: int, wanted: Mapping[str, object]) -> Sequence[LogEntry]:
    return log_report(_checked_journal(paths, wanted), limit, row_filter(wanted))


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
    try:
        with Path(file).open("x", encoding="utf-8", newline="") as out:
            Path(file).chmod(0o600)
            number = write(records, form, out)
    except FileExistsError:
        raise HooktrayError(f"{file}: is there already", hint="choose another name; nothing is overwritten") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise HooktrayError(f"{file}: {why}", hint="choose a folder that you can write to") from error
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
