"""Sets, changes and forgets the passphrase at a terminal."""

from __future__ import annotations

from collections.abc import Callable

from tray.approvals.callers.person import Judgement, Proof
from tray.approvals.controls import PASSPHRASE, TERMINAL, Controls
from tray.approvals.passphrase import MIN_LENGTH, TOO_SHORT, generate
from tray.errors import HooktrayError
from tray.ipc.connection import HandedTerminal
from tray.ipc.dialogue import Dialogue
from tray.ipc.terminal import Choice, TerminalPrompt, ask_code
from tray.language import phrase, say

TYPING_TIMEOUT = 180.0  # seconds for a line: a new passphrase is written down first
ALTERNATE_SCREEN, MAIN_SCREEN = "\x1b[?1049h\x1b[H\x1b[2J", "\x1b[H\x1b[2J\x1b[?1049l"
NOTHING_CHANGED = phrase("not confirmed, nothing was changed")
ELSEWHERE = phrase(
    "set it in the tray's menu or on the page (`hooktray open`), or in a terminal of your desktop or one where you "
    "logged in, outside of multiplexers and editors"
)


class PassphraseChange:
    """`heard_from_agents` returns whether an agent was connected or has sent an event: then it may type here, too."""

    def __init__(self, prompt: TerminalPrompt, controls: Controls, heard_from_agents: Callable[[], bool]) -> None:
        self._prompt = prompt
        self._controls = controls
        self._heard_from_agents = heard_from_agents

    def __call__(self, pid: int, handed: HandedTerminal, forget: bool) -> str:
        """Returns what was done. Raises HooktrayError when nothing was."""
        judgement = self._prompt.judge(pid)
        if judgement.proof is Proof.REFUSED:
            raise HooktrayError(judgement.reason, hint=judgement.remedy)
        was_set = self._controls.passphrase.is_set
        if not was_set and judgement.proof is not Proof.CLICK and self._heard_from_agents():
            why = say("a first passphrase cannot be set here: {why}", why=judgement.reason)
            raise HooktrayError(why, hint=say(ELSEWHERE))
        with self._prompt.dialogue(pid, handed, TYPING_TIMEOUT) as person:
            channel = self._confirm(person, judgement, was_set)
            if forget:
                self._controls.forget_passphrase(channel)
                return say("The passphrase is forgotten")
            is_private = judgement.proof is Proof.CLICK or not self._heard_from_agents()
            text = _ask_generated(person) if is_private else _ask_own(person)
            if self._prompt.judge(pid).proof is Proof.REFUSED:
                raise HooktrayError(say(NOTHING_CHANGED))
            self._controls.set_passphrase(text, channel)
        return say("The passphrase is changed") if was_set else say("The passphrase is set")

    def _confirm(self, person: Dialogue, judgement: Judgement, was_set: bool) -> str:
        """The old passphrase, or where there is none the code; returns the channel."""
        if was_set:
            if self._prompt.ask_passphrase(person, say("Your present passphrase (it is not shown):")):
                return PASSPHRASE
            why = say(NOTHING_CHANGED)
            raise HooktrayError(why, hint=say("a forgotten one is replaced in the tray's menu or on the page"))
        asks = judgement.proof is Proof.CLICK
        if asks and ask_code(person, say("Hooktray: set a passphrase?")) is not Choice.YES:
            raise HooktrayError(say(NOTHING_CHANGED), hint=say("type the letters that were shown"))
        return TERMINAL


def _ask_generated(person: Dialogue) -> str:
    """Show a new one on a screen of its own, which leaves nothing behind, until the person has typed it."""
    made = generate()
    person.write(ALTERNATE_SCREEN)
    try:
        person.write(
            say("Your new passphrase:")
            + f"\n\n    {made}\n\n"
            + say("Write it down. Hooktray keeps no copy and does not show it again.")
            + "\n"
            + say("Type it to keep it, or type one of your own with at least {n} characters.", n=MIN_LENGTH)
            + "\n"
            + say("Enter alone leaves all as it is. What you type is not shown:")
            + " "
        )
        typed = _read(person)
    finally:
        person.write(MAIN_SCREEN)
    return typed if typed.split() == made.split() else _again(person, typed)


def _ask_own(person: Dialogue) -> str:
    """A generated one would be on the screen of a terminal that an agent may read."""
    person.write(say("Type a new passphrase with at least {n} characters. It is not shown:", n=MIN_LENGTH) + " ")
    return _again(person, _read(person))


def _again(person: Dialogue, typed: str) -> str:
    if len(typed) < MIN_LENGTH:
        raise HooktrayError(say(TOO_SHORT, n=MIN_LENGTH), hint=say("nothing was changed; ask once more"))
    person.write(say("Once more:") + " ")
    if _read(person) != typed:
        raise HooktrayError(say("these were two different ones"), hint=say("nothing was changed; ask once more"))
    return typed


def _read(person: Dialogue) -> str:
    """Raises HooktrayError when nothing was typed."""
    typed = person.read(secret=True)
    if not typed.endswith(("\n", "\r")) or not typed.strip():
        raise HooktrayError(say(NOTHING_CHANGED), hint=say("ask once more"))
    return typed.strip()
