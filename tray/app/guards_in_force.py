"""What the relay's table guards: what approved hooks match, and after a loss what the lost ones matched.

Approvals that were lost with the database guard on until a person has reviewed them. Their hooks do not run; each
call that they would have judged is asked about or denied, by the tray, the one-shot engine and the relay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tray.agents import relay_table
from tray.agents.relay_table import TableContent
from tray.engine.guard_summary import guards
from tray.files import user_file
from tray.lazy_dataclass import dataclass
from tray.model.hook import Guard
from tray.paths import Paths
from tray.store.db import Database
from tray.store.earlier_approvals import EarlierApprovals, keep_lost
from tray.store.ledger import ApprovedHook, LedgerState
from tray.store.lost_guards import Loss, LostGuards
from tray.store.switch import Switch

USUAL_WITHOUT_TRAY = "once"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSources:
    """What decides about guards. `waiting` are the keys of the hooks that wait for a person; None = not known yet."""

    paths: Paths
    database: Database
    ledger: LedgerState
    switch: Switch
    agents: Collection[str]  # that are connected
    earlier: EarlierApprovals
    waiting: frozenset[str] | None = None
    after_quit: bool = False

    def of(self, ledger: LedgerState) -> tuple[Guard, ...]:
        return guards(ledger, self.switch, self.agents, after_quit=self.after_quit)


def note_loss(paths: Paths, database: Database, ledger: LedgerState) -> None:
    """Note that approvals were lost, before anything is written anew: rows do not count, or all of them are gone.

    A database that was damaged or deleted has noted it itself (store/db.py), unless the whole state folder is gone.
    Raises StoreError.
    """
    if ledger.tampered or (not ledger.version and _own_table(paths).guards):
        store = LostGuards(database)
        is_new = store.load() is None
        keep_lost(database.path, adds=not is_new)
        store.begin(is_total=is_new and not ledger.approved)


def guards_without(paths: Paths, ledger: LedgerState) -> tuple[Guard, ...]:
    """What the table guards for hooks that are not in force: for the one-shot engine, before a tray has looked."""
    return tuple(guard for guard in _own_table(paths).guards if not _is_in_force(guard, ledger))


def usual_guards(sources: GuardSources) -> tuple[Guard, ...]:
    """What approved hooks guard."""
    return sources.of(sources.ledger)


def kept_guards(sources: GuardSources) -> tuple[Guard, ...]:
    """What lost approvals go on guarding; remembers it, and forgets the loss once it was reviewed."""
    store = LostGuards(sources.database)
    loss = store.load()
    if loss is None:
        return ()
    text = _table_text(sources.paths) if loss.table is None else loss.table
    table = relay_table.read(text.encode())
    is_reviewed = sources.database.damage() is None or bool(_decided(sources.ledger))
    hooks = tuple(_undecided(sources, is_reviewed=is_reviewed))
    rows = tuple(_rows(sources, table, is_reviewed=is_reviewed))
    if _guarded_nothing(table) or (is_reviewed and sources.waiting is not None and not hooks and not rows):
        store.forget()
        return ()
    kept = Loss(table=text, guards=(*sources.of(LedgerState(ordered=hooks)), *rows))
    if kept != loss:
        store.save(kept)
    return kept.guards


def _undecided(sources: GuardSources, *, is_reviewed: bool) -> Iterator[ApprovedHook]:
    """The lost approvals that were not decided since; before the review also those not declared now."""
    decided = _decided(sources.ledger)
    for key, one in sources.earlier.lost.items():
        waits = not is_reviewed or sources.waiting is None or key in sources.waiting
        if key not in decided and waits:
            yield one


def _rows(sources: GuardSources, table: TableContent, *, is_reviewed: bool) -> Iterator[Guard]:
    """The guards of the table as it was, where it is not known which hooks were approved."""
    is_known = sources.earlier.lost and not sources.earlier.partial
    if is_known or (is_reviewed and sources.waiting is not None and not sources.waiting):
        return
    state = sources.switch.state()
    pauses = () if sources.after_quit else state.pauses
    for guard in table.guards if state.enabled else ():
        is_paused = any(pause.covers("", guard.agent) for pause in pauses)
        if guard.agent in sources.agents and not is_paused and not _is_in_force(guard, sources.ledger):
            yield guard


def _is_in_force(guard: Guard, ledger: LedgerState) -> bool:
    """Whether the hooks that made this row are approved, so that they judge by themselves."""
    return bool(guard.hooks) and {one.hook.name for one in ledger.ordered}.issuperset(guard.hooks)


def _decided(ledger: LedgerState) -> frozenset[str]:
    return frozenset({*ledger.approved, *ledger.revoked, *(key for key, _ in ledger.denied)})


def _guarded_nothing(table: TableContent) -> bool:
    """Whether the relay knew of no guard although its table was current: hooks were off, or there were none."""
    return bool(table.state) and table.without_tray == USUAL_WITHOUT_TRAY and not table.guards


def _table_text(paths: Paths) -> str:
    """The table as it is now, unless it is of another Hooktray or cannot be read."""
    try:
        text = user_file(paths.relay_table)
    except OSError:
        return ""
    return text.decode("utf-8", "replace") if relay_table.read(text).state == str(paths.state) else ""


def _own_table(paths: Paths) -> TableContent:
    return relay_table.read(_table_text(paths).encode())
