"""Which hooks an event asks: by agent, event, tool name and text, each once. Patterns run under a time limit."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tray.agents import wire
from tray.agents.agent import ENVELOPE
from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, hook_rules
from tray.agents.tools import aliases, is_called, matched_names
from tray.engine import scopes
from tray.engine.gates import apply_switch
from tray.engine.scopes import SkillScopes
from tray.errors import PACKAGE_ERRORS
from tray.model.event import TYPED_KINDS, Capability, Event, EventKind
from tray.model.hook import Action, AsyncMode, Command, Failure, Hook, Match, plain_texts
from tray.paths import real_path
from tray.store.ledger import ApprovedHook, LedgerState
from tray.store.switch import Switch

if TYPE_CHECKING:
    import regex

    from tray.engine.ports import EventCaller

PATTERN_LIMIT = 0.05  # seconds; a pattern that runs out of time counts as matching, so its hook runs
BUDGET = 0.2  # seconds for all patterns of one event
SLOW_AFTER = 0.01  # of these, until the caller is acknowledged
_LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")
_LIST_OF_WORDS = re.compile(r"[A-Za-z0-9_|]*")

log = logging.getLogger(__name__)


def plan(
    event: Event,
    ledger: LedgerState,
    switch: Switch,
    skills: SkillScopes | None,
    caller: EventCaller | None = None,
) -> tuple[ApprovedHook, ...]:
    """The hooks in force that this event asks, in their order. Of an unreadable event only agent and name count.

    Without `skills` no skill is in force. The caller is acknowledged when patterns take long.
    """
    names = (event.agent, event.kind, event.name)
    candidates = ledger.known_candidates.get(names)
    if candidates is None:
        candidates = ledger.candidates(*names)
    if not candidates:
        return ()
    search = EventSearch(event, skills, caller)
    indexes: list[int] = []
    for match, group in candidates:
        if matches(match, event, search):
            indexes += group
    hooks = [*map(ledger.ordered.__getitem__, sorted(indexes))]
    if hooks and event.kind in TYPED_KINDS:
        hooks = [one for one in hooks if _can_carry_answer(one.hook, event)]
    switched = switch.current
    if hooks and (switched.hooks_off or switched.agents_off or switched.agent_runs):
        hooks = [apply_switch(one, switch) for one in hooks if not _is_run_by_agent(event, one.hook, switch)]
    return tuple(hooks)


def _is_run_by_agent(event: Event, hook: Hook, switch: Switch) -> bool:
    """True if the agent runs the hook by itself. It reads a project's file only if it was started there."""
    if not switch.is_run_by(event.agent, hook):
        return False
    project = hook.match.project
    return not project or real_path(event.project_folder or event.cwd) == real_path(project)


def _can_carry_answer(hook: Hook, event: Event) -> bool:
    """Whether the event can carry the answer of this hook's format to what a person typed."""
    can = event.spec.can
    return Capability.REWRITE_PROMPT in can or not hook_rules(hook.dialect).only_rewrites_prompts


class EventSearch(msgspec.Struct, eq=False, dict=True):
    """The patterns of one event: its text is put together once, and all of them share one budget of time."""

    event: Event
    scopes: SkillScopes | None = None
    caller: EventCaller | None = None
    left: float = BUDGET  # seconds
    texts: tuple[str, ...] = ()  # of the event, once a pattern is looked for
    known: dict[str, bool] = {}  # whether a pattern is in the event

    @cached_property
    def skills(self) -> frozenset[str] | None:
        return self.scopes.skills(self.event) if self.scopes else frozenset()

    def in_event(self, pattern: str) -> bool:
        """Whether the event's text has it; what many hooks look for is looked for once."""
        if pattern not in self.known:
            self.texts = self.texts or texts_of(self.event)
            found = False
            for text in self.texts:
                if self.in_text(pattern, text):
                    found = True
                    break
            self.known[pattern] = found  # not before: a pattern that fails is not known
        return self.known[pattern]

    def in_text(self, pattern: str, text: str) -> bool:
        """Whether the pattern is in the text; one that runs out of time counts as found."""
        if self.left < BUDGET - SLOW_AFTER and self.caller is not None:
            self.caller.acknowledge()
        started = time.perf_counter()
        try:
            plain = plain_texts(pattern)
            if plain is not None:
                return any(map(text.__contains__, plain))
            return _compiled(pattern).search(text, timeout=min(PATTERN_LIMIT, max(self.left, 0.001))) is not None
        except TimeoutError:
            return True
        finally:
            self.left -= time.perf_counter() - started


