"""Our own `hooks:` of hooktray.yaml, a superset of OWN_FORMAT."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tray.addresses import endpoint
from tray.agents.agent import Agent
from tray.agents.protocol import is_gating, is_known_event
from tray.agents.registry import AGENTS, BUILT_IN, OWN_FORMAT
from tray.errors import ConfigError
from tray.model.decision import Verdict
from tray.model.event import EventKind
from tray.model.hook import DEFAULT_TIMEOUT, OWN_SOURCE, Action, Command, Failure, Hook, Http, Match, Prompt, Rule
from tray.reading.entries import default_name, pattern_problem, source, unique_names
from tray.reading.http_hooks import http_action, local_url_problem
from tray.settings import convert, invalid_value, ready_for_threads
from tray.strict.document import Document, suggest

KINDS = tuple(kind.value for kind in EventKind)
VERDICTS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY, "block": Verdict.DENY}


@ready_for_threads
class HookEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One item of `hooks:` as it is written."""

    event: str
    agent: str | list[str] = []
    tool: str = ""
    matcher: str = ""
    type: Literal["command", "rule", "http", "prompt", "agent"] = "command"
    command: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    allow_local: list[str] = []
    prompt: str = ""
    model: str = ""
    decision: Literal["allow", "ask", "deny", "block"] | None = None
    reason: str = ""
    name: str = ""
    dialect: str = OWN_FORMAT
    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = DEFAULT_TIMEOUT
    failure: Literal["allow", "ask", "block"] | None = None
    enabled: bool = True
    env: list[str] = []
    files: list[str] = []
    background_seconds: Annotated[float, msgspec.Meta(ge=0, le=86400)] = 600.0
    once: bool = False


KEYS = HookEntry.__struct_fields__


def read(document: Document, background_seconds: float = 600.0) -> list[Hook]:
    """The hooks of a loaded hooktray.yaml, in order; one ConfigError that lists all that is wrong."""
    value = document.value.get("hooks") if isinstance(document.value, dict) else None
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid_value(document, ("hooks",), "expected a list of hooks", "begin each hook with `- event: …`")
    hooks: list[Hook] = []
    errors: list[ConfigError] = []
    for index, entry in enumerate(value):
        try:
            hooks.append(_hook(document, index, entry, background_seconds))
        except ConfigError as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else ConfigError("\n".join(str(error) for error in errors))
    return unique_names(hooks)


def _hook(document: Document, index: int, value: Any, background_seconds: float) -> Hook:
    at = ("hooks", index)
    if isinstance(value, dict) and "background_seconds" not in value:
        value = {**value, "background_seconds": background_seconds}
    entry = convert(document, at, value, HookEntry)
    if entry.dialect not in AGENTS:
        what = f"unknown dialect `{entry.dialect}`"
        raise invalid_value(document, (*at, "dialect"), what, suggest(entry.dialect, AGENTS))
    action, match = _action(document, at, entry), _match(document, at, entry)
    # A hook that gates has a default of its own; where a failure can stop nothing, it is `allow`.
    default = Failure.DEFAULT if is_gating(match.agents, entry.event) else Failure.ALLOW
    return Hook(
        name=entry.name or default_name(match, action),
        source=source(document, at, OWN_SOURCE),
        match=match,
        action=action,
        dialect=entry.dialect,
        timeout=entry.timeout,
        failure=Failure(entry.failure) if entry.failure else default,
        enabled=entry.enabled,
        env=tuple(entry.env),
        files=tuple(entry.files),
        background_seconds=entry.background_seconds,
        once=entry.once,
    )


def _match(document: Document, at: tuple[Any, ...], entry: HookEntry) -> Match:
    agents = _agents(entry)
    for agent in agents:
        if agent not in AGENTS:
            raise invalid_value(document, (*at, "agent"), f"unknown agent `{agent}`", suggest(agent, AGENTS))
    native = [name for agent in agents for name in AGENTS[agent].events]
    if entry.event not in KINDS and not any(is_known_event(agent, entry.event) for agent in agents):
        words = [*KINDS, *(native or [name for known in AGENTS.values() for name in known.events])]
        hint = suggest(entry.event, words)
        if not agents and entry.event in words:
            hint = f"add `agent:`, as {' and '.join(_agents_with(entry.event, AGENTS))} have an event of this name"
        raise invalid_value(document, (*at, "event"), f"unknown event `{entry.event}`", hint)
    if entry.tool != "*":  # every tool, as other formats write it
        _pattern(document, (*at, "tool"), entry.tool)
    _pattern(document, (*at, "matcher"), entry.matcher)
    return Match(event=entry.event, agents=agents, tool=entry.tool, pattern=entry.matcher)


def _agents(entry: HookEntry) -> tuple[str, ...]:
    """The agents that are named, or the one that has an event of this native name."""
    if entry.agent or entry.event in KINDS:
        return (entry.agent,) if isinstance(entry.agent, str) else tuple(entry.agent)
    having = _agents_with(entry.event, BUILT_IN)
    return tuple(having) if len(having) == 1 else ()


def _agents_with(event: str, agents: Iterable[str]) -> list[str]:
    return [agent for agent in agents if is_known_event(agent, event)]


def native_events(agents: Mapping[str, Agent] = AGENTS) -> list[str]:
    """The native event names that need no `agent:` beside them."""
    counts = Counter(name for id in BUILT_IN if id in agents for name in agents[id].events if "<" not in name)
    return [name for name, count in counts.items() if count == 1]


def _pattern(document: Document, at: tuple[Any, ...], pattern: str) -> None:
    if problem := pattern_problem(pattern, script=False):
        hint = "escape a sign that is meant as such with `\\`"
        raise invalid_value(document, at, f"`{pattern}` is not a pattern: {problem}", hint)


def _action(document: Document, at: tuple[Any, ...], entry: HookEntry) -> Action:
    if entry.type == "http":
        return _http(document, at, entry)
    if entry.type in ("prompt", "agent"):
        if not entry.prompt.strip():
            raise invalid_value(document, at, f"a hook of the type `{entry.type}` needs a prompt", "add `prompt: …`")
        return Prompt(text=entry.prompt, model=entry.model, agent=entry.type == "agent")
    if entry.type == "rule":
        if entry.decision is None:
            raise invalid_value(document, at, "a rule needs a decision", "add `decision: deny`, `ask` or `allow`")
        return Rule(verdict=VERDICTS[entry.decision], reason=entry.reason)
    if not entry.command.strip():
        hint = "add `command: ./guard.py`, or `type: rule`"
        raise invalid_value(document, at, "a command hook needs a command", hint)
    try:
        first = shlex.split(entry.command)[0]
    except ValueError as error:
        what = f"cannot be split into words: {error}"
        raise invalid_value(document, (*at, "command"), what, "close the quotes") from None
    folder = str(Path(document.path).absolute().parent)
    program = "" if "/" in first or "\\" in first else shutil.which(first) or ""
    return Command(line=entry.command, folder=folder, interpreter=program)


def _http(document: Document, at: tuple[Any, ...], entry: HookEntry) -> Http:
    action = http_action(document, at, entry.url, entry.headers, entry.allow_local)
    if why := local_url_problem(action):
        place = endpoint(entry.url).host_port
        raise invalid_value(document, (*at, "url"), why, f'if that is meant, add `allow_local: ["{place}"]`')
    return action
