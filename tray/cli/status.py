"""The commands that only read: status, list, paths, schema. They work whether the tray runs or not."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

import typer

from tray.cli import Json, app, prepared_paths
from tray.cli.views import hook_rows, print_hooks, print_status, print_waiting
from tray.errors import IpcError, StoreError
from tray.paths import Paths
from tray.store.db import Database


@app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Whether hooks run, and what waits for you."""
    from tray.app import build_catalog, open_stores, unjudged_calls
    from tray.app.agent_sites import agent_states, hooks_in_question, unsupported_agents
    from tray.app.checks.checklist import broken_hooks

    paths = prepared_paths(context)
    try:
        stores = open_stores(paths, migrate=not paths.database.exists())
    except StoreError as error:  # the running tray may know why
        reported = [problem["text"] for problem in (tray_health(paths) or {}).get("problems", ())]
        raise StoreError(error.message, hint="\n  ".join([*reported, error.hint])) from error
    catalog = build_catalog(paths, stores)
    catalog.refresh()
    state = stores.switch.state()
    paused = state.paused_until if state.paused_until and state.paused_until > time.time() else None
    waiting = [one for one in catalog.states if one.waiting and one.digest]
    settings = sum(setting.waiting for setting in catalog.settings())
    health = tray_health(paths)
    losses = tuple(filter(None, (damage_notice(stores.database), stores.ledger.state.tampered)))
    problems = (catalog.configuration.problem, *losses, *catalog.configuration.warnings)
    row = {
        "enabled": state.enabled,
        "paused_until": paused,
        "running": health is not None,
        "pending": len(waiting) + settings + (health or {}).get("requests", 0),
        "dropped": stores.journal.dropped,
        "unjudged": unjudged_calls.number(paths),
        "icon": (health or {}).get("icon") or None,
        "pauses": [asdict(one) for one in state.pauses],
        "trouble": len(broken_hooks(paths, stores, catalog) | {*(health or {}).get("troubled", ())}),
        "agents": [
            {
                "agent": one.agent,
                "connected": one.connected,
                "last_event": one.last_event,
                "remedy": one.advice[0] if one.stale and one.advice else "",
            }
            for one in agent_states(paths, stores.journal, hooks_in_question(catalog))
            if one.installed or one.last_event
        ],
        "problems": (health or {}).get("problems", []),
        "unsupported": [asdict(one) for one in unsupported_agents(stores.journal)],
        "problem": "\n".join(filter(None, problems)) or None,
    }
    print(json.dumps(row)) if as_json else print_status(row, catalog.configuration, losses)


@app.command(name="list")
def list_hooks(context: typer.Context, as_json: Json = False) -> None:
    """Every hook: where it is declared, and where it stands."""
    from tray.app import build_catalog, open_stores

    paths = prepared_paths(context)
    stores = open_stores(paths, migrate=not paths.database.exists())
    catalog = build_catalog(paths, stores)
    catalog.refresh()
    rows = hook_rows(catalog)
    if as_json:
        _json_lines(rows)
        return
    print_hooks(rows, stores.switch.state().enabled, paths, catalog.configuration)
    if loss := damage_notice(stores.database) or stores.ledger.state.tampered:
        print(loss)
    print_waiting(catalog)


@app.command()
def paths(context: typer.Context, as_json: Json = False) -> None:
    """Where everything is."""
    found: Paths = context.obj
    rows = {
        "config": str(found.config),
        "state": str(found.state),
        "logs": str(found.logs),
        "socket": str(found.socket),
        "database": str(found.database),
        "relay": str(found.relay),
    }
    print(json.dumps(rows) if as_json else "\n".join(f"{name:9} {path}" for name, path in rows.items()))


@app.command()
def schema() -> None:
    """The JSON Schema of hooktray.yaml."""
    from tray.sources import schema as json_schema

    print(json_schema.text(), end="")


def damage_notice(database: Database) -> str:
    """The damage of the database that no person has seen yet; "" for none."""
    file = database.damage()
    if file is None:
        return ""
    what = f"the database was damaged and set aside as {file}" if file else "the database was lost"
    return f"{what}: all approvals are gone\n  approve the hooks again: tray's menu, Approvals, or `hooktray open`"


def tray_health(paths: Paths) -> Any:
    """What the running tray reports of itself; None when none runs."""
    from tray.ipc.client import send_request

    try:
        return send_request(paths.socket, {"op": "health"})
    except IpcError:
        return None


def _json_lines(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))
