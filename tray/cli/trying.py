"""`hooktray test --hook`: one approved hook asked about an event that did not happen, and what it said."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import typer

from tray.app import Stores, engine, llm, roster, stores
from tray.app.doctor import remedies
from tray.app.wiring import here
from tray.engine import trial
from tray.engine.approval.roster import Standing
from tray.engine.runners.process import MARK
from tray.errors import HooktrayError
from tray.paths import Paths
from tray.store.ledger import Approved
from tray.strict import meant
from tray.text import printable

CURES = {"skipped": "`hooktray status` and `hooktray list` say what keeps hooks from running"}


def try_hook(paths: Paths, agent: str, name: str, body: bytes, *, hook: str, expect: str, as_json: bool) -> None:
    """Run it and show what came out; exit 1 when something else was expected."""
    if expect and expect not in trial.WORDS:
        raise HooktrayError(f"unknown verdict `{expect}`", hint=meant(expect, trial.WORDS))
    if MARK in os.environ:
        raise HooktrayError("a hook cannot try hooks", hint="run this in a terminal of your own")
    kept = stores(paths, migrate=not paths.database.exists())
    approved = approved_hook(paths, kept, hook)
    event = trial.synthetic(agent, name, body, environment=dict(os.environ), cwd=str(here()))
    if trial.asked(approved, event):
        nobody = trial.Nobody()
        tried = trial.run(
            engine(kept, nobody, nobody.later, None, llm=lambda: llm(paths, kept), rows=nobody), approved, event
        )
    else:
        tried = trial.unasked(approved, event)
    row = _row(tried, agent, name) | ({"expected": expect, "met": expect == tried.word} if expect else {})
    row |= {label: remedies.named(row[label], approved, kept.copies) for label in ("cause", "stderr")}
    print(json.dumps(row, ensure_ascii=False, default=str) if as_json else printable(_account(row)))
    if tried.word in CURES:
        print(f"hooktray: {row['cause']}: the hook did not run\n  {CURES[tried.word]}", file=sys.stderr)
    if expect and expect != tried.word:
        print(f"hooktray: expected {expect}, got {tried.word}", file=sys.stderr)
        raise typer.Exit(1)


def approved_hook(paths: Paths, kept: Stores, word: str) -> Approved:
    """The hook in force that this word means. Raises HooktrayError, with what to do first."""
    found = roster(paths, kept)
    found.refresh()
    those = found.find(word)
    if not those:
        names = [one.hook.name for one in found.standings]
        hint = meant(word, names) if names else "no hook is declared yet: `hooktray paths` says where"
        raise HooktrayError(f"no hook is called `{word}`", hint=hint)
    if len(those) > 1:
        raise HooktrayError(f"`{word}` may mean: {', '.join(one.key for one in those)}", hint="write one of these")
    approved = kept.ledger.book.approved.get(those[0].key)
    if approved is None:
        raise _not_approved(those[0])
    return approved


def _not_approved(one: Standing) -> HooktrayError:
    hint = (
        one.trouble
        or "approve it first: the tray's menu, Approvals, or `hooktray open`; only approved bytes run, also in a test"
    )
    return HooktrayError(f"{one.hook.name} is {one.state.value}, not approved", hint=hint)


def _row(tried: trial.Trial, agent: str, name: str) -> dict[str, Any]:
    outcome, reading = tried.outcome, tried.outcome.reading
    return {
        "agent": agent,
        "event": name,
        "hook": tried.hook,
        "verdict": tried.word,
        "status": outcome.status.value,
        "ms": round(outcome.ms, 3),
        "reason": reading.reason,
        "rewrites": reading.rewrite.target.value if reading.rewrite else None,
        "rewrite": reading.rewrite.value if reading.rewrite else None,
        "context": reading.context,
        "notes": list(reading.notes),
        "stop": reading.stop,
        "cause": outcome.cause,
        "stderr": outcome.stderr,
        "remarks": list(tried.decision.remarks),
        "stdout": tried.answer.stdout.decode("utf-8", "replace"),
        "code": tried.answer.code,
    }


def _account(row: dict[str, Any]) -> str:
    lines = [f"{row['hook']} on {row['event']} of {row['agent']}: {row['verdict']}, {row['ms']:.1f} ms"]
    for label in ("reason", "cause", "context", "stop", "stderr"):
        lines += [f"  {label}: {str(row[label]).strip()}"] if row[label] else []
    if row["rewrites"]:
        lines.append(f"  rewrites the {row['rewrites']}: {json.dumps(row['rewrite'], ensure_ascii=False)}")
    lines += [f"  note for you: {note}" for note in row["notes"]]
    lines += [f"  made to fit: {remark}" for remark in row["remarks"]]
    lines.append(f"  the agent would be told: {row['stdout'].strip() or 'nothing'} (exit {row['code']})")
    lines += ["  as expected"] if row.get("met") else []
    return "\n".join(lines)
