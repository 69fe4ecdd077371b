"""What the user can do: switch, pause, mute, approve, deny, revoke, grant. Menu, page and commands call it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from msgspec.structs import replace

from tray.approvals.batch import ApprovalBatch
from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.consent import Consent, PendingRequest
from tray.approvals.guarded_settings import FILE, GuardedSetting
from tray.approvals.passphrase import Passphrase
from tray.approvals.silenced import Silenced
from tray.errors import HooktrayError
from tray.language import count, say
from tray.store.switch import Switch, SwitchState
from tray.text import sanitise

TERMINAL = "terminal"  # the channel of what a command does without a proof
PASSPHRASE = "passphrase"  # the channel of what the passphrase confirmed
COMMANDS = frozenset({TERMINAL, PASSPHRASE})
MENU_UNDO = COMMANDS | {FILE}  # channels whose changes can also be undone in the menu
UNDO = "undo"
AGENT_SWITCH = "the agent's own switch"
CONNECTION = "the agent's connection"

# Takes back what was done; a text that it returns is what holds now.
# Raises HooktrayError when it has been decided anew.
Undo = Callable[[], object]


class Controls:
    """Does what was decided, then announces it: `announce` raises the alert, `redraw` redraws the tray.

    `approved` gets each hook that was approved, as it was before, with what takes the approval back;
    `describe_trial` waits so many seconds for the end of the test run that follows, by the hook's key.

    What loosens a gate or takes something away comes with its undo.
    """

    def __init__(
        self,
        *,
        switch: Switch,
        consent: Consent,
        catalog: HookCatalog,
        passphrase: Passphrase,
        announce: Callable[[str, str, Undo | None], None],
        redraw: Callable[[], None],
        approved: Callable[[HookState, Undo], None] = lambda state, undo: None,
        describe_trial: Callable[[str, float], str] = lambda key, timeout: "",
    ) -> None:
        self._switch = switch
        self._consent = consent
        self._catalog = catalog
        self._passphrase = passphrase
        self._announce_change = announce
        self._redraw = redraw
        self._approved = approved
        self.describe_trial = describe_trial  # how the test run after an approval went, once it has ended

    @property
    def requests(self) -> tuple[PendingRequest, ...]:
        return self._consent.requests

    @property
    def state(self) -> SwitchState:
        return self._switch.state()

    def set_enabled(self, on: bool, channel: str) -> None:
        before = self._switch.state()
        self._switch.set_enabled(on, channel)
        text = say("Hooks are on") if on else say("Hooks are off")
        tightens = on and channel not in COMMANDS
        self._announce(text, channel, None if tightens else lambda: self._restore(before))

    def toggle(self, channel: str) -> None:
        self.set_enabled(not self._switch.state().enabled, channel)

    def pause(self, seconds: float | None, channel: str, *, agent: str = "", session: str = "") -> float:
        """Pause hooks for so many seconds, or until tomorrow, for everybody or for some; returns until when."""
        until = tomorrow(time.time()) if seconds is None else time.time() + seconds
        before = self._switch.state()
        self._switch.pause(until, agent=agent, session=session, channel=channel)
        clock = time.strftime("%H:%M", time.localtime(until))
        if whom := " ".join(filter(None, (agent, sanitise(session, 60)))):
            text = say("Hooks of {agent} are paused until {time}", agent=whom, time=clock)
        else:
            text = say("Hooks are paused until {time}", time=clock)
        self._announce(text, channel, lambda: self._restore(before))
        return until

    def resume(self, channel: str) -> None:
        self._switch.resume(channel)
        self._announce(say("Hooks run again"), channel)

    def set_hook(self, key: str, on: bool, channel: str) -> None:
        """Let one approved hook run, or not."""
        self._switch.set_hook(key, on, channel)
        name = next((one.hook.name for one in self._catalog.states if one.key == key), key)
        if on:
            self._announce(say("{name} runs again", name=name), channel)
        else:
            self._announce(
                say("{name} is switched off", name=name), channel, lambda: self._switch.set_hook(key, True, UNDO)
            )

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
            self._announce(off, AGENT_SWITCH)
        if again := before - found.keys():
            text = count(
                "{n} hook is no longer switched off by its agent",
                "{n} hooks are no longer switched off by their agent",
                len(again),
            )
            self._announce(text, AGENT_SWITCH)

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
            self._announce(text, "")

    def announce_silenced(self, edit: Silenced) -> None:
        """Announce which notifications an edit of hooktray.yaml silenced. The edit cannot silence this one."""
        self._announce(edit.text, FILE, edit.undo)

    def set_alert_class(self, alert_class: str, on: bool) -> None:
        self._switch.set_alert_class(alert_class, on)
        self._redraw()

    def mute(self) -> None:
        self._switch.mute(not self._switch.state().muted)
        self._redraw()

    def approve(self, key: str, digest: str, channel: str, path: str = "", env: Sequence[str] = ()) -> None:
        """Approve a hook's exact bytes, or confirm a setting. `path` is the PATH of the terminal that approves.

        `env` are withheld variables that it is given with that.
        """
        if key.startswith("setting:"):
            version = self._consent.confirm(key, digest, channel, accept=True)
            text = say("{setting} is confirmed", setting=key.removeprefix("setting:"))
            self._announce(text, channel, self._undo(version))
            return
        state, version = self._consent.approve(key, digest, channel, path)
        name = state.hook.name
        text = say("{name} is revoked", name=name) if digest == REMOVED else say("{name} is approved", name=name)
        versions = [version]
        try:
            if env:
                _, granted = self._consent.grant(key, env, channel)
                versions = [granted, version]
                text = say("{name} is approved and gets {variables}", name=name, variables=", ".join(env))
        finally:  # the approval holds, also if the variables could not be written
            undo = partial(self._undo_all, versions)
            self._announce(text, channel, undo)
            if digest != REMOVED:
                self._approved(state, self._tracked_undo(text, "", undo))

    @property
    def batch(self) -> ApprovalBatch:
        return self._consent.batch

    @property
    def batches(self) -> tuple[ApprovalBatch, ...]:
        return self._consent.batches

    def approve_batch(self, digest: str, channel: str) -> None:
        """Approve together the hooks of the batch that was shown; one Undo takes back all of them."""
        approved = self._consent.approve_batch(digest, channel)
        done = count("{n} hook is approved", "{n} hooks are approved", len(approved))
        self._announce(done, channel, lambda: self._undo_all([version for _, version in approved]))
        for state, version in approved:
            text = say("{name} is approved", name=state.hook.name)
            self._approved(state, self._tracked_undo(text, "", partial(self._consent.undo, version, UNDO)))

    def deny(self, key: str, digest: str, channel: str) -> None:
        if key.startswith("setting:"):
            version = self._consent.confirm(key, digest, channel, accept=False)
            name = key.removeprefix("setting:")
        else:
            state, version = self._consent.deny(key, digest, channel)
            name = state.hook.name
        self._announce(say("{name} is denied", name=name), channel, self._undo(version))

    def revoke(self, key: str, channel: str) -> None:
        state, version = self._consent.revoke(key, channel)
        self._announce(say("{name} is revoked", name=state.hook.name), channel, self._undo(version))

    def grant(self, key: str, names: Iterable[str], channel: str) -> None:
        """Let withheld variables through to an approved hook, which is tried once more."""
        names = tuple(names)
        state, version = self._consent.grant(key, names, channel)
        text = say("{name} gets {variables}", name=state.hook.name, variables=", ".join(names))
        undo = self._undo(version)
        self._announce(text, channel, undo)
        if state.digest == state.approved:
            self._approved(replace(state, approved=""), self._tracked_undo(text, "", undo))

    def withhold(self, key: str, names: Iterable[str], channel: str) -> None:
        """Take variables back that were let through to a hook."""
        names = tuple(names)
        state, version = self._consent.withhold(key, names, channel)
        text = say("{name} no longer gets {variables}", name=state.hook.name, variables=", ".join(names))
        self._announce(text, channel, self._undo(version))

    def undo_approval(self, key: str, channel: str) -> None:
        """Take back just the last approval of a hook."""
        state, version = self._consent.undo_approval(key, channel)
        text = say("The last approval of {name} is taken back", name=state.hook.name)
        self._announce(text, channel, self._undo(version))

    def set_passphrase(self, text: str, channel: str) -> None:
        """Put a passphrase in force; the one before is replaced."""
        was_set = self._passphrase.is_set
        version = self._passphrase.set(text, channel)
        done = say("The passphrase is changed") if was_set else say("The passphrase is set")
        self._announce(done, channel, lambda: self._consent.undo(version, UNDO))

    def forget_passphrase(self, channel: str) -> None:
        if not self._passphrase.is_set:
            raise HooktrayError(say("no passphrase is set"), hint=say("`hooktray passphrase` sets one"))
        version = self._passphrase.forget(channel)
        self._announce(say("The passphrase is forgotten"), channel, lambda: self._consent.undo(version, UNDO))

    @property
    def passphrase(self) -> Passphrase:
        return self._passphrase

    def add_request(self, summary: str, requester: str, grant: Callable[[], object], word: str = "") -> None:
        self._consent.add_request(summary, requester, grant, word)
        self._redraw()

    def resolve(self, request: str, *, accept: bool) -> None:
        self._consent.resolve(request, accept=accept)
        self._redraw()

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

    def _restore(self, before: SwitchState) -> str:
        """Undo a change of the switch; returns what holds now."""
        self._switch.restore(before, UNDO)
        state = self._switch.state()
        if not state.enabled:
            return say("Undone: hooks are off")
        return say("Undone: hooks are paused") if state.paused_until else say("Undone: hooks are on")

    def _undo(self, version: int) -> Undo:
        return lambda: self._consent.undo(version, UNDO)

    def _undo_all(self, versions: Sequence[int]) -> None:
        """Undo each approval that was not decided anew since; raises HooktrayError when none can be undone."""
        refused: HooktrayError | None = None
        done = 0
        for version in versions:
            try:
                self._consent.undo(version, UNDO)
                done += 1
            except HooktrayError as error:
                refused = error
        if refused is not None and not done:
            raise refused

    def _announce(self, text: str, channel: str, undo: Undo | None = None) -> None:
        self._announce_change(text, channel, self._tracked_undo(text, channel, undo) if undo else None)
        self._redraw()

    def _tracked_undo(self, text: str, channel: str, undo: Undo) -> Undo:
        """Returns an undo that announces itself. For a channel of MENU_UNDO it is also in the menu and works once."""

        def undo_and_announce() -> None:
            now = undo()
            self._announce(now if isinstance(now, str) else say("No longer so: {what}", what=text), "")

        if channel not in MENU_UNDO:
            return undo_and_announce
        where = "hooktray.yaml" if channel == FILE else say("a terminal")
        request = self._consent.add_undo(text, where, undo_and_announce)
        return lambda: self._undo_request(request)

    def _undo_request(self, request: str) -> None:
        if self._consent.resolve(request, accept=True) is None:
            raise HooktrayError(say("It can no longer be taken back"))


def tomorrow(now: float) -> float:
    """The next local midnight after `now`, in seconds since the epoch."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1)).timestamp()


def parse_duration(text: str) -> float | None:
    """`30m`, `1h` or `90s` in seconds; None = until tomorrow. Raises HooktrayError."""
    if text == "tomorrow":
        return None
    found = re.fullmatch(r"(\d{1,4})([smh])", text)
    if not found or int(found[1]) == 0:
        raise HooktrayError(
            say("`{length}` is not a length of time", length=text), hint=say("write 30m, 1h or tomorrow")
        )
    return int(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]
