"""What Hooktray itself answers before any hook is asked: `/hooks …` typed into an agent, and lost approvals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from tray.model.decision import HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, EventKind
from tray.model.hook import Failure, Guard

OWN_NAME = "hooktray"
WORDS = ("/hooks", "/hooktray")  # an agent with a menu of its own named `/hooks` takes the second one
TYPED_COMMAND_KINDS = frozenset(
    {EventKind.MODEL_BEFORE, EventKind.PROMPT, EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND}
)
COMMAND_LIMIT = 500  # characters; a longer text that begins with our word is a text about hooks
LOST_NAME = "lost approvals"
LOST_REASON = (
    "Hooktray lost its approvals, and a hook that was approved guards this call. A person reviews them in the tray's"
    " menu under Approvals, or with `hooktray list`."
)


class SlashCommands(Protocol):
    """Answers `/hooks …`, which a user has typed into an agent."""

    def answer_slash_command(self, words: tuple[str, ...], agent: str) -> str:
        """Returns the answer to these words, our own first."""


class WithoutTray:
    """The answer where no tray runs."""

    def answer_slash_command(self, words: tuple[str, ...], agent: str) -> str:
        return "the tray is not running; `hooktray run` starts it"


def parse_command(event: Event) -> tuple[str, ...] | None:
    """Our word and those behind it; None when that is not what was typed. The event is one of TYPED_COMMAND_KINDS."""
    if event.problem:
        return None
    slash = event.kind in (EventKind.SLASH_COMMAND, EventKind.PROMPT_EXPANSION)
    own = f"/{event.topic.removeprefix('/')}"
    if slash and own in WORDS:
        return (own, *event.prompt.removeprefix(own).split()) if len(event.prompt) < COMMAND_LIMIT else None
    text = event.prompt.strip()
    words = text.split() if len(text) < COMMAND_LIMIT else []
    return tuple(words) if words[:1] and words[0] in WORDS else None


def answer_command(event: Event, commands: SlashCommands) -> Outcome | None:
    """A refusal whose reason is the answer; None when no command of ours was typed."""
    words = parse_command(event)
    if words is None:
        return None
    output = HookOutput(verdict=Verdict.DENY, reason=commands.answer_slash_command(words, event.agent))
    return Outcome(hook=OWN_NAME, status=Status.OK, output=output)


class LostApprovals(msgspec.Struct):
    """What lost approvals go on guarding; nothing as long as none were lost."""

    guards: Sequence[Guard] = ()

    def judge(self, event: Event) -> Outcome | None:
        """Returns the outcome for this event, which is never an allow; None if no guard matches it."""
        found = [guard for guard in self.guards if (guard.agent, guard.event) == (event.agent, event.name)]
        if event.tool is not None:  # if the tool cannot be read, the call counts as guarded
            found = [guard for guard in found if (event.tool.name in guard.names) is not guard.is_exception]
        failures = {guard.failure for guard in found}
        if not failures:
            return None
        verdict = Verdict.DENY if Failure.BLOCK in failures else Verdict.ASK
        return Outcome(hook=LOST_NAME, status=Status.OK, output=HookOutput(verdict=verdict, reason=LOST_REASON))
