"""`hooktray replay`: a decision of the journal once more, as it would come out now."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path

from msgspec.structs import replace

from tray.cli.testing import approved_hook
from tray.engine import replay as engine_replay
from tray.engine import trial
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions
from tray.engine.record import reasons
from tray.engine.replay import Replay
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError, IpcError
from tray.execution.ancestry import descent
from tray.execution.hook_runs import is_opened
from tray.execution.process import RUN_VARIABLE
from tray.ipc.client import send_request
from tray.ipc.health import parse_health
from tray.model.decision import Record
from tray.model.event import Event
from tray.paths import Paths
from tray.text import printable


def replay(paths: Paths, record: Record, *, hook: str, against: str, as_json: bool) -> None:
    """Print what came out then and what would come out now."""
    _refuse_hooks(paths)
    stores = open_stores(paths)
    event = engine_replay.recorded_event(record, dict(os.environ))
    if hook:
        replayed = _replay_hook(paths, stores, event, record, hook, against)
    else:
        replayed = engine_replay.run(_engine(paths, stores), event, record)
    unapproved = str(Path(against).absolute()) if against else None
    if as_json:
        print(json.dumps(_row(replayed, record, unapproved), default=str))
    else:
        print(printable(_report(replayed, record, unapproved)))


def _refuse_hooks(paths: Paths) -> None:
    """A hook must not run hooks, or files without approval (law 8)."""
    try:
        tray = parse_health(send_request(paths.socket, {"op": "ping"})).get("pid", 0)
    except IpcError:
        tray = -1
    found = descent(os.getpid(), tray)
    if RUN_VARIABLE in os.environ or (found and not is_opened(found.child)):
        raise HooktrayError("a hook cannot replay", hint="run this in a terminal of your own")


def _replay_hook(paths: Paths, stores: Stores, event: Event, record: Record, hook: str, against: str) -> Replay:
    approved = approved_hook(paths, stores, hook)
    if engine_replay.uses_network(approved.hook):
        raise HooktrayError(
            f"{approved.hook.name} would send the event away", hint="`hooktray test --hook` sends a synthetic one"
        )
    file = Path(against).absolute() if against else None
    unchanged = nullcontext((approved, stores.copies))
    with engine_replay.replaced_file(approved, stores.copies, file) if file else unchanged as (target, copies):
        engine = _engine(paths, replace(stores, copies=copies))
        matched = trial.is_matched(target, event)
        tried = trial.run(engine, target, event) if matched else trial.unmatched(target, event)
    return Replay(decision=tried.decision, answer=tried.answer, inexact=engine_replay.inexact(record))


def _engine(paths: Paths, stores: Stores) -> Engine:
    return trial.silent_engine(stores, EngineOptions(settings=ConfirmedSettings(paths, stores)))


def _row(replayed: Replay, record: Record, unapproved: str | None) -> dict[str, object]:
    """What `hooktray replay --json` shows."""
    decision = replayed.decision
    return {
        "id": record.id,
        "agent": record.agent,
        "event": record.event,
        "then": {"verdict": record.verdict.word, "reason": record.reason},
        "now": {"verdict": decision.verdict.word, "reason": reasons(decision)},
        "same": record.verdict is decision.verdict,
        "rewrites": decision.rewrite.target.value if decision.rewrite else None,
        "rewrite": decision.rewrite.value if decision.rewrite else None,
        "hooks": [
            {
                "name": outcome.hook,
                "status": outcome.status.value,
                "verdict": outcome.output.verdict.word,
                "reason": outcome.output.reason or outcome.cause,
                "ms": round(outcome.ms, 3),
                "stderr": outcome.stderr,
            }
            for outcome in decision.outcomes
        ],
        "adjustments": list(decision.adjustments),
        "stdout": replayed.answer.stdout.decode("utf-8", "replace"),
        "code": replayed.answer.code,
        "inexact": list(replayed.inexact),
        "unapproved": unapproved,
    }


def _report(replayed: Replay, record: Record, unapproved: str | None) -> str:
    decision = replayed.decision
    lines = [f"Replay of {record.event} of {record.agent}, decision {record.id}. Nothing was sent or written down."]
    if unapproved:
        lines.append(f"NOT APPROVED: what ran is {unapproved}, because you named it.")
    before, after = (record.verdict.word, record.reason), (decision.verdict.word, reasons(decision))
    lines += [f"then: {', '.join(filter(None, before))}", f"now:  {', '.join(filter(None, after))}"]
    for outcome in decision.outcomes:
        status, why = outcome.status.value.replace("_", " "), outcome.output.reason or outcome.cause
        result = f"{status}, {outcome.output.verdict.word}, {round(outcome.ms, 3):.1f} ms"
        lines.append(f"  {outcome.hook}: {result}" + (f": {why}" if why else ""))
        lines += [f"    printed: {outcome.stderr.strip()}"] if outcome.stderr.strip() else []
    if rewrite := decision.rewrite:
        value = json.dumps(rewrite.value, ensure_ascii=False, default=str)
        lines.append(f"  rewrites the {rewrite.target.value}: {value}")
    lines += [f"  made to fit: {adjustment}" for adjustment in decision.adjustments]
    told = replayed.answer.stdout.decode("utf-8", "replace").strip() or "nothing"
    lines.append(f"The agent would be told: {told} (exit {replayed.answer.code})")
    lines += [f"inexact: {reason}" for reason in replayed.inexact]
    return "\n".join(lines)