def matches(match: Match, event: Event, search: EventSearch) -> bool:
    """Whether the matcher fits this event; True if it fails: no content of an event may get it past a guard."""
    try:
        if match.agents and event.agent not in match.agents:
            return False
        if match.event != event.kind and not (match.agents and match.event == event.name):
            return False
        if (match.format or match.project) and not _is_native(match, event):
            return False
        if event.problem:
            return event.tool is None or not match.tool or _tool_fits(match, event, search)
        if match.subagent and not scopes.in_subagent(match.subagent, event):
            return False
        if match.skill and not scopes.is_active(match.skill, search.skills):
            return False
        if match.tool and not _tool_fits(match, event, search):
            return False
        if match.condition and not _is_condition_met(match, event, search):
            return False
        return not match.pattern or search.in_event(match.pattern)
    except PACKAGE_ERRORS:  # the hook's turn
        log.exception("cannot find out whether %s of %s fits %r", event.name, event.agent, match)
        return True


def _is_condition_met(match: Match, event: Event, search: EventSearch) -> bool:
    """A format without conditions has none to fail."""
    is_met = hook_rules(match.format).is_condition_met
    return is_met is None or is_met(match, event, search)


def _tool_fits(match: Match, event: Event, search: EventSearch) -> bool:
    wanted = match.tool
    if wanted in ("", "*"):
        return True
    names = frozenset(_matched_names(match, event))
    listed = exact_names(match)
    if listed is not None:
        if not names.isdisjoint(listed):
            return True
        return bool(event.tool and not match.format and is_called(event.agent, event.tool.name, listed))
    if event.tool and hook_rules(match.format).whole_aliases:
        words = (word.strip() for word in wanted.split("|"))
        if not aliases(match.format, event.agent, event.tool.name).isdisjoint(words):
            return True
    return any(search.in_text(wanted, name) for name in names)


def exact_names(match: Match) -> frozenset[str] | None:
    """The names that the matcher for tools lists; None when it is a pattern."""
    rules = hook_rules(match.format)
    exact = _LIST_OF_WORDS if match.native in rules.word_lists else _LIST_OF_NAMES
    if not rules.exact_names or not exact.fullmatch(match.tool):
        return None
    return frozenset(name.strip() for name in re.split(r"[|,]", match.tool))


def texts_of(event: Event) -> tuple[str, ...]:
    """Returns the texts of a matcher: the tool's input and output, prompt and message; then with all other texts.

    The first text is separate so that `$` matches its end. Without any, the matcher searches the whole payload, so
    that a pattern applies to every event.
    """
    own = [event.prompt, event.message]
    if event.tool:
        own += _texts([event.tool.input, event.tool.output])
    first = "\n".join(filter(None, own))
    rest = "" if event.tool else "\n".join(text for text in _other_texts(event) if text and text not in own)
    if first and rest:
        return first, f"{first}\n{rest}"
    return (first or rest or "\n".join(_texts(event.payload)),)


def _other_texts(event: Event) -> list[str]:
    """Every text of the payload but its envelope and the event's own name."""
    names = (event.name, event.name.replace("-", "_"))
    envelope = event.sender.envelope if event.sender else ENVELOPE
    return _texts([value for key, value in event.payload.items() if key not in envelope and value not in names])


def _texts(value: object) -> list[str]:
    """Every text in it, in order. What else it holds is passed over in place: a payload may have millions of numbers.

    A plain loop over iterators: depth comes from outside.
    """
    found: list[str] = []
    waiting: list[Iterator[object]] = [iter((value,))]
    while waiting:
        for one in waiting[-1]:
            if isinstance(one, str):
                found.append(one)
            elif isinstance(one, (dict, list, tuple)):
                waiting.append(iter(one.values() if isinstance(one, dict) else one))
                break
        else:
            waiting.pop()
    return found


@lru_cache(maxsize=16_384)  # a pattern compiles in the time of a thousand searches
def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # only where a hook has a pattern: it takes a tenth of an event's time without the tray

    return regex.compile(pattern)


