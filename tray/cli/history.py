"""The commands about decisions: log, why, stats, export, replay. They work whether the tray runs or not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tray.cli import Json, app, prepared_paths
from tray.cli.filters import Agent, Event, Hook, Project, Session, Since, Text, VerdictName, filters
from tray.errors import HooktrayError

if TYPE_CHECKING:
    from tray.model.decision import Record
    from tray.store.journal import Journal

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a row of `hooktray log`, or its beginning.")]


@app.command()
def log(
    context: typer.Context,
    as_json: Json = False,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=10000, help="How many rows.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", metavar="", help="Go on with what comes in, oldest first.")
    ] = False,
    agent: Agent = "",
    project: Project = "",
    session: Session = "",
    event: Event = "",
    verdict: VerdictName = "",
    hook: Hook = "",
    text: Text = "",
    since: Since = "",
) -> None:
    """The latest decisions, newest first."""
    from tray.cli.views import log_row, print_log

    journal = _journal(context)
    wanted = filters(
        agent=agent, project=project, session=session, event=event, verdict=verdict, hook=hook, text=text,
        since=since, journal=journal, hooks=lambda: _hook_names(context),
    )  # fmt: skip
    if follow:
        from tray.cli.follow import follow as follow_journal

        follow_journal(journal, prepared_paths(context).database, wanted, limit, as_json=as_json)
        return
    records = journal.recent(limit, brief=True, **wanted)
    if as_json:
        for record in records:
            print(json.dumps(log_row(record), ensure_ascii=False))
        return
    print_log(records, filtered=any(value not in ("", None) for value in wanted.values()))


@app.command()
def why(context: typer.Context, decision: Id, as_json: Json = False) -> None:
    """A readable account of one decision."""
    from tray.cli.why import report, why_row

    record = _record(_journal(context), decision)
    print(json.dumps(why_row(record)) if as_json else report(record))


@app.command()
def stats(context: typer.Context, as_json: Json = False, since: Since = "7d") -> None:
    """How often each hook ran, failed and how long it took; what each agent was answered."""
    from tray.app import open_stores
    from tray.cli.filters import parse_since
    from tray.cli.stats import print_stats, stats_rows
    from tray.store.stats import Statistics

    paths = prepared_paths(context)
    stores = open_stores(paths, migrate=not paths.database.exists())
    begin = parse_since(since)
    rows = stats_rows(Statistics(stores.database), begin, stores.journal.dropped)
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    print_stats(rows, begin)


@app.command()
def export(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is stdout.")] = "-",
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="jsonl or csv; default: by the file's name.")
    ] = "",
    agent: Agent = "",
    project: Project = "",
    session: Session = "",
    event: Event = "",
    verdict: VerdictName = "",
    hook: Hook = "",
    text: Text = "",
    since: Since = "",
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="The same as --format jsonl.")] = False,
) -> None:
    """All decisions, newest first, as JSON Lines or as CSV; redacted, as they are kept."""
    from tray.cli.export import FORMATS, write

    form = "jsonl" if as_json else form or ("csv" if file.lower().endswith(".csv") else "jsonl")
    if form not in FORMATS:
        raise HooktrayError(f"--format {form}: there is no such format", hint="write jsonl or csv")
    journal = _journal(context)
    wanted = filters(
        agent=agent, project=project, session=session, event=event, verdict=verdict, hook=hook, text=text,
        since=since, journal=journal, hooks=lambda: _hook_names(context),
    )  # fmt: skip
    records = journal.iterate(**wanted)
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


@app.command()
def replay(
    context: typer.Context,
    decision: Id,
    hook: Annotated[str, typer.Option("--hook", metavar="HOOK", help="Ask this approved hook alone.")] = "",
    against: Annotated[
        str,
        typer.Option("--against", metavar="FILE", help="With --hook: run this file, not its copy."),
    ] = "",
    as_json: Json = False,
) -> None:
    """What would happen now, were this event to come again. Nothing is sent, approved or written down."""
    if against and not hook:
        raise typer.BadParameter("--against says which file to run for a hook: name the hook with --hook")
    from tray.cli.replay import replay as run_replay

    record = _record(_journal(context), decision)
    run_replay(prepared_paths(context), record, hook=hook, against=against, as_json=as_json)


def _journal(context: typer.Context) -> Journal:
    from tray.app import open_stores

    paths = prepared_paths(context)
    return open_stores(paths, migrate=not paths.database.exists()).journal


def _hook_names(context: typer.Context) -> set[str]:
    """The names of all hooks that sources or the ledger know."""
    from tray.app import build_catalog, open_stores

    paths = prepared_paths(context)
    catalog = build_catalog(paths, open_stores(paths, migrate=False))
    catalog.refresh()
    return {one.hook.name for one in catalog.states}


def _record(journal: Journal, word: str) -> Record:
    record = journal.get(word)
    if record is None:
        raise HooktrayError(f"no decision has the id `{word}`", hint="`hooktray log` shows the ids")
    return record
