"""Sets, changes and forgets the passphrase at a terminal."""

from __future__ import annotations

import os
import sys
from typing import Protocol

from tray.approvals.callers.caller_facts import is_at_console, is_connected_to_root, own_addresses, process_chain
from tray.approvals.callers.person import Proof, is_console_login, is_remote_login
from tray.approvals.controls import PASSPHRASE, TERMINAL, Controls
from tray.approvals.passphrase import MIN_LENGTH, TOO_SHORT
from tray.errors import HooktrayError
from tray.ipc.connection import CallerTerminal
from tray.ipc.terminal import TerminalDialogue, TerminalPrompt
from tray.language import phrase, say

NOTHING_CHANGED = phrase("not confirmed, nothing was changed")
IN_TRAY = phrase("set it in the tray's menu or on the page (`hooktray open`)")
AT_LOGIN = phrase("log in over SSH from another machine, or at this machine's own console, and set it there")
AT_CONSOLE = phrase("set it in the tray's menu, on the page, or at this machine's own console (/dev/tty1 …)")


class TrayFacts(Protocol):
    """Decides where a first passphrase can be set, besides the menu and the page."""

    @property
    def heard_from_agents(self) -> bool:
        """True if an agent was connected or has sent an event."""

    @property
    def has_desktop(self) -> bool:
        """True if the menu or the page can be shown."""

    @property
    def is_state_lost(self) -> bool:
        """True if approvals are lost and not reviewed: the program that deleted them must not set a passphrase."""


class PassphraseChange:
    """Sets, changes or forgets the passphrase, at the terminal of a command."""

    def __init__(self, prompt: TerminalPrompt, controls: Controls, tray: TrayFacts) -> None:
        self._prompt = prompt
        self._controls = controls
        self._tray = tray

    def change(self, pid: int, terminal: CallerTerminal, *, forget: bool) -> str:
        """Returns what was done. Raises HooktrayError if nothing was changed."""
        judgement = self._prompt.judge(pid)
        if judgement.proof is Proof.REFUSED:
            raise HooktrayError(judgement.reason, hint=judgement.remedy)
        was_set = self._controls.passphrase.is_set
        if forget and not was_set:
            raise HooktrayError(say("no passphrase is set"), hint=say("`hooktray passphrase` sets one"))
        if not was_set:
            self._require_first_place(pid, judgement.reason)
        with self._prompt.dialogue(pid, terminal) as dialogue:
            if was_set and not dialogue.is_passphrase(say("Your present passphrase (it is not shown):") + " "):
                hint = say("a forgotten one is replaced in the tray's menu or on the page")
                raise HooktrayError(say(NOTHING_CHANGED), hint=hint)
            typed = "" if forget else _ask_new(dialogue)
            if not dialogue.is_allowed() or self._controls.passphrase.is_set is not was_set:
                raise HooktrayError(say(NOTHING_CHANGED), hint=say("ask once more"))
        channel = PASSPHRASE if was_set else TERMINAL
        if forget:
            self._controls.forget_passphrase(channel)
            return say("The passphrase is forgotten")
        self._controls.set_passphrase(typed, channel)
        return say("The passphrase is changed") if was_set else say("The passphrase is set")

    def _require_first_place(self, pid: int, reason: str) -> None:
        """Raises HooktrayError where an agent may have typed a first passphrase."""
        if why := reason or self._objection(pid):
            has_desktop = self._tray.has_desktop
            hint = AT_CONSOLE if self._tray.is_state_lost else IN_TRAY if has_desktop else AT_LOGIN
            raise HooktrayError(say("a first passphrase cannot be set here: {why}", why=why), hint=say(hint))

    def _objection(self, pid: int) -> str:
        chain = process_chain(pid)
        if is_at_console(pid) and is_console_login(chain):
            return ""
        if self._tray.is_state_lost:
            return say("approvals were lost")
        if not self._tray.heard_from_agents:
            return ""
        if not self._tray.has_desktop and is_remote_login(chain, own_addresses()):
            return _local_login()
        return say("an agent may type here, too")


def _local_login() -> str:
    """Returns why the login may be from this machine, or "". Its variables can claim any address."""
    if sys.platform == "linux" and not is_connected_to_root(os.getuid()):
        return ""
    return say("it may have logged in from this machine: a program of yours is connected to a service of root here")


def _ask_new(dialogue: TerminalDialogue) -> str:
    typed = dialogue.ask(
        say("Type a new passphrase with at least {n} characters. It is not shown:", n=MIN_LENGTH) + " "
    )
    if not typed:
        raise HooktrayError(say(NOTHING_CHANGED), hint=say("ask once more"))
    if len(typed) < MIN_LENGTH:
        raise HooktrayError(say(TOO_SHORT, n=MIN_LENGTH), hint=say("nothing was changed; ask once more"))
    if dialogue.ask(say("Once more:") + " ") != typed:
        raise HooktrayError(say("the two entries differ"), hint=say("nothing was changed; ask once more"))
    return typed
