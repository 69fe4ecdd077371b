"""`hooktray test --hook`: runs one approved hook on a synthetic event, and shows its output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import NotRequired, TypedDict

from tray.approvals.catalog import HookCatalog, HookState
from tray.doctor.agent_sites import working_folder
from tray.engine import trial
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.ports import EngineOptions
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError
from tray.execution.process import RUN_VARIABLE
from tray.paths import Paths
from tray.store.ledger import ApprovedHook
from tray.strict.document import suggest
from tray.text import printable

APPROVE = "approve it first: the tray's menu, Approvals, or `hooktray open`; only approved bytes run, also in a test"
REMEDIES = {"skipped": "`hooktray status` and `hooktray list` say what keeps hooks from running"}


class TrialRow(TypedDict):
    """What `hooktray test --hook --json` shows."""

    agent: str
    event: str
    hook: str
    verdict: str
    status: str
    ms: float
    reason: str
    rewrites: str | None
    rewrite: object
    context: str
    notes: list[str]
    stop: str | None
    cause: str
    stderr: str
    adjustments: list[str]
    stdout: str
    code: int
    expected: NotRequired[str]
    met: NotRequired[bool]


def run_trial(paths: Paths, agent: str, name: str, body: bytes, *, hook: str, expect: str, as_json: bool) -> int:
    """Run it and show what came out; exit 1 when something else was expected."""
    if expect and expect not in trial.RESULTS:
        raise HooktrayError(f"unknown verdict `{expect}`", hint=suggest(expect, trial.RESULTS))
    if RUN_VARIABLE in os.environ:
        raise HooktrayError("a hook cannot try hooks", hint="run this in a terminal of your own")
    stores = open_stores(paths)
    approved = approved_hook(paths, stores, hook)
    event = trial.synthetic_event(agent, name, body, environment=dict(os.environ), cwd=str(working_folder()))
    if trial.is_matched(approved, event):
        engine = trial.silent_engine(stores, EngineOptions(settings=ConfirmedSettings(paths, stores)))
        tried = trial.run(engine, approved, event)
    else:
        tried = trial.unmatched(approved, event)
    row = _row(tried, agent, name)
    if expect:
        row |= {"expected": expect, "met": expect == tried.result}
    row["cause"] = stores.copies.with_originals(approved.digest, row["cause"])
    row["stderr"] = stores.copies.with_originals(approved.digest, row["stderr"])
    advice = trial.advice(tried, approved.hook)
    report = json.dumps(row, ensure_ascii=False, default=str) if as_json else printable(_report(row, advice))
    print(report)
    if tried.result in REMEDIES:
        print(f"hooktray: {row['cause']}: the hook did not run\n  {REMEDIES[tried.result]}", file=sys.stderr)
    if expect and expect != tried.result:
        print(f"hooktray: expected {expect}, got {tried.result}", file=sys.stderr)
        return 1
    return 0


def approved_hook(paths: Paths, stores: Stores, word: str) -> ApprovedHook:
    """The hook in force that this word means. Raises HooktrayError, with what to do first."""
    one = hook_state(paths, stores, word)
    approved = stores.ledger.state.approved.get(one.key)
    if approved is None:
        raise _not_approved(one)
    return approved


def hook_state(paths: Paths, stores: Stores, word: str) -> HookState:
    """The declared hook that this word means. Raises HooktrayError."""
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    catalog.refresh()
    matches = catalog.find(word)
    if not matches:
        names = [one.hook.name for one in catalog.states]
        hint = suggest(word, names) if names else "no hook is declared yet: `hooktray paths` says where"
        raise HooktrayError(f"no hook is called `{word}`", hint=hint)
    if len(matches) > 1:
        raise HooktrayError(f"`{word}` may mean: {', '.join(one.key for one in matches)}", hint="write one of these")
    return matches[0]


def _not_approved(one: HookState) -> HooktrayError:
    return HooktrayError(f"{one.hook.name} is {one.state.value}, not approved", hint=one.problem or APPROVE)


def _row(tried: trial.Trial, agent: str, name: str) -> TrialRow:
    outcome, output = tried.outcome, tried.outcome.output
    return {
        "agent": agent,
        "event": name,
        "hook": tried.hook,
        "verdict": tried.result,
        "status": outcome.status.value,
        "ms": round(outcome.ms, 3),
        "reason": output.reason,
        "rewrites": output.rewrite.target.value if output.rewrite else None,
        "rewrite": output.rewrite.value if output.rewrite else None,
        "context": output.context,
        "notes": list(output.notes),
        "stop": output.stop,
        "cause": outcome.cause,
        "stderr": outcome.stderr,
        "adjustments": list(tried.decision.adjustments),
        "stdout": tried.answer.stdout.decode("utf-8", "replace"),
        "code": tried.answer.code,
    }


def _report(row: TrialRow, advice: str) -> str:
    values: Mapping[str, object] = row
    lines = [f"{row['hook']} on {row['event']} of {row['agent']}: {row['verdict']}, {row['ms']:.1f} ms"]
    for label in ("reason", "cause", "context", "stop", "stderr"):
        lines += [f"  {label}: {str(values[label]).strip()}"] if values[label] else []
    if row["rewrites"]:
        lines.append(f"  rewrites the {row['rewrites']}: {json.dumps(row['rewrite'], ensure_ascii=False)}")
    lines += [f"  note for you: {note}" for note in row["notes"]]
    lines += [f"  made to fit: {adjustment}" for adjustment in row["adjustments"]]
    lines += [f"  {advice}"] if advice else []
    lines.append(f"  the agent would be told: {row['stdout'].strip() or 'nothing'} (exit {row['code']})")
    lines += ["  as expected"] if row.get("met") else []
    return "\n".join(lines)
