"""Every hook and where it stands: what the sources propose, against what the ledger approved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tray.approvals import confirmations
from tray.approvals.bundle import Inspection, Stamp, file_stamps, inspect
from tray.approvals.checks import describe
from tray.approvals.confirmations import Setting
from tray.approvals.identity import reconcile
from tray.approvals.programs import MissingError
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState, Hook
from tray.sources.configuration import Configuration, file_stamp
from tray.store.copies import Bundle, Copies, DamagedError
from tray.store.ledger import ApprovedHook, Ledger, LedgerState
from tray.store.salvage import EarlierApprovals
from tray.store.trial_results import TrialResults

REMOVED = "removed"  # stands for a digest where an approved hook is no longer declared


@dataclass(frozen=True, slots=True, kw_only=True)
class HookState:
    """One hook, as proposed, and what the ledger says of it."""

    key: str
    hook: Hook
    state: ApprovalState
    digest: str  # of what is proposed now; REMOVED when nothing is
    position: tuple[int, int]
    approved: str = ""  # digest in force; "" when none
    covered: tuple[str, ...] = ()
    inspection: Inspection | None = (
        None  # what was found by looking at what is proposed; None where that cannot be read
    )
    health: str = ""  # what a person should know; "" when all is well
    remedy: str = ""  # what to do about that, where it keeps the hook from being approved
    missing: bool = False  # its program or script is not there

    @property
    def waiting(self) -> bool:
        return self.state in (ApprovalState.PENDING, ApprovalState.CHANGED)

    @property
    def problem(self) -> str:
        """What a person should know, and what to do about it."""
        return "; ".join(filter(None, (self.health, self.remedy)))


NO_EARLIER = EarlierApprovals()


class HookCatalog:
    """Sources propose, the ledger decides. `refresh` looks again, cheaply when nothing was touched.

    `earlier` are approvals from outside the ledger, which approve nothing: batch.py offers them again.
    """

    def __init__(
        self,
        load: Callable[[], Configuration],
        source_stamp: Callable[[], object],
        ledger: Ledger,
        copies: Copies,
        trials: TrialResults,
        earlier: EarlierApprovals = NO_EARLIER,
    ) -> None:
        self.earlier = earlier
        self._load = load
        self._source_stamp = source_stamp
        self._ledger = ledger
        self._copies = copies
        self._lock = threading.Lock()
        self._inspections: dict[str, tuple[str, tuple[Stamp, ...], Inspection | HooktrayError]] = {}
        self._trials = trials
        self._stamp: object = None
        self._hooks: tuple[Hook, ...] = ()
        self._fresh: dict[str, str] = {}  # hooks that newly wait, with what is proposed
        self.configuration = Configuration()
        self.states: tuple[HookState, ...] = ()

    def refresh(self) -> None:
        """Read the sources again."""
        with self._lock:
            look = self._current_stamp()
            if look == self._stamp:
                return
            tried = self._trials.stamp
            before = {(one.key, one.digest) for one in self.states if one.waiting}
            declared = self._read()
            self._hooks = reconcile(self.configuration.hooks, self._ledger.state, self.earlier.approved)
            self.states = self._build_states(self._ledger.state)
            files = self._read_stamps()
            self._ledger.set_positions({one.key: one.position for one in self.states})
            self._stamp = (*declared, files, self._ledger.state.version, tried)
            self._fresh |= {
                one.key: one.digest for one in self.states if one.waiting and (one.key, one.digest) not in before
            }

    def reset(self) -> None:
        """The folder of copies is a new one: the next refresh reads everything, and keeps it, again."""
        with self._lock:
            self._inspections.clear()
            self._stamp = None

    def take_new(self) -> tuple[HookState, ...]:
        """The hooks that newly wait for the user, whoever's refresh found them; each is told once."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
            return tuple(one for one in self.states if one.waiting and fresh.get(one.key) == one.digest)

    def _current_stamp(self) -> object:
        """What a refresh depends on: the declaring file, the hooks' files, and the ledger."""
        return (*self._declared_stamp(), self._file_stamps(), self._ledger.state.version, self._trials.stamp)

    def _read(self) -> tuple[object, ...]:
        """Load what is declared; returns its sign from before, so that an edit meanwhile is seen the next time."""
        before = self._declared_stamp()
        self.configuration = self._load()
        if len(self._declared_stamp()[1]) == len(before[1]):
            return before
        before = self._declared_stamp()  # it names other sources than the last time, whose signs were not known
        self.configuration = self._load()
        return before

    def _declared_stamp(self) -> tuple[object, tuple[object, ...]]:
        return self._source_stamp(), tuple(file_stamp(Path(path)) for path in self.configuration.watched)

    def _file_stamps(self) -> tuple[object, ...]:
        return tuple(file_stamps(hook, self._watched_paths(hook)) for hook in self._hooks if not hook.inactive)

    def _read_stamps(self) -> tuple[object, ...]:
        """The same as they were when they were read, so that an edit since then is seen the next time."""
        return tuple(
            self._inspections[hook.key][1]
            for hook in self._hooks
            if not hook.inactive and hook.key in self._inspections
        )

    def _watched_paths(self, hook: Hook) -> tuple[str, ...]:
        """What its last survey depended on, besides the files of its line."""
        known = self._inspections.get(hook.key)
        return known[2].watched_paths if known and isinstance(known[2], Inspection) else ()

    @property
    def watched(self) -> tuple[str, ...]:
        """The files that what is proposed depends on, besides hooktray.yaml."""
        covered = (path for one in self.states for path in one.covered)
        return (*self.configuration.watched, *covered)

    def find(self, word: str) -> list[HookState]:
        """The hooks that a person may mean by a name, key, command or prefix of a digest."""
        exact = [one for one in self.states if word in (one.hook.name, one.key, command_or_url(one.hook))]
        return exact or [one for one in self.states if len(word) >= 6 and one.digest.startswith(word)]

    def settings(self) -> tuple[Setting, ...]:
        """The settings in the file that need a confirmation."""
        return confirmations.guarded_settings(self.configuration.settings, self._ledger.state)

    def without_tray(self) -> str:
        """What relays shall do without us; `allow` only when a person confirmed it."""
        return confirmations.without_tray(self.configuration.settings, self._ledger.state)

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What the self-protection lets pass; nothing that no person confirmed."""
        return confirmations.exceptions(self.configuration.settings, self._ledger.state)

    def _build_states(self, ledger_state: LedgerState) -> tuple[HookState, ...]:
        standings = [self._hook_state(hook, place, ledger_state) for hook, place in _with_positions(self._hooks)]
        declared = {one.key for one in standings}
        gone = [
            _removed_state(key, one, ledger_state, f"no longer in {one.hook.source.path}")
            for key, one in ledger_state.approved.items()
            if key not in declared
        ]
        return (*standings, *gone)

    def _hook_state(self, hook: Hook, position: tuple[int, int], ledger_state: LedgerState) -> HookState:
        approved = ledger_state.approved.get(hook.key)
        in_force = approved.digest if approved else ""
        if hook.inactive:
            return _inactive_state(hook, position, approved, ledger_state)
        found = self._inspect(hook)
        if isinstance(found, HooktrayError):
            state = ApprovalState.CHANGED if approved else ApprovalState.PENDING
            return HookState(
                key=hook.key, hook=hook, state=state, digest="", position=position, approved=in_force,
                health=found.message, remedy=found.hint, missing=isinstance(found, MissingError),
            )  # fmt: skip
        unit = found.bundle
        return HookState(
            key=hook.key,
            hook=hook,
            state=_state(hook.key, unit.digest, in_force, ledger_state),
            digest=unit.digest,
            position=position,
            approved=in_force,
            covered=unit.covered,
            inspection=found,
            health=self._damage(in_force)
            or _health(hook, unit, in_force, ledger_state)
            or self._trial_failure(hook, in_force)
            or _first_problem(found),
        )

    def prune(self) -> None:
        """Remove the copies of what is neither approved nor proposed."""
        wanted = {one.digest for one in self.states} | {one.approved for one in self.states}
        self._copies.prune(wanted | {one.digest for one in self._ledger.in_order()})

    def _damage(self, in_force: str) -> str:
        try:
            if in_force:
                self._copies.check(in_force)
        except DamagedError as damage:
            return damage.message
        return ""

    def _trial_failure(self, hook: Hook, in_force: str) -> str:
        cause = self._trials.failures().get((hook.key, in_force), "") if in_force else ""
        return f"its test run failed: {cause}" if cause else ""

    def _inspect(self, hook: Hook) -> Inspection | HooktrayError:
        """The hook's bytes as they are now, kept as a copy, so that what is reviewed is what gets approved."""
        known = self._inspections.get(hook.key)
        before = file_stamps(hook, self._watched_paths(hook))
        if known and known[:2] == (hook.definition, before):
            return known[2]
        try:
            found: Inspection | HooktrayError = inspect(hook)
            if isinstance(found, Inspection):
                self._copies.save(found.bundle)
        except HooktrayError as error:
            found = error
        except (OSError, ValueError) as error:
            found = HooktrayError(f"{hook.name}: {error}")
        self._inspections[hook.key] = (hook.definition, _merged_stamps(hook, found, before), found)
        return found


