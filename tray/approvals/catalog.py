"""Every hook and its state: what the sources propose, against what the ledger approved."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.approvals import guarded_settings
from tray.approvals.checks import missing_files
from tray.approvals.command_words import Stamp
from tray.approvals.guarded_settings import GuardedSetting
from tray.approvals.identity import reconcile
from tray.approvals.inspection import Inspection, file_stamps, inspect
from tray.approvals.programs import MissingError
from tray.approvals.search_path import SearchPath
from tray.approvals.variables import asked_for
from tray.errors import HooktrayError
from tray.execution.script import NOT_EXECUTABLE
from tray.language import phrase, say
from tray.model.hook import ApprovalState, Hook, Prompt
from tray.paths import Paths
from tray.settings import Settings
from tray.sources.configuration import Configuration, file_stamp, find_programs, load
from tray.store.approval_file import IMPORTED, read_imported
from tray.store.copies import Bundle, Copies, DamagedError
from tray.store.ledger import ApprovedHook, Ledger, LedgerState, grants_of
from tray.store.trial_results import TrialResults

NO_MODEL = phrase("it asks a model, and none is set: write `llm:` in hooktray.yaml and confirm it in the tray's menu")
REMOVED = "removed"  # in place of a digest where the declaration of an approved hook is gone


class HookState(msgspec.Struct, frozen=True, kw_only=True):
    """One hook, as proposed, and its state in the ledger."""

    key: str
    hook: Hook
    state: ApprovalState
    digest: str  # of what is proposed now; REMOVED when nothing is
    position: tuple[int, int]
    approved: str = ""  # digest in force; "" when none
    covered: tuple[str, ...] = ()
    inspection: Inspection | None = None  # of what is proposed; None where that cannot be read
    health: str = ""  # what the user should know; "" when all is well
    remedy: str = ""  # what to do about that
    failed_trial: bool = False  # the approved copy failed on the test event after its approval
    granted: tuple[str, ...] = ()  # withheld variables that the user lets through to it
    asks_for: tuple[str, ...] = ()  # those that it names and does not get
    missing: bool = False  # its program or script is not there

    @property
    def waiting(self) -> bool:
        return self.state in (ApprovalState.PENDING, ApprovalState.CHANGED)

    @property
    def problem(self) -> str:
        """What the user should know, and what to do about it."""
        return "; ".join(filter(None, (self.health, self.remedy)))


class HookCatalog:
    """Sources propose, the ledger decides. `refresh` looks again, cheaply when nothing was touched.

    `imported` are approvals of another machine, which approve nothing: batch.py offers them.
    """

    def __init__(self, paths: Paths, ledger: Ledger, copies: Copies) -> None:
        self._import_file = paths.database.with_name(IMPORTED)  # an import while the tray runs writes it
        self.imported: Mapping[str, ApprovedHook] = read_imported(self._import_file)
        self._import_stamp = file_stamp(self._import_file)
        self.search = SearchPath(os.environ)
        self._paths = paths
        self._ledger = ledger
        self._copies = copies
        self._lock = threading.Lock()
        self._inspections: dict[str, tuple[str, tuple[Stamp, ...], Inspection | HooktrayError]] = {}
        self._trials = TrialResults(paths.state)
        self._stamp: object = None  # of all that was read
        self._version = -1  # of the ledger that the states show
        self._hooks: tuple[Hook, ...] = ()
        self._new: dict[str, str] = {}  # hooks that newly wait, with what is proposed
        self.configuration = Configuration()
        self._early: tuple[object, Configuration] | None = None  # read before the first refresh, with its stamp
        self._counted = (self.configuration.settings, -1, self.configuration.settings)
        self.states: tuple[HookState, ...] = ()

    def read_configuration(self) -> None:
        """Read what is declared, so that settings count before the first refresh, which looks at every hook.

        That refresh reads it again only if it has changed.
        """
        with self._lock:
            stamp = self._declared_stamp()
            self.configuration = load(self._paths)
            self._early = stamp, self.configuration

    def refresh(self) -> None:
        """Read the sources again if they, the hooks' files or the ledger may have changed."""
        with self._lock:
            # What a refresh depends on besides the ledger.
            tried, imported = self._trials.stamp, file_stamp(self._import_file)
            files = (file_stamps(hook, self._watched_paths(hook)) for hook in self._hooks if not hook.inactive)
            stamp = (*self._declared_stamp(), self._search_stamp(), tuple(files), tried, imported)
            if stamp == self._stamp and self._version == self._ledger.state.version:
                return
            if self._import_stamp != imported:
                self._import_stamp = imported
                self.imported = read_imported(self._import_file)
            declared = self._read()
            self._build(are_read=False)
            # The files as they were when they were read, so that an edit since then is seen the next time.
            active = (hook.key for hook in self._hooks if not hook.inactive)
            read = tuple(self._inspections[key][1] for key in active if key in self._inspections)
            self._stamp = (*declared, self._search_stamp(), read, tried, imported)

    def follow_ledger(self) -> None:
        """Rebuild the states after a decision, from what the last refresh read. No file is compared again."""
        with self._lock:
            self._build(are_read=True)
            if self.misses_program:
                self._version = -1  # the next refresh looks for it again

    def _build(self, *, are_read: bool) -> None:
        """Build the states. With `are_read`, the hooks' files count as they were when they were last read."""
        before = {(one.key, one.digest) for one in self.states if one.waiting}
        ledger_state = self._ledger.state
        self._hooks = reconcile(self.configuration.hooks, ledger_state, self.imported)
        self.states = self._build_states(ledger_state, are_read=are_read)
        self._ledger.set_positions({one.key: one.position for one in self.states})
        self._version = ledger_state.version
        self._new |= {
            one.key: one.digest for one in self.states if one.waiting and (one.key, one.digest) not in before
        }

    @property
    def approved(self) -> tuple[ApprovedHook, ...]:
        """Everything that is in force, in order; one that changed since may differ from what is proposed."""
        return self._ledger.state.ordered

    @property
    def is_current(self) -> bool:
        """Whether the sources were read since the start, or since `reset`."""
        return self._stamp is not None

    def reset(self) -> None:
        """The ledger or the folder of copies is new: the next refresh reads and copies everything again."""
        with self._lock:
            self._inspections.clear()
            self._stamp = None
            self._counted = (self._counted[0], -1, self._counted[2])

    def take_new(self) -> tuple[HookState, ...]:
        """The hooks that newly wait for the user, whoever's refresh found them; each is returned once."""
        with self._lock:
            new, self._new = self._new, {}
            return tuple(one for one in self.states if one.waiting and new.get(one.key) == one.digest)

    def _search_stamp(self) -> str:
        """Where programs are looked for that were not found."""
        return self.search.current() if self.misses_program else ""

    @property
    def misses_program(self) -> bool:
        """Whether what is proposed names a program that was not found."""
        return any(one.missing or (one.inspection and one.inspection.missing_programs) for one in self.states)

    def _read(self) -> tuple[object, ...]:
        """Load what is declared; returns its stamp from before, so that an edit meanwhile is seen the next time."""
        before = self._declared_stamp()
        early, self._early = self._early, None
        loaded = self.configuration = early[1] if early and early[0] == before else load(self._paths)
        if len(self._declared_stamp()[1]) != len(before[1]):
            before = self._declared_stamp()  # it names other sources than the last time, whose stamps were not known
            loaded = load(self._paths)
        self.configuration = find_programs(loaded, self.search)
        return before

    def _declared_stamp(self) -> tuple[object, tuple[object, ...]]:
        return file_stamp(self._paths.config), tuple(file_stamp(Path(path)) for path in self.configuration.watched)

    def _watched_paths(self, hook: Hook) -> tuple[str, ...]:
        """What its last inspection depended on, besides the files of its line."""
        known = self._inspections.get(hook.key)
        return known[2].watched_paths if known and isinstance(known[2], Inspection) else ()

    @property
    def watched(self) -> tuple[str, ...]:
        """The files that what is proposed depends on, besides hooktray.yaml."""
        covered = (path for one in self.states for path in one.covered)
        return (*self.configuration.watched, *covered, str(self._import_file))

    def find(self, word: str) -> list[HookState]:
        """The hooks that the user may mean by a name, key, command or prefix of a digest."""
        exact = [one for one in self.states if word in (one.hook.name, one.key, command_or_url(one.hook))]
        return exact or [one for one in self.states if len(word) >= 6 and one.digest.startswith(word)]

    def settings(self) -> tuple[GuardedSetting, ...]:
        """Returns the settings in the file that need a confirmation."""
        return guarded_settings.guarded_settings(self.configuration.settings, self._ledger.state)

    def at_path(self, state: HookState, path: str) -> HookState:
        """Returns the hook with the programs found on this PATH; "" leaves it unchanged. Raises HooktrayError."""
        if not path or state.inspection is None or state.inspection.search_path == path:
            return state
        programs, _ = self._approved_copy(state.approved)
        inspection = inspect(state.inspection.bundle.hook, path, programs)
        self._copies.save(inspection.bundle)
        return replace(state, inspection=inspection, digest=inspection.bundle.digest)

    @property
    def settings_in_force(self) -> Settings:
        """The settings as they count: without what waits for a confirmation."""
        settings, state = self.configuration.settings, self._ledger.state
        known, version, counted = self._counted
        if known is not settings or version != state.version:  # asked at each event
            counted = guarded_settings.settings_in_force(settings, state)
            self._counted = (settings, state.version, counted)
        return counted

    @property
    def switched_off(self) -> Mapping[str, str]:
        """The approved hooks that their agent's own switch turns off, each with where it is."""
        return {one.key: one.health for one in self.states if one.approved and one.state is ApprovalState.INACTIVE}

    def without_tray(self) -> str:
        """What relays do without us; `allow` only when the user confirmed it."""
        return guarded_settings.without_tray(self.configuration.settings, self._ledger.state)

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What the self-protection lets pass; nothing that no person confirmed."""
        return guarded_settings.exceptions(self.configuration.settings, self._ledger.state)

    def _build_states(self, ledger_state: LedgerState, *, are_read: bool) -> tuple[HookState, ...]:
        # A position is (source, hook within it), so a removed hook does not change the positions of other files.
        sources = list(dict.fromkeys(hook.source.path for hook in self._hooks))
        counts = Counter[str]()
        positions = []
        for hook in self._hooks:
            positions.append((sources.index(hook.source.path), counts[hook.source.path]))
            counts[hook.source.path] += 1
        states = [
            self._hook_state(hook, position, ledger_state, are_read=are_read)
            for hook, position in zip(self._hooks, positions, strict=True)
        ]
        declared = {one.key for one in states}
        removed = [
            _removed_state(key, one, ledger_state, f"no longer in {one.hook.source.path}")
            for key, one in ledger_state.approved.items()
            if key not in declared
        ]
        return (*states, *removed)

    def _hook_state(
        self, hook: Hook, position: tuple[int, int], ledger_state: LedgerState, *, are_read: bool
    ) -> HookState:
        approved = ledger_state.approved.get(hook.key)
        in_force = approved.digest if approved else ""
        if hook.inactive and approved and not hook.agent_switch:
            return _removed_state(hook.key, approved, ledger_state, f"inactive now: {hook.inactive}")
        if hook.inactive:  # never proposed; an approved hook is inactive only by its agent's own switch
            return HookState(
                key=hook.key, hook=approved.hook if approved else hook, state=ApprovalState.INACTIVE, digest=in_force,
                position=position, approved=in_force, health=hook.inactive,
            )  # fmt: skip
        programs, damage = self._approved_copy(in_force)
        inspection = self._inspect(hook, programs, are_read=are_read)
        if isinstance(inspection, HooktrayError):
            state = ApprovalState.CHANGED if approved else ApprovalState.PENDING
            return HookState(
                key=hook.key, hook=hook, state=state, digest="", position=position, approved=in_force,
                health=inspection.message, remedy=inspection.hint, missing=isinstance(inspection, MissingError),
            )  # fmt: skip
        bundle = inspection.bundle
        if damage:  # unless the inspection has mended it
            _, damage = self._approved_copy(in_force)
        denied = (hook.key, bundle.digest) in ledger_state.denied
        health = damage
        if not health and in_force and in_force != bundle.digest:
            why = "your change was denied" if denied else "changed since approval"
            health = f"{why}; the approved copy runs"
        granted = grants_of(hook.key, ledger_state.settings, ledger_state.setting_texts)
        trial = self._failed_trial(hook, bundle, in_force) if in_force and not health else None
        health = health or (
            f"its test run failed: {trial[0]}" if trial
            else next((str(problem) for problem in missing_files(inspection) if problem.certain), "")
        )  # fmt: skip
        if not health and isinstance(hook.action, Prompt):
            has_model = guarded_settings.llm(self.configuration.settings, ledger_state)
            health = "" if has_model else say(NO_MODEL)  # it would fail each time
        return HookState(
            key=hook.key,
            hook=hook,
            state=_state(hook.key, bundle.digest, in_force, ledger_state),
            digest=bundle.digest,
            position=position,
            approved=in_force,
            covered=bundle.covered,
            inspection=inspection,
            granted=granted,
            asks_for=asked_for(hook, bundle.contents.values(), os.environ, granted),
            health=health,
            remedy=trial[1] if trial else "",
            failed_trial=trial is not None,
        )

    def _failed_trial(self, hook: Hook, bundle: Bundle, in_force: str) -> tuple[str, str] | None:
        """Its cause and remedy; None when there is none, or it ended for want of a mode that the script has now."""
        found = self._trials.failures().get((hook.key, in_force))
        has_mode = found and found[0].removeprefix(NOT_EXECUTABLE) in bundle.executable
        return None if has_mode else found

    def prune(self) -> None:
        """Remove the copies of what is neither approved nor proposed, and none that a refresh saves meanwhile."""
        with self._lock:
            wanted = {one.digest for one in self.states} | {one.approved for one in self.states}
            self._copies.prune(wanted | {one.digest for one in self._ledger.in_order()})

    def _approved_copy(self, in_force: str) -> tuple[Mapping[str, str], str]:
        """Returns the programs that the approval noted, and how its copy is damaged, "" if it is whole.

        These programs stay while they exist, whatever another PATH has.
        """
        try:
            return self._copies.check(in_force).pinned if in_force else {}, ""
        except DamagedError as damage:
            return {}, damage.message

    def _inspect(self, hook: Hook, programs: Mapping[str, str], *, are_read: bool) -> Inspection | HooktrayError:
        """Returns what the hook consists of now, or the error. It saves a copy: the user approves what was reviewed.

        `programs` are those that the approval noted.
        """
        known = self._inspections.get(hook.key)
        before = known[1] if known and are_read else file_stamps(hook, self._watched_paths(hook))
        if known and known[:2] == (hook.definition, before) and self._has_programs(known[2], programs):
            return known[2]
        try:
            inspection: Inspection | HooktrayError = inspect(hook, self.search.current(), programs)
            if isinstance(inspection, Inspection):
                self._copies.save(inspection.bundle)
        except HooktrayError as error:
            inspection = error
        except (OSError, ValueError) as error:
            inspection = HooktrayError(f"{hook.name}: {error}")
        stamps = before
        if isinstance(inspection, Inspection):  # the stamps of the files are those from before they were read
            earlier = {stamp[0]: stamp for stamp in (*before, *inspection.stamps)}
            stamps = tuple(earlier.get(one[0], one) for one in file_stamps(hook, inspection.watched_paths))
        self._inspections[hook.key] = (hook.definition, stamps, inspection)
        return inspection

    def _has_programs(self, inspection: Inspection | HooktrayError, approved: Mapping[str, str]) -> bool:
        """True if neither a later PATH nor an approval at a terminal changes the hook's programs."""
        if isinstance(inspection, HooktrayError):
            return True
        pinned = inspection.bundle.pinned
        there = ((name, path) for name, path in approved.items() if os.access(path, os.X_OK))
        is_same = all(pinned.get(name, path) == path for name, path in there)
        return is_same and (not inspection.missing_programs or inspection.search_path == self.search.current())


def _state(key: str, digest: str, in_force: str, ledger_state: LedgerState) -> ApprovalState:
    denied = (key, digest) in ledger_state.denied
    if in_force:
        return ApprovalState.APPROVED if in_force == digest or denied else ApprovalState.CHANGED
    if denied:
        return ApprovalState.DENIED
    return ApprovalState.REVOKED if ledger_state.revoked.get(key) == digest else ApprovalState.PENDING


def _removed_state(key: str, one: ApprovedHook, ledger_state: LedgerState, why: str) -> HookState:
    is_denied = (key, REMOVED) in ledger_state.denied
    return HookState(
        key=key,
        hook=one.hook,
        state=ApprovalState.APPROVED if is_denied else ApprovalState.CHANGED,
        digest=REMOVED,
        position=one.position,
        approved=one.digest,
        health=f"{why}; the approved copy goes on running",
    )


def command_or_url(hook: Hook) -> str:
    """A command's line, or an address; "" where there is neither."""
    return getattr(hook.action, "line", "") or getattr(hook.action, "url", "")
