"""Computes what the relay's table guards: what approved hooks match, and after a loss what was guarded before.

Lost approvals go on guarding until the user has reviewed the loss. Their hooks do not run. The tray, the one-shot
engine and the relay ask about each call that these hooks would have judged, or deny it if the agent cannot ask.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from tray.agents import relay_table
from tray.agents.relay_table import TableContent
from tray.engine.guard_summary import guards
from tray.files import user_file
from tray.model.hook import Failure, Guard
from tray.paths import Paths
from tray.store.db import Database
from tray.store.ledger import LedgerState
from tray.store.lost_guards import LostGuards
from tray.store.switch import Switch

USUAL_WITHOUT_TRAY = "once"


class GuardSources(msgspec.Struct, frozen=True, kw_only=True):
    """What guards depend on. `waiting` has the names of the hooks that wait for the user; None = not known."""

    database: Database
    ledger: LedgerState
    switch: Switch
    agents: Collection[str]  # that are connected
    waiting: frozenset[str] | None = None
    after_quit: bool = False


def note_loss(paths: Paths, database: Database, ledger: LedgerState) -> None:
    """Notes what was guarded if approvals were lost while no tray ran. Call it before the relay's table is written.

    If the whole state folder is gone, only that table shows what was approved. Raises StoreError.
    """
    lost, table = LostGuards(database), _own_table(paths)
    had_approvals = bool(table.guards) or table.without_tray == "allow"  # confirmed, so that the table has no guards
    if not lost.is_noted and (lost.is_unreviewed or (not ledger.version and had_approvals)):
        lost.begin(strict(table.guards))


def connected_guards(sources: GuardSources, kept: Iterable[Guard]) -> tuple[Guard, ...]:
    """Returns what connected agents' approved hooks guard, and what is `kept` of lost approvals."""
    usual = guards(sources.ledger, sources.switch, sources.agents, after_quit=sources.after_quit)
    return (*usual, *(guard for guard in kept if guard.agent in sources.agents))


def kept_guards(sources: GuardSources) -> tuple[Guard, ...]:
    """Returns what lost approvals guard now, at any agent. Forgets the loss once the user has reviewed it."""
    lost = LostGuards(sources.database)
    found = lost.load()
    if lost.is_unreviewed and sources.waiting is not None and not sources.waiting and _is_seen(sources):
        lost.forget()
        return ()
    state = sources.switch.state()
    pauses = () if sources.after_quit else state.pauses
    return tuple(
        guard
        for guard in found
        if state.enabled
        and not any(pause.covers("", guard.agent) for pause in pauses)
        and not is_in_force(guard, sources.ledger, sources.waiting or frozenset())
    )


def _is_seen(sources: GuardSources) -> bool:
    """True if the user has read what happened, or has decided about a hook since."""
    ledger = sources.ledger
    return sources.database.damage() is None or bool(ledger.approved or ledger.revoked or ledger.denied)


def is_in_force(guard: Guard, ledger: LedgerState, waiting: Collection[str] = ()) -> bool:
    """True if the hooks that this guard comes from are approved again, so that they judge themselves."""
    approved = {one.hook.name for one in ledger.ordered}.difference(waiting)
    return bool(guard.hooks) and approved.issuperset(guard.hooks)


def strict(guarded: Iterable[Guard]) -> tuple[Guard, ...]:
    """Returns the guards as they hold after a loss: if the agent cannot ask, the call is denied."""
    denied = (replace(one, failure=Failure.BLOCK) if one.failure is Failure.ALLOW else one for one in guarded)
    return tuple(dict.fromkeys(denied))


def table_guards(paths: Paths) -> tuple[Guard, ...]:
    """Returns what the relay's table guards; nothing if it cannot be read or has another state folder."""
    return _own_table(paths).guards


def _own_table(paths: Paths) -> TableContent:
    with contextlib.suppress(OSError):
        table = relay_table.read(user_file(paths.relay_table))
        if table.state == str(paths.state):
            return table
    return relay_table.read(b"")