def _merged_stamps(hook: Hook, found: Inspection | HooktrayError, before: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
    """The signs of all that a survey depends on, those of the files from before they were read."""
    if isinstance(found, HooktrayError):
        return before
    earlier = {sign[0]: sign for sign in (*before, *found.stamps)}
    return tuple(earlier.get(sign[0], sign) for sign in file_stamps(hook, found.watched_paths))


def _with_positions(hooks: Sequence[Hook]) -> Iterator[tuple[Hook, tuple[int, int]]]:
    """With the place of each hook's source, and its own within that: who is taken out moves nobody in other files."""
    counts: dict[str, int] = {}
    for hook in hooks:
        counts[hook.source.path] = counts.get(hook.source.path, -1) + 1
        yield hook, (list(counts).index(hook.source.path), counts[hook.source.path])


def _first_problem(found: Inspection) -> str:
    """The first thing that its scripts need and that is missing; "" for none."""
    return next((describe(lack) for lack in found.dependencies.problems if lack.certain), "")


def _state(key: str, digest: str, in_force: str, ledger_state: LedgerState) -> ApprovalState:
    denied = (key, digest) in ledger_state.denied
    if in_force:
        return ApprovalState.APPROVED if in_force == digest or denied else ApprovalState.CHANGED
    if denied:
        return ApprovalState.DENIED
    return ApprovalState.REVOKED if ledger_state.revoked.get(key) == digest else ApprovalState.PENDING


def _inactive_state(
    hook: Hook, position: tuple[int, int], approved: ApprovedHook | None, ledger_state: LedgerState
) -> HookState:
    """Listed and never proposed. An approved one is not switched off by touching a file: that waits for a person."""
    if approved is not None:
        return _removed_state(hook.key, approved, ledger_state, f"inactive now: {hook.inactive}")
    return HookState(
        key=hook.key, hook=hook, state=ApprovalState.INACTIVE, digest="", position=position, health=hook.inactive
    )


def _removed_state(key: str, one: ApprovedHook, ledger_state: LedgerState, why: str) -> HookState:
    kept = (key, REMOVED) in ledger_state.denied
    return HookState(
        key=key,
        hook=one.hook,
        state=ApprovalState.APPROVED if kept else ApprovalState.CHANGED,
        digest=REMOVED,
        position=one.position,
        approved=one.digest,
        health=f"{why}; the approved copy goes on running",
    )


def _health(hook: Hook, unit: Bundle, in_force: str, ledger_state: LedgerState) -> str:
    if in_force and in_force != unit.digest:
        denied = (hook.key, unit.digest) in ledger_state.denied
        return (
            "your change was denied; the approved copy runs"
            if denied
            else "changed since approval; the approved copy runs"
        )
    return ""


def command_or_url(hook: Hook) -> str:
    """A command's line, or an address; "" where there is neither."""
    return getattr(hook.action, "line", "") or getattr(hook.action, "url", "")
