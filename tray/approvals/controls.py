"""What the user can do: switch, pause, mute, approve, deny, revoke, grant. Menu, page and commands call it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.approvals.batch import ApprovalBatch, find_batch, find_batches
from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.guarded_settings import FILE, GuardedSetting
from tray.approvals.passphrase import Passphrase
from tray.approvals.review import require_readable
from tray.approvals.undo import LIST_HINT, HookSwitchUndo, LedgerUndo, SwitchUndo, Undo, undo_row
from tray.approvals.user_action import PendingRequest, PendingRequests, UserAction, pause_sentence, tomorrow
from tray.approvals.variables import require_grantable
from tray.errors import HooktrayError, StoreError
from tray.language import count, say
from tray.store.ledger import Ledger, LedgerAction, approval_text, grants_definition, grants_key
from tray.store.switch import Switch, SwitchState
from tray.text import sanitise

TERMINAL = "terminal"  # the channel of what a command does without a proof
PASSPHRASE = "passphrase"  # the channel of what the passphrase confirmed
AGENT_SWITCH = "the agent's own switch"
CONNECTION = "the agent's connection"
COMMANDS = frozenset({TERMINAL, PASSPHRASE})
MENU_UNDO = COMMANDS | {FILE}  # channels whose changes can also be undone in the menu


class DecisionAnnouncer(Protocol):
    """Notifies the user of what was done."""

    def switched(self, text: str, channel: str, undo: Undo | None) -> None: ...


class Refresh(Protocol):
    """Reads the sources again and shows the state of the tray."""

    def request(self) -> None:
        """Refresh soon: the switch, an approval or a request has changed."""
        ...


class HookTrials(Protocol):
    """Runs each hook once after its approval."""

    def approved(self, state: HookState, undo: Undo) -> None:
        """Called after an approval. `state` is the hook before it; `undo` takes the approval back."""
        ...

    def describe(self, key: str, timeout: float) -> str:
        """Returns how the run went, once it has ended or after `timeout` seconds; "" if there is none."""
        ...


class Controls:
    """Carries out the user's decisions, and announces each. The caller has already been judged to be the user.

    What loosens a gate or takes something away is announced with its undo.
    """

    def __init__(
        self,
        *,
        switch: Switch,
        ledger: Ledger,
        catalog: HookCatalog,
        passphrase: Passphrase,
        announcer: DecisionAnnouncer,
        refresh: Refresh,
        trials: HookTrials,
    ) -> None:
        self._switch, self._ledger, self._catalog = switch, ledger, catalog
        self._announcer, self._refresh = announcer, refresh
        self.pending = PendingRequests()
        self.passphrase, self.trials = passphrase, trials

    @property
    def state(self) -> SwitchState:
        return self._switch.state()

    def perform(self, one: UserAction, channel: str) -> None:
        """Do what was confirmed. Raises HooktrayError if it cannot be done any more."""
        match one.action:
            case "allow" | "dismiss":
                self.resolve(one.key, accept=one.action == "allow")
            case "approve":
                self.approve(one.key, one.digest, channel, one.path, one.variables)
            case "batch":
                self.approve_batch(one.digest, channel)
            case "deny":
                self.deny(one.key, one.digest, channel)
            case "disable" | "enable":
                self.set_hook(one.key, one.action == "enable", channel)
            case "forget":
                self.forget_passphrase(channel)
            case "grant":
                self.grant(one.key, one.variables, channel)
            case "off" | "on":
                self.set_enabled(one.action == "on", channel)
            case "passphrase":
                self.set_passphrase(one.key, channel)
            case "pause":
                self.pause(one.seconds, channel, agent=one.agent, session=one.session)
            case "resume":
                self.resume(channel)
            case "revoke":
                self.revoke(one.key, channel)
            case "undo":
                self.undo_approval(one.key, channel)
            case "withhold":
                self.withhold(one.key, one.variables, channel)
            case unknown:
                raise ValueError(unknown)

    def set_enabled(self, on: bool, channel: str) -> None:
        before = self._switch.state()
        self._switch.set_enabled(on, channel)
        text = say("Hooks are on") if on else say("Hooks are off")
        tightens = on and channel not in COMMANDS
        self.announce(text, channel, None if tightens else SwitchUndo(self._switch, before))

    def toggle(self, channel: str) -> None:
        self.set_enabled(not self._switch.state().enabled, channel)

    def pause(self, seconds: float | None, channel: str, *, agent: str = "", session: str = "") -> float:
        """Pause hooks for so many seconds, or until tomorrow, for everybody or for some; returns until when."""
        until = tomorrow(time.time()) if seconds is None else time.time() + seconds
        before = self._switch.state()
        self._switch.pause(until, agent=agent, session=session, channel=channel)
        self.announce(pause_sentence(until, agent, session), channel, SwitchUndo(self._switch, before))
        return until

    def resume(self, channel: str) -> None:
        self._switch.resume(channel)
        self.announce(say("Hooks run again"), channel)

    def set_hook(self, key: str, on: bool, channel: str) -> None:
        """Let one approved hook run, or not."""
        self._switch.set_hook(key, on, channel)
        name = next((one.hook.name for one in self._catalog.states if one.key == key), key)
        if on:
            self.announce(say("{name} runs again", name=name), channel)
        else:
            undo = HookSwitchUndo(self._switch, key)
            self.announce(say("{name} is switched off", name=name), channel, undo)

    def set_alert_class(self, alert_class: str, on: bool) -> None:
        self._switch.set_alert_class(alert_class, on)
        self._refresh.request()

    def mute(self) -> None:
        self._switch.mute(not self._switch.state().muted)
        self._refresh.request()

    def approve(self, key: str, digest: str, channel: str, path: str = "", env: Sequence[str] = ()) -> None:
        """Approve exactly what was shown under this digest. Raises HooktrayError if something else is proposed now.

        `key` may also be that of a setting. `path` is the PATH of the terminal that approves, if one does; `env` are
        withheld variables that the hook gets with the approval.
        """
        if key.startswith("setting:"):
            self.confirm(key, digest, channel, accept=True)
            return
        state = self._shown(key, digest, path)
        name, is_removed = state.hook.name, digest == REMOVED
        text = say("{name} is revoked", name=name) if is_removed else say("{name} is approved", name=name)
        versions = [self._write(LedgerAction.REVOKE if is_removed else LedgerAction.APPROVE, state, channel)]
        try:
            if env:
                versions.insert(0, self._let_through(self._approved(key), env, channel))
                text = say("{name} is approved and gets {variables}", name=name, variables=", ".join(env))
        finally:  # the approval holds, also if the variables could not be written
            undo = self._undo(*versions)
            self.announce(text, channel, undo)
            if not is_removed:
                self.trials.approved(state, self._announced_undo(text, "", undo))

    def confirm(self, key: str, digest: str, channel: str, *, accept: bool) -> None:
        """Confirm or turn down a setting that loosens a gate."""
        known = (one.definition for one in self._catalog.settings() if (one.key, one.digest) == (key, digest))
        action = LedgerAction.APPROVE if accept else LedgerAction.DENY
        written = self._ledger.append(action, key, digest, definition=next(known, ""), channel=channel)
        name = key.removeprefix("setting:")
        text = say("{setting} is confirmed", setting=name) if accept else say("{name} is denied", name=name)
        self.announce(text, channel, self._undo(written.version))

    @property
    def batch(self) -> ApprovalBatch:
        """The imported hooks that wait."""
        return find_batch(self._catalog, self._ledger.state)

    @property
    def batches(self) -> tuple[ApprovalBatch, ...]:
        """All that can be approved together."""
        return find_batches(self._catalog, self._ledger.state)

    def approve_batch(self, digest: str, channel: str) -> None:
        """Approve together all hooks of exactly the batch that was shown; one undo takes back all of them.

        If the disk becomes full in between, the other hooks still wait. Raises HooktrayError if none could be
        approved.
        """
        self._catalog.refresh()
        found = next((one for one in self.batches if one.digest == digest), None)
        if found is None:
            raise HooktrayError(
                say("these hooks are not the ones that were shown: one of them changed or was decided since"),
                hint=say("open the menu and review them again"),
            )
        approved: list[tuple[HookState, int]] = []
        for one in found.hooks:
            try:
                approved.append((one, self._append(LedgerAction.APPROVE, one, channel)))
            except StoreError:
                if not approved:
                    raise
                break
        self._catalog.follow_ledger()
        done = count("{n} hook is approved", "{n} hooks are approved", len(approved))
        self.announce(done, channel, self._undo(*(version for _, version in approved)))
        for state, version in approved:
            text = say("{name} is approved", name=state.hook.name)
            self.trials.approved(state, self._announced_undo(text, "", self._undo(version)))

    def deny(self, key: str, digest: str, channel: str) -> None:
        """Turn a proposal or a setting down. What was approved before stays in force."""
        if key.startswith("setting:"):
            self.confirm(key, digest, channel, accept=False)
            return
        state = self._shown(key, digest)
        version = self._write(LedgerAction.DENY, state, channel)
        self.announce(say("{name} is denied", name=state.hook.name), channel, self._undo(version))

    def revoke(self, key: str, channel: str) -> None:
        """Take the approval back: nothing of this hook runs from then on."""
        state = self._approved(key)
        written = self._ledger.append(
            LedgerAction.REVOKE, key, state.approved, position=state.position, channel=channel
        )  # fmt: skip
        self._catalog.follow_ledger()
        self.announce(say("{name} is revoked", name=state.hook.name), channel, self._undo(written.version))

    def grant(self, key: str, names: Iterable[str], channel: str) -> None:
        """Give an approved hook more of its withheld variables, and try it once more."""
        state, names = self._approved(key), tuple(names)
        undo = self._undo(self._let_through(state, names, channel))
        text = say("{name} gets {variables}", name=state.hook.name, variables=", ".join(names))
        self.announce(text, channel, undo)
        if state.digest == state.approved:
            self.trials.approved(replace(state, approved=""), self._announced_undo(text, "", undo))

    def withhold(self, key: str, names: Iterable[str], channel: str) -> None:
        """Take variables back that were let through to a hook."""
        state, names = self._approved(key), tuple(names)
        version = self._write_grants(state, {*state.granted} - {*names}, channel)
        text = say("{name} no longer gets {variables}", name=state.hook.name, variables=", ".join(names))
        self.announce(text, channel, self._undo(version))

    def undo_approval(self, key: str, channel: str) -> None:
        """Take back only the last approval of a hook: what was approved before it is in force again."""
        state = next((one for one in self._catalog.states if one.key == key), None)
        version = self._ledger.last_approval(key)
        if state is None or version is None:
            raise HooktrayError(say("no approval of it came last"), hint=say(LIST_HINT))
        written = undo_row(self._ledger, version, channel)
        self._catalog.refresh()
        text = say("The last approval of {name} is taken back", name=state.hook.name)
        self.announce(text, channel, self._undo(written))

    def set_passphrase(self, text: str, channel: str) -> None:
        """Put a passphrase in force; the one before is replaced."""
        was_set = self.passphrase.is_set
        version = self.passphrase.set(text, channel)
        done = say("The passphrase is changed") if was_set else say("The passphrase is set")
        self.announce(done, channel, self._undo(version))

    def forget_passphrase(self, channel: str) -> None:
        if not self.passphrase.is_set:
            raise HooktrayError(say("no passphrase is set"), hint=say("`hooktray passphrase` sets one"))
        version = self.passphrase.forget(channel)
        self.announce(say("The passphrase is forgotten"), channel, self._undo(version))

    def follow_agents(self) -> None:
        """Let an agent's own switch turn off the approved hooks of its file, or on again."""
        found, before = self._catalog.switched_off, self._switch.state().agents_off
        if found.keys() == before:
            return
        self._switch.set_agents_off(found.keys(), AGENT_SWITCH)
        for why, number in sorted(Counter(found[key] for key in found.keys() - before).items()):
            off = count(
                "{n} approved hook does not run: {why}",
                "{n} approved hooks do not run: {why}",
                number,
                why=sanitise(why, 500),
            )
            self.announce(off, AGENT_SWITCH)
        if again := before - found.keys():
            text = count(
                "{n} hook is no longer switched off by its agent",
                "{n} hooks are no longer switched off by their agent",
                len(again),
            )
            self.announce(text, AGENT_SWITCH)

    def follow_connections(self, keys: Collection[str]) -> None:
        """Leave the hooks of these keys to the agent whose own connected file declares them."""
        before = self._switch.state().agent_runs
        if keys == before:
            return
        self._switch.set_agent_runs(keys, CONNECTION)
        if new := set(keys) - before:
            text = count(
                "{n} hook is run by the agent whose file declares it; Hooktray asks it for other agents",
                "{n} hooks are run by the agent whose file declares them; Hooktray asks them for other agents",
                len(new),
            )
            self.announce(text, "")

    @property
    def requests(self) -> tuple[PendingRequest, ...]:
        """The requests that the user has not answered."""
        return self.pending.open

    def add_request(
        self, summary: str, requester: str, grant: Callable[[], object], word: str = ""
    ) -> PendingRequest:
        """Put a request before the user; the same words asked twice are one request."""
        request = self.pending.add(summary, requester, grant, word)
        self._refresh.request()
        return request

    def resolve(self, request: str, *, accept: bool) -> None:
        """Grant or dismiss a request; nothing happens if it is gone."""
        found = self.pending.take(request)
        if found and accept:
            found.grant()
        self._refresh.request()

    def find(self, word: str) -> list[HookState]:
        self._catalog.refresh()
        return self._catalog.find(word)

    def hooks(self) -> tuple[HookState, ...]:
        self._catalog.refresh()  # a tray that has just started may not have looked yet
        return self._catalog.states

    def with_path(self, state: HookState, path: str) -> HookState:
        """The hook as a terminal with this PATH would approve it; "" = anybody else."""
        return self._catalog.at_path(state, path)

    def setting(self, word: str) -> GuardedSetting | None:
        """The setting of this name that needs the user's confirmation."""
        return next((one for one in self._catalog.settings() if one.key == f"setting:{word}"), None)

    def announce(self, text: str, channel: str, undo: Undo | None = None) -> None:
        """Announce what was done, with what takes it back."""
        self._announcer.switched(text, channel, self._announced_undo(text, channel, undo) if undo else None)
        self._refresh.request()

    def _shown(self, key: str, digest: str, path: str = "") -> HookState:
        """Returns the hook as it is proposed now. Raises HooktrayError if that is not what was shown."""
        self._catalog.refresh()
        state = next((one for one in self._catalog.states if one.key == key), None)
        if state and path:
            state = self._catalog.at_path(state, path)
        if state is None or require_readable(state).digest != digest:
            raise HooktrayError(
                say("this hook changed again since you looked at it"), hint=say("open the menu and review it again")
            )
        return state

    def _approved(self, key: str) -> HookState:
        self._catalog.refresh()
        state = next((one for one in self._catalog.states if one.key == key and one.approved), None)
        if state is None:
            raise HooktrayError(say("this hook is not approved"), hint=say(LIST_HINT))
        return state

    def _write(self, action: LedgerAction, state: HookState, channel: str) -> int:
        """Write a decision about a hook; returns the number of its row: other threads write rows, too."""
        version = self._append(action, state, channel)
        self._catalog.follow_ledger()
        return version

    def _append(self, action: LedgerAction, state: HookState, channel: str) -> int:
        found = state.inspection
        text = approval_text(state.hook, found.search_path, found.uncovered) if found else state.hook.definition
        written = self._ledger.append(
            action, state.key, state.digest, definition=text, position=state.position, channel=channel
        )
        return written.version

    def _let_through(self, state: HookState, names: Iterable[str], channel: str) -> int:
        wanted = require_grantable(state.hook, names)
        return self._write_grants(state, {*state.granted, *wanted}, channel)

    def _write_grants(self, state: HookState, names: Collection[str], channel: str) -> int:
        definition, digest = grants_definition(names)
        action = LedgerAction.APPROVE if names else LedgerAction.REVOKE
        key = grants_key(state.key)
        written = self._ledger.append(action, key, digest, definition=definition, channel=channel)
        self._catalog.follow_ledger()
        return written.version

    def _undo(self, *versions: int) -> LedgerUndo:
        return LedgerUndo(self._ledger, self._catalog, versions)

    def _announced_undo(self, text: str, channel: str, undo: Undo) -> AnnouncedUndo:
        announced = AnnouncedUndo(self, text, undo)
        if channel not in MENU_UNDO:
            return announced
        where = "hooktray.yaml" if channel == FILE else say("a terminal")
        request = self.pending.add_undo(text, where, announced.undo)
        return replace(announced, request=request.id)


class AnnouncedUndo(msgspec.Struct, frozen=True):
    """Undoes a change and announces that. If the menu also shows it as a request, it works only once."""

    controls: Controls
    text: str  # of the change
    change: Undo
    request: str = ""

    def undo(self) -> str:
        """Undo, and announce what holds then. Raises HooktrayError if it was undone or decided anew before."""
        if self.request and self.controls.pending.take(self.request) is None:
            raise HooktrayError(say("It can no longer be taken back"))
        now = self.change.undo()
        self.controls.announce(now or say("No longer so: {what}", what=self.text), "")
        return ""
