"""Builds the engine, which is the same for the tray, the one-shot `hooktray once`, trials and replays."""

from __future__ import annotations

from tray.engine.pipeline import Engine
from tray.engine.ports import EngineListener, EngineOptions, EngineState, RecordSink
from tray.engine.stores import Stores
from tray.threads import Workers


def build_engine(
    stores: Stores,
    listener: EngineListener,
    workers: Workers,
    options: EngineOptions,
    *,
    records: RecordSink | None = None,
) -> Engine:
    """Returns an engine. `records` takes its records in place of the journal, as in the one-shot `hooktray once`."""
    state = EngineState(
        ledger=stores.ledger,
        copies=stores.copies,
        switch=stores.switch,
        sessions=stores.sessions,
        runs=stores.runs,
        protected_paths=stores.protected_paths,
        records=records or stores.journal,
    )
    return Engine(state, listener, workers, options)