def _is_native(match: Match, event: Event) -> bool:
    """Whether this is the very event it was declared for, on its own agent, and happened in its project."""
    if match.format and event.agent == match.format and event.name != match.native:
        return False
    # A session may leave its project's folder, and an agent may start below it.
    return not match.project or any(_below(one, match.project) for one in (event.cwd, event.project_folder))


def _matched_names(match: Match, event: Event) -> Collection[str]:
    """What the matcher is held against: the tool's names, or what the format's own event has in that place."""
    if event.tool is None:
        return _subject(match, event)
    return matched_names(match.format, event.agent, event.tool.name)


def _subject(match: Match, event: Event) -> set[str]:
    """The value that the hook itself will find in its input, under the key that its matcher is about."""
    if not match.format:
        return set()
    subject = spec(match.format, match.native).subject
    key = subject or ("command" if event.kind is EventKind.SLASH_COMMAND else "")
    try:
        value: object = wire.mapping(AGENTS[match.format].protocol.stdin(event))
    except ValueError:
        return set()
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, str):
        return set()
    return {PurePath(value).name} if key == "file_path" else {value}  # a changed file is matched by its name only


def _below(folder: str, project: str) -> bool:
    if not folder:
        return False
    is_below = PurePath(folder).is_relative_to(project)
    return is_below or PurePath(real_path(folder)).is_relative_to(real_path(project))


def duplicates(hooks: Sequence[ApprovedHook]) -> dict[int, int]:
    """The indexes of the hooks that are not asked, each with the index of the same hook that is."""
    moved = any(one.hook.is_imported or hook_rules(one.hook.match.format).moved[1] for one in hooks)
    left = [index for index, one in enumerate(hooks) if moved or _is_deduplicated(one.hook)]
    same_as: dict[int, int] = {}
    while left:
        first, *rest = left
        same = [index for index in rest if _same(hooks[first].hook, hooks[index].hook)]
        weights = {index: _weight(hooks[index]) for index in (first, *same)}
        kept = max(weights, key=weights.__getitem__)
        same_as |= {index: kept for index in (first, *same) if index != kept}
        left = [index for index in rest if index not in same]
    return same_as


def split_async(hooks: Sequence[ApprovedHook]) -> tuple[tuple[ApprovedHook, ...], tuple[ApprovedHook, ...]]:
    """The hooks that the answer waits for, and those that run beside it; a duplicate goes with the one asked."""
    same_as = duplicates(hooks) if len(hooks) > 1 else {}
    awaited: list[ApprovedHook] = []
    beside: list[ApprovedHook] = []
    for index, one in enumerate(hooks):
        asked = hooks[same_as.get(index, index)].hook
        (awaited if asked.async_mode is AsyncMode.NO else beside).append(one)
    return tuple(awaited), tuple(beside)


def _same(one: Hook, other: Hook) -> bool:
    if one.match.format != other.match.format:
        return False
    if _is_moved(one, other) or _is_moved(other, one):
        return replace(one.match, agents=other.match.agents) == other.match
    if one.is_imported != other.is_imported:  # it was approved where it stood before, and again where it is now
        return replace(one.match, agents=other.match.agents) == other.match and _line(one) == _line(other)
    return _is_deduplicated(one) and one.action == other.action and _scope(one) == _scope(other)


def _is_moved(one: Hook, other: Hook) -> bool:
    """True if `connect` moved `one` from the place where `other` was approved."""
    before, after = hook_rules(one.match.format).moved
    name = one.source.path.partition(after)[2] if after else ""
    return bool(name) and name == other.source.path.partition(before)[2]


def _line(hook: Hook) -> Action:
    """The action without its folder: `import-hooks` moves no line that depends on where its file is."""
    return replace(hook.action, folder="") if isinstance(hook.action, Command) else hook.action


def _is_deduplicated(hook: Hook) -> bool:
    return hook_rules(hook.match.format).deduplicated


def _scope(hook: Hook) -> str:
    """The plugin's file; "" for one whose handlers may be those of another file, too."""
    path = Path(hook.source.path)
    return str(path) if path.name in hook_rules(hook.match.format).plugin_files else ""


def _weight(one: ApprovedHook) -> tuple[bool, bool, bool, int, float]:
    """The one that guards most comes first: on, waited for, each time, blocking when it fails, approved last."""
    hook = one.hook
    strictness = tuple(Failure).index(hook.failure)
    return hook.enabled, hook.async_mode is AsyncMode.NO, not hook.once, strictness, one.at
