"""`/hooks …` or `/hooktray …` typed into an agent, so that it is answered here and never reaches the model."""

from __future__ import annotations

from collections.abc import Callable

from tray.model.decision import HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, EventKind

NAME = "hooktray"
WORDS = ("/hooks", "/hooktray")  # an agent with a menu of its own named `/hooks` takes the second one
KINDS = frozenset({EventKind.MODEL_BEFORE, EventKind.PROMPT, EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND})
LIMIT = 500  # characters; a longer text that begins with our word is a text about hooks
CommandAnswers = Callable[[tuple[str, ...], str], str]  # the words, ours first, and the agent they were typed into


def parse_command(event: Event) -> tuple[str, ...] | None:
    """Our word and those behind it; None when that is not what was typed."""
    if event.kind not in KINDS or event.problem:
        return None
    slash = event.kind in (EventKind.SLASH_COMMAND, EventKind.PROMPT_EXPANSION)
    own = f"/{event.topic.removeprefix('/')}"
    if slash and own in WORDS:
        return (own, *event.prompt.removeprefix(own).split()) if len(event.prompt) < LIMIT else None
    text = event.prompt.strip()
    words = text.split() if len(text) < LIMIT else []
    return tuple(words) if words[:1] and words[0] in WORDS else None


def answer_command(event: Event, command_answers: CommandAnswers) -> Outcome | None:
    """A refusal whose reason is the answer; None for every other event."""
    words = parse_command(event) if event.kind in KINDS else None
    if words is None:
        return None
    output = HookOutput(verdict=Verdict.DENY, reason=command_answers(words, event.agent))
    return Outcome(hook=NAME, status=Status.OK, output=output)


def no_tray(words: tuple[str, ...], agent: str) -> str:
    """The answer where no tray runs."""
    return "the tray is not running; `hooktray run` starts it"
