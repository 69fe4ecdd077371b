"""Requests about hooks and settings: what each asks, with its whole review at a terminal, and what it does."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tray.agents.protocol import spec
from tray.approvals.batch import ApprovalBatch, button_label, render_batch, summary_lines, write_batch
from tray.approvals.callers.caller_facts import shares_files
from tray.approvals.catalog import REMOVED, HookState, command_or_url
from tray.approvals.controls import PASSPHRASE, Controls
from tray.approvals.guarded_settings import GuardedSetting
from tray.approvals.review import TERMINAL_LIMIT, require_readable, review, write_review
from tray.approvals.search_path import terminal_path
from tray.approvals.user_action import UserAction
from tray.approvals.variables import require_grantable
from tray.errors import HooktrayError
from tray.language import count, say
from tray.model.hook import ApprovalState, Match
from tray.store.copies import Copies
from tray.strict.document import nearest
from tray.text import sanitise

TRIAL_TIMEOUT = 10.0  # seconds that a terminal waits for the test run after an approval
UNCHANGED = "unchanged"  # the word for all hooks with exactly the imported content


class UserRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a command asks for, and what the user confirms."""

    summary: str
    question: str
    action: UserAction
    shown: UserAction | None = None  # what the passphrase confirms, if the terminal shows more than the menu
    tried: tuple[HookState, ...] = ()  # the hooks of which a test run follows
    tightens: bool = False  # needs no proof, only that no agent asks
    in_menu: str = ""  # the reply if the menu shows it already


class TerminalReviews:
    """A review as a terminal shows it: as much as fits there, and the file that has all of it."""

    def __init__(self, copies: Copies, folder: Path, environment: Mapping[str, str] = os.environ) -> None:
        self._copies = copies
        self._folder = folder
        self._environment = environment

    def hook(self, one: HookState) -> str:
        """What was declared, its files, and one line for each thing to know."""
        if not one.digest:
            return _where(one)
        text = review(one, self._copies, self._environment, TERMINAL_LIMIT)
        if one.digest == REMOVED:
            return text
        return text + self._in_full(write_review(one, self._copies, self._environment, self._folder))

    def batch(self, batch: ApprovalBatch) -> str:
        """The same of every hook that is approved together."""
        path = write_batch(batch, (), self._copies, self._environment, self._folder)
        text = render_batch(batch, self._copies, self._environment, TERMINAL_LIMIT)
        return "\n".join([*summary_lines(batch), "", text, self._in_full(path)])

    def _in_full(self, path: Path) -> str:
        return "\n" + say("In full: {file}", file=path)


