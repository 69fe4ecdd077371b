"""Chooses the test event of a hook: an agent's event, and a payload that the hook's own matchers let through."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping

from tray.agents import wire
from tray.agents.protocol import is_known_event, spec
from tray.agents.registry import AGENTS, CANONICAL
from tray.agents.tools import canonical, native, native_input, titles
from tray.engine import trial
from tray.errors import HooktrayError
from tray.model.event import Event, Tool
from tray.model.hook import Match
from tray.store.ledger import ApprovedHook

NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")
WORDS = re.compile(r"[\w ./:@=-]+")
ANY = re.compile(r"\.\*\??|\.\+|\[\^?[^\]]*\][*+]?|\\w[*+]?")
SAMPLE_LIMIT = 64  # payloads that are looked at for one hook


def sample(match: Match) -> tuple[str, str] | None:
    """An agent and its native event that this hook runs on, the agent of the canonical names first; None for none."""
    own = match.format
    if own in AGENTS and is_known_event(own, match.native) and own in (match.agents or AGENTS):
        return own, match.native
    for agent in match.agents or (CANONICAL, *AGENTS):
        if agent not in AGENTS:
            continue
        for name, each in AGENTS[agent].events.items():
            if match.event == each.kind.value or (match.agents and match.event == name):
                return agent, name
        if match.agents and match.event.startswith("slash/"):
            return agent, match.event
    return None


def sample_event(approved: ApprovedHook, *, environment: Mapping[str, str], cwd: str) -> Event | None:
    """A test event that this hook's own matchers let through; None when none was found."""
    match = approved.hook.match
    found = sample(match)
    if found is None or match.skill or match.subagent:
        return None
    agent, name = found
    folder = match.project or cwd
    with contextlib.suppress(HooktrayError):  # an agent of a package may have no sample
        for body in _bodies(match, agent, name, folder):
            with contextlib.suppress(HooktrayError):  # a condition that is not met makes it another hook's event
                event = trial.synthetic_event(agent, name, body, environment=environment, cwd=folder)
                if trial.is_matched(approved, event):
                    return event
    return None


def _bodies(match: Match, agent: str, name: str, folder: str) -> Iterator[bytes]:
    """The sample itself, then the same with other tools and texts that the matchers name."""
    body = trial.sample(agent, name, folder)
    yield body
    event = trial.synthetic_event(agent, name, body, environment={}, cwd=folder)
    payload, subject = wire.mapping(body), spec(agent, name).subject
    if payload.get(subject) not in (None, event.tool and event.tool.name):  # such as a session's `source`
        yield from (wire.dumps({**payload, subject: word}) for word in _listed(match))
    texts = tuple(dict.fromkeys(("", *_texts(match))))
    if event.tool is None:
        yield from (wire.dumps({**payload, "prompt": text}) for text in texts if text and "prompt" in payload)
        return
    named = (event.tool.name, *_tools(match))
    for tool in list(dict.fromkeys(canonical(agent, name) for name in named))[:SAMPLE_LIMIT]:
        for text in texts:
            given = native_input(agent, tool, _input(tool, text, folder))
            yield wire.dumps(_swapped(payload, event.tool, native(agent, tool), given))


def _tools(match: Match) -> Iterator[str]:
    """Names of tools that the matcher may mean: those that it lists, those of the table, and a pattern filled in."""
    if match.condition:
        yield match.condition.partition("(")[0]
    yield from _listed(match)
    yield from titles()
    yield from (ANY.sub("x", part).strip("^$()") for part in match.tool.split("|") if part)


def _listed(match: Match) -> Iterator[str]:
    """The names of which a matcher is a list."""
    if NAMES.fullmatch(match.tool):
        yield from filter(None, re.split(r"[|, ]+", match.tool))


def _texts(match: Match) -> Iterator[str]:
    """Texts that a pattern or a condition may be met by, as far as they are written in plain letters."""
    inside = re.fullmatch(r"\w+\((.*)\)", match.condition.strip())
    if inside:
        yield inside[1].replace(":*", "").replace("*", "x")
    for part in match.pattern.split("|"):
        plain = ANY.sub("x", part.replace("\\b", "").replace("\\s+", " ").replace("\\s", " ")).strip("^$()")
        plain = plain.replace("\\", "")
        if WORDS.fullmatch(plain):
            yield plain


def _input(tool: str, text: str, folder: str) -> dict[str, object]:
    """What the tool of this canonical name is given."""
    path = f"{folder}/example.txt"
    inputs: dict[str, dict[str, object]] = {
        "Bash": {"command": text or "ls -la", "description": "List files"},
        "Edit": {"file_path": path, "old_string": "one", "new_string": text or "two"},
        "Glob": {"pattern": text or "*.txt"},
        "Grep": {"pattern": text or "example"},
        "LS": {"path": folder},
        "Read": {"file_path": text if text.startswith("/") else path},
        "Task": {"description": "Look", "prompt": text or "Look around", "subagent_type": "general-purpose"},
        "WebFetch": {"url": "https://example.com/", "prompt": text or "Read it"},
        "WebSearch": {"query": text or "example"},
        "Write": {"file_path": path, "content": text or "example\n"},
    }
    return inputs.get(tool, {"text": text} if text else {})


def _swapped(value: object, tool: Tool, name: str, given: Mapping[str, object]) -> object:
    """The payload with another tool and its input, wherever the dialect has them."""
    if isinstance(value, dict):
        if value == tool.input and value:
            return dict(given)
        return {key: _swapped(inner, tool, name, given) for key, inner in value.items()}
    return name if value == tool.name else value
