"""Which hooks an event asks: agent, event, tool name, and text. Patterns run under a time limit."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from tray.agents.agent import ENVELOPE
from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, hook_rules
from tray.engine import matcher_input, scopes
from tray.model.event import TYPED_KINDS, Capability, Event
from tray.model.hook import Hook, Match
from tray.store.ledger import ApprovedHook, LedgerState

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT = 0.05  # seconds; a pattern that runs out of time counts as matching, so its hook runs
BUDGET = 0.2  # seconds for all patterns of one event
SLOW_AFTER = 0.01  # of these, until `on_slow` is called
_LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")
_LIST_OF_WORDS = re.compile(r"[A-Za-z0-9_|]*")
_PLAIN_TEXTS = re.compile(
    r"(?:[^\\.^$*+?{}\[\]()|]|\\[.$*+?(){}\[\]|/-])+(?:\|(?:[^\\.^$*+?{}\[\]()|]|\\[.$*+?(){}\[\]|/-])+)*"
)


log = logging.getLogger(__name__)


def plan(
    event: Event, ledger: LedgerState, skills: Callable[[Event], frozenset[str] | None], on_slow: Callable[[], object]
) -> tuple[ApprovedHook, ...]:
    """The hooks in force that this event asks, in their order. One we could not read asks by agent and event alone.

    `skills` says which skills are in force in the event's session; `on_slow` is called when patterns take long.
    """
    candidates = ledger.candidates(event.agent, event.kind, event.name)
    if not candidates:
        return ()
    search = EventSearch(event, skills, on_slow)
    indexes = [index for match, group in candidates if _may_match(match, event, search) for index in group]
    hooks = tuple(ledger.ordered[index] for index in sorted(indexes))
    return tuple(one for one in hooks if _is_heard(one.hook, event)) if event.kind in TYPED_KINDS else hooks


def _is_heard(hook: Hook, event: Event) -> bool:
    """Whether the event can carry what a hook of this format has to say about what a person typed."""
    can = spec(event.agent, event.name).can
    return Capability.REWRITE_PROMPT in can or not hook_rules(hook.dialect).only_rewrites_prompts


def _may_match(match: Match, event: Event, search: EventSearch) -> bool:
    """A hook whose matcher fails is asked: no event gets past a guard by what it says."""
    try:
        return matches(match, event, search)
    except Exception:
        log.exception("whether %s of %s is meant by %r", event.name, event.agent, match)
        return True


class EventSearch:
    """The patterns of one event: its text is put together once, and all of them share one budget of time."""

    def __init__(
        self,
        event: Event,
        skills: Callable[[Event], frozenset[str] | None] = scopes.no_skills,
        on_slow: Callable[[], object] = lambda: None,
    ) -> None:
        self._event = event
        self._skills = skills
        self._on_slow = on_slow
        self._left = BUDGET
        self._known: dict[str, bool] = {}

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return texts_of(self._event)

    @cached_property
    def skills(self) -> frozenset[str] | None:
        return self._skills(self._event)

    def in_event(self, pattern: str) -> bool:
        """Whether the event's text has it; what many hooks look for is looked for once."""
        known = self._known.get(pattern)
        if known is None:
            known = self._known[pattern] = any(self.in_text(pattern, text) for text in self.texts)
        return known

    def in_text(self, pattern: str, text: str) -> bool:
        """Whether the pattern is in the text; one that runs out of time counts as found."""
        if self._left < BUDGET - SLOW_AFTER:
            self._on_slow()
        started = time.perf_counter()
        try:
            plain = plain_texts(pattern)
            if plain is not None:
                return any(map(text.__contains__, plain))
            return _compiled(pattern).search(text, timeout=min(PATTERN_LIMIT, max(self._left, 0.001))) is not None
        except TimeoutError:
            return True
        finally:
            self._left -= time.perf_counter() - started


