"""Which hooks an event asks: agent, event, tool name, and text. Patterns run under a time limit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import regex

from tray.dialects.tools import canonical
from tray.model.event import Event
from tray.model.hook import Hook, Match

PATTERN_LIMIT = 0.05  # seconds; a pattern that runs out of time counts as matching, so its hook runs
_LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")


def plan(event: Event, hooks: Sequence[Hook]) -> tuple[Hook, ...]:
    """The hooks that this event asks, in their order. An event we could not read asks by agent and event alone."""
    return tuple(hook for hook in hooks if matches(hook.match, event))


def matches(match: Match, event: Event) -> bool:
    if match.agents and event.agent not in match.agents:
        return False
    if match.event != event.kind.value and not (match.agents and match.event == event.name):
        return False
    if event.problem:
        return True
    return _tool_fits(match.tool, event) and _text_fits(match.pattern, event)


def _tool_fits(wanted: str, event: Event) -> bool:
    if wanted in ("", "*"):
        return True
    if event.tool is None:
        return False
    names = {event.tool.name, canonical(event.agent, event.tool.name)}
    if _LIST_OF_NAMES.fullmatch(wanted):
        return not names.isdisjoint(name.strip() for name in re.split(r"[|,]", wanted))
    return any(_found(wanted, name) for name in names)


def _text_fits(pattern: str, event: Event) -> bool:
    return not pattern or _found(pattern, text_of(event))


def text_of(event: Event) -> str:
    """What a matcher searches: the tool's input and output, prompt and message; else every text of the payload."""
    own = [event.prompt, event.message]
    if event.tool:
        own += [*_texts(event.tool.input), *_texts(event.tool.output)]
    return "\n".join(filter(None, own)) or "\n".join(_texts(event.payload))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)


def _found(pattern: str, text: str) -> bool:
    try:
        return _compiled(pattern).search(text, timeout=PATTERN_LIMIT) is not None
    except TimeoutError:
        return True


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)