class ApprovalRequests:
    """Turns what a command asks for into a UserRequest. Raises HooktrayError when there is nothing to decide."""

    def __init__(self, controls: Controls, reviews: TerminalReviews) -> None:
        self._controls = controls
        self._reviews = reviews

    def approve(self, request: Mapping[str, object]) -> UserRequest:
        if source := request.get("source"):
            return self._source(str(source))
        if setting := self._setting(request):
            if setting.confirmed:
                why = say("`{setting}` is confirmed already", setting=setting.text)
                raise HooktrayError(why, hint=say("there is nothing to do"))
            return self._confirm(setting, yes=True)
        word = str(request.get("hook", ""))
        if not any(one.hook.name == word for one in self._controls.hooks()):
            if word == UNCHANGED:
                return self._unchanged()
            if waiting := [one for one in self._controls.requests if word and one.word == word]:
                return UserRequest(  # clicks that wait for the passphrase have a command word of their own
                    summary=waiting[-1].summary,
                    question=say("Hooktray: {what}? It was clicked there just now.", what=waiting[-1].summary),
                    action=UserAction(action="allow", key=waiting[-1].id),
                    in_menu=waiting[-1].summary,
                )
        one = self._find(request)
        env = require_grantable(one.hook, names) if (names := _names(request)) else ()
        if env and one.approved:
            return self._grant(one, env)
        return self._approve(require_readable(one), request.get("pid"), env)

    def _approve(self, one: HookState, pid: object, env: tuple[str, ...]) -> UserRequest:
        path = terminal_path(pid) if isinstance(pid, int) and shares_files(pid) else ""
        shown = self._controls.with_path(one, path)
        summary = say("Approve {name} {digest}", name=one.hook.name, digest=one.digest[:8])
        question = say("Hooktray: approve this?") + f"\n\n{self._reviews.hook(shown)}"
        if env:
            variables = ", ".join(env)
            summary = say("{approve} with {variables}", approve=summary, variables=variables)
            gets = say("It gets {variables} of each agent's environment with that.", variables=variables)
            question = f"{question}\n\n{gets}"
        return UserRequest(
            summary=summary,
            question=question,
            action=UserAction(action="approve", key=one.key, digest=one.digest, variables=env),
            shown=UserAction(action="approve", key=one.key, digest=shown.digest, path=path, variables=env),
            tried=(one,),
            in_menu=say("{name} waits for your approval", name=one.hook.name) if one.waiting and not env else "",
        )

    def _grant(self, one: HookState, env: tuple[str, ...]) -> UserRequest:
        variables = ", ".join(env)
        asked = say("Hooktray: give {variables} of each agent's environment to this hook?", variables=variables)
        return UserRequest(
            summary=say("Let {variables} through to {name}", variables=variables, name=one.hook.name),
            question=f"{asked}\n  {_where(one)}",
            action=UserAction(action="grant", key=one.key, variables=env),
            tried=(one,),
        )

    def _withhold(self, one: HookState, env: tuple[str, ...]) -> UserRequest:
        variables = ", ".join(env)
        if missing := set(env) - set(one.granted):
            why = say(
                "{variables} was not let through to `{name}`",
                variables=", ".join(sorted(missing)),
                name=one.hook.name,
            )
            hint = say("let through: {variables}", variables=", ".join(one.granted) or say("none"))
            raise HooktrayError(why, hint=hint)
        asked = say("Hooktray: no longer give {variables} to this hook?", variables=variables)
        return UserRequest(
            summary=say("Withhold {variables} from {name}", variables=variables, name=one.hook.name),
            question=f"{asked}\n  {_where(one)}",
            action=UserAction(action="withhold", key=one.key, variables=env),
        )

    def _source(self, word: str) -> UserRequest:
        """All hooks of one file that wait, or of all files of one kind if only one of them has such hooks."""
        sources = {one.hook.source.path: one.hook.source.kind for one in self._controls.hooks()}  # as they are now
        found = [
            one
            for one in self._controls.batches
            if one.source and word in (one.source, one.hooks[0].hook.source.kind)
        ]
        if not found:
            if word in sources or word in sources.values():
                why = say("no hook of {source} waits for you", source=word)
                raise HooktrayError(why, hint=say("`hooktray list` shows where hooks stand"))
            raise HooktrayError(
                say("no hook is declared in {source}", source=word),
                hint=say("declared in: {files}", files=", ".join(sources)),
            )
        if len(found) > 1:
            names = ", ".join(one.source for one in found)
            raise HooktrayError(
                say("`{name}` is more than one file", name=word), hint=say("say which: {names}", names=names)
            )
        return self._all_of(found[0])

    def _unchanged(self) -> UserRequest:
        """`approve unchanged`: all hooks that wait with exactly the imported content."""
        batch = self._controls.batch
        if not batch:
            why = say("no hook waits with exactly the imported content")
            raise HooktrayError(why, hint=say("`hooktray list` shows where hooks stand"))
        return self._all_of(batch)

    def _all_of(self, batch: ApprovalBatch) -> UserRequest:
        number = len(batch.hooks)
        waits = count("{n} hook waits for your approval", "{n} hooks wait for your approval", number)
        return UserRequest(
            summary=button_label(batch),
            question=say("Hooktray: approve all of these?") + f"\n\n{self._reviews.batch(batch)}",
            action=UserAction(action="batch", digest=batch.digest),
            tried=batch.hooks,
            in_menu=waits,
        )

    def deny(self, request: Mapping[str, object]) -> UserRequest:
        if setting := self._setting(request):
            return self._confirm(setting, yes=False)
        one = require_readable(self._find(request))
        return UserRequest(
            summary=say("Deny {name} {digest}", name=one.hook.name, digest=one.digest[:8]),
            question=say("Hooktray: deny this?") + f"\n\n{self._reviews.hook(one)}",
            tightens=True,
            action=UserAction(action="deny", key=one.key, digest=one.digest),
        )

    def revoke(self, request: Mapping[str, object]) -> UserRequest:
        one = self._find(request)
        if not one.approved:
            why = say("`{name}` is not approved", name=one.hook.name)
            raise HooktrayError(why, hint=say("`hooktray list` shows where hooks stand"))
        what = _where(one)
        if env := _names(request):
            return self._withhold(one, env)
        if request.get("last"):
            asked = say("Hooktray: take back just its last approval? What was approved before it counts again.")
            return UserRequest(
                summary=say("Take back the last approval of {name}", name=one.hook.name),
                question=f"{asked}\n  {what}",
                action=UserAction(action="undo", key=one.key),
            )
        return UserRequest(
            summary=say("Revoke {name}", name=one.hook.name),
            question=say("Hooktray: take this approval back? It stops running.") + f"\n  {what}",
            action=UserAction(action="revoke", key=one.key),
        )

    def perform(self, request: UserRequest, channel: str) -> str:
        """Carry out the request, which was confirmed through this channel. Returns the results of test runs."""
        action = request.shown if request.shown and channel == PASSPHRASE else request.action
        self._controls.perform(action, channel)
        until = time.monotonic() + TRIAL_TIMEOUT
        texts = []
        for one in request.tried:
            if text := self._controls.trials.describe(one.key, max(0.0, until - time.monotonic())):
                texts.append(f"{one.hook.name}: {text}" if action.action == "batch" else text)
        return "\n  ".join(texts)

    def _setting(self, request: Mapping[str, object]) -> GuardedSetting | None:
        """A hook of the same name is meant first, and an event names a hook."""
        word = str(request.get("hook", ""))
        if request.get("event") or any(one.hook.name == word for one in self._controls.hooks()):
            return None
        return self._controls.setting(word)

    def _confirm(self, setting: GuardedSetting, *, yes: bool) -> UserRequest:
        text = sanitise(setting.text, 1000)
        if yes:
            summary = say("Confirm {setting}", setting=text)
            question = say("Hooktray: confirm this setting? It loosens a gate or sends data out.")
        else:
            summary = say("Deny {setting}", setting=text)
            question = say("Hooktray: turn this setting down?")
        return UserRequest(
            summary=summary,
            question=f"{question}\n  {text}",
            action=UserAction(action="approve" if yes else "deny", key=setting.key, digest=setting.digest),
            tightens=not yes,
            in_menu=say("{name} waits for your approval", name=text) if yes and setting.waiting else "",
        )

    def _find(self, request: Mapping[str, object]) -> HookState:
        word, event = str(request.get("hook", "")), str(request.get("event", ""))
        named = self._controls.find(word)
        found = [one for one in named if not event or event in _event_names(one.hook.match)]
        if len(found) == 1 and found[0].state is ApprovalState.INACTIVE:
            why = say("`{name}` is inactive: {why}", name=word, why=found[0].health)
            raise HooktrayError(why, hint=say("remove that first, then ask again"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(one.key for one in found)
            why = say("`{name}` is more than one hook", name=word)
            raise HooktrayError(why, hint=say("say which: {names}", names=names))
        likely = nearest(
            word,
            [name for one in self._controls.hooks() for name in (one.hook.name, command_or_url(one.hook)) if name],
        )
        hint = say("`hooktray list` shows every hook and its name")
        if named:
            match = named[0].hook.match
            hint = say("its event is `{event}`", event=match.native or match.event)
        elif likely:
            hint = say("did you mean `{name}`?", name=likely)
        why = say("no hook is called `{name}`", name=word)
        if event:
            why = say("no hook is called `{name}` for `{event}`", name=word, event=event)
        raise HooktrayError(why, hint=hint)


def _where(one: HookState) -> str:
    source = sanitise(str(one.hook.source), 500)
    return say("{name}, declared in {source}", name=sanitise(one.hook.name, 200), source=source)


def _names(request: Mapping[str, object]) -> tuple[str, ...]:
    """The variables that a request is about."""
    names = request.get("env") or ()
    return tuple(map(str, names)) if isinstance(names, list | tuple) else (str(names),)


def _event_names(match: Match) -> frozenset[str]:
    """Every name of the event that a hook is asked about: as it is written, and the canonical one."""
    kinds = (spec(agent, match.event).kind.value for agent in match.agents)
    return frozenset((match.event, match.native, *kinds))