def matches(match: Match, event: Event, search: EventSearch) -> bool:
    if match.agents and event.agent not in match.agents:
        return False
    if match.event != event.kind and not (match.agents and match.event == event.name):
        return False
    if (match.format or match.project) and not matcher_input.is_native(match, event):
        return False
    if event.problem:
        return True
    if match.subagent and not scopes.in_subagent(match.subagent, event):
        return False
    if match.skill and not scopes.is_active(match.skill, search.skills):
        return False
    if match.tool and not _tool_fits(match, event, search):
        return False
    if match.condition and not _is_condition_met(match, event, search):
        return False
    return not match.pattern or search.in_event(match.pattern)


def _is_condition_met(match: Match, event: Event, search: EventSearch) -> bool:
    """A format without conditions has none to fail."""
    is_met = hook_rules(match.format).is_condition_met
    return is_met is None or is_met(match, event, partial(matcher_input.candidates, match, event), search.in_text)


def _tool_fits(match: Match, event: Event, search: EventSearch) -> bool:
    wanted = match.tool
    if wanted in ("", "*"):
        return True
    names = matcher_input.candidates(match, event)
    listed = exact_names(match)
    if listed is not None:
        return not names.isdisjoint(listed)
    if hook_rules(match.format).whole_aliases and _names_alias(match, event):
        return True
    return any(search.in_text(wanted, name) for name in names)


def _names_alias(match: Match, event: Event) -> bool:
    """Whether one of the matcher's alternatives is another name of the tool."""
    return not matcher_input.aliases(match, event).isdisjoint(word.strip() for word in match.tool.split("|"))


def exact_names(match: Match) -> frozenset[str] | None:
    """The names that the matcher for tools lists; None when it is a pattern."""
    rules = hook_rules(match.format)
    exact = _LIST_OF_WORDS if match.native in rules.word_lists else _LIST_OF_NAMES
    if not rules.exact_names or not exact.fullmatch(match.tool):
        return None
    return frozenset(name.strip() for name in re.split(r"[|,]", match.tool))


def texts_of(event: Event) -> tuple[str, ...]:
    """What a matcher searches: the tool's input and output, prompt and message; then with the payload's other texts.

    The first part by itself, too, so that `$` means its end. Where there is no such text it is all of the payload:
    no event goes unasked because it has nothing to say.
    """
    own = [event.prompt, event.message]
    if event.tool:
        own += [*_texts(event.tool.input), *_texts(event.tool.output)]
    first = "\n".join(filter(None, own))
    rest = "" if event.tool else "\n".join(text for text in _other_texts(event) if text and text not in own)
    if first and rest:
        return first, f"{first}\n{rest}"
    return (first or rest or "\n".join(_texts(event.payload)),)


def _other_texts(event: Event) -> list[str]:
    """Every text of the payload but its envelope and the event's own name."""
    names = (event.name, event.name.replace("-", "_"))
    envelope = AGENTS[event.agent].envelope if event.agent in AGENTS else ENVELOPE
    return _texts([value for key, value in event.payload.items() if key not in envelope and value not in names])


def _texts(value: Any) -> list[str]:
    """Every text in it, in order. Numbers are passed over where they stand: a payload may hold millions."""
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, (dict, list, tuple)):
            inner = [*one.values()] if isinstance(one, dict) else one
            waiting += [each for each in reversed(inner) if isinstance(each, (str, dict, list, tuple))]
    return found


@lru_cache(maxsize=16_384)  # a pattern compiles in the time of a thousand searches
def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # it takes longer to import than a rule takes in all, and most rules name plain words

    return regex.compile(pattern)


@lru_cache(maxsize=16_384)
def plain_texts(pattern: str) -> tuple[str, ...] | None:
    """The texts that a pattern of mere alternatives looks for, such as `rm -rf|mkfs\\.`; None for any other.

    They need no limit of time: looking for a text is linear.
    """
    if not _PLAIN_TEXTS.fullmatch(pattern):
        return None
    return tuple(re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\)\|", pattern))
