"""Recognises the agent that ran our relay command, because each agent needs an answer in its own protocol. Pure.

Cursor, Copilot CLI and others read Claude Code's settings and run the hooks in them, so the agent in the command
(`hooktray relay claude-code …`) does not prove which agent ran it. The order, strongest first:

1. A payload that only one other agent can send: it names its agent, or has fields that no other agent sends.
2. A payload that Claude Code has certainly sent: its transcript or its environment names the payload's session.
3. A payload that looks like Claude Code's, with fields that only one other agent adds.
4. A payload in the shape of the agent in the command; then one in the shape of another supported agent, whose own
   protocol then answers, unless several agents have that shape.
5. Environment marks, when they are those of one agent only. An agent that was started in another agent's terminal
   inherits that agent's variables, so a payload of a known shape always outweighs them. CLAUDE_PROJECT_DIR does
   not count: Cursor, Copilot CLI, Gemini CLI and Qwen Code set it too.
6. The agent in the command, unless the payload has neither its event names nor its fields, or names its event or
   its session under a key that this agent does not have.

Only keys at the top level of a payload count: a model or a user wrote what is below them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from tray.agents import wire
from tray.agents.agent import KnownAgent, Payload, Variables
from tray.agents.overview import whole_overview
from tray.agents.protocol import neutral as own_neutral
from tray.agents.protocol import sample, spec
from tray.agents.registry import AGENTS, UNKNOWN, UNSUPPORTED, known_agent
from tray.errors import PACKAGE_ERRORS, AgentError
from tray.model.decision import EMPTY_ANSWER, Answer, SkipReason
from tray.model.event import TEST_VARIABLE

# Keys under which other agents name the event, the session or the folder. Claude Code has only `event`, for one
# event, beside the event's name.
FOREIGN_KEYS = frozenset(
    {
        *("agent_action_name", "event", "event_type", "hook", "hookEventName", "hookName", "hook_event"),
        *("conversationId", "conversation_id", "matcher_context", "sessionId", "session_id", "thread"),
        "trajectory_id",
        *("working_dir", "workspacePaths", "workspaceRoot", "workspaceRoots", "workspace_roots"),
    }
)
AMBIGUOUS = frozenset({"conversation_id"})  # Cursor's comes with marks of its own


class RecognisedCaller(msgspec.Struct, frozen=True, kw_only=True):
    """A caller that is not the agent in the command. Its own protocol answers if `skip_reason` is None."""

    agent: str
    event: str  # native
    via_agent: str  # the agent in the command that it ran
    skip_reason: SkipReason | None = None
    answer: Answer = EMPTY_ANSWER  # its neutral one
    session: str = ""
    cwd: str = ""


def recognise(via_agent: str, event: str, payload: Payload, environment: Variables) -> RecognisedCaller | None:
    """The agent that ran the command of `via_agent` for `event`; None means `via_agent` itself. Never raises."""
    sender = _sender(payload)
    if sender and not (sender.marks.yields and _is_certain(payload, environment)):
        return None if sender.id == via_agent else _recognised(sender, via_agent, event, payload)
    known = AGENTS.find(via_agent)
    if known is None or _is_marked(known, known.marks.is_alike, payload):
        return None
    if known.marks.is_certain(payload, environment):  # a package has no such mark
        return None
    for other in AGENTS.values():
        if not other.marks.shares_shape and _is_marked(other, other.marks.is_alike, payload):
            return _recognised(other, via_agent, event, payload)
    if marked := _from_environment(environment):
        return _recognised(marked, via_agent, event, payload)
    return None if _is_understood(via_agent, payload) else _unknown(via_agent, event, payload)


def neutral(via_agent: str, event: str, body: bytes, environment: Variables) -> Answer:
    """The neutral answer after our own failure: the caller's if the payload is readable, else that of `via_agent`."""
    try:
        is_plain = spec(via_agent, event).plain
        caller = None if is_plain else recognise(via_agent, event, wire.mapping(body), environment)
    except ValueError:
        caller = None
    if caller is None:
        return own_neutral(AGENTS.find(via_agent), event, body)
    return caller.answer if caller.skip_reason else own_neutral(AGENTS.find(caller.agent), caller.event, body)


def _sender(payload: Payload) -> KnownAgent | None:
    """The agent whose marks the payload has. Hooktray's own agents come before those of packages."""
    marks, found = whole_overview(), set[str]()
    for key in payload.keys() & marks.senders_by_key.keys():
        found.update(marks.senders_by_key[key])
    transcript = str(payload.get("transcript_path"))
    found.update(id for word, id in marks.senders_by_transcript.items() if word in transcript)
    if not found:
        return None
    for _, id in sorted((id in AGENTS.packaged.packages, id) for id in found):
        agent = known_agent(id)
        if _is_marked(agent, agent.marks.is_sender, payload):
            return agent
    return None


def _is_marked(agent: KnownAgent, mark: Callable[[Payload], bool], payload: Payload) -> bool:
    """Returns False if the package's function fails."""
    try:
        return mark(payload)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(agent.id, "marks", error)
        return False


def _is_certain(payload: Payload, environment: Variables) -> bool:
    """Whether a supported agent has certainly sent this."""
    return any(agent.marks.is_certain(payload, environment) for agent in AGENTS.values())


def _recognised(agent: KnownAgent, via_agent: str, word: str, payload: Payload) -> RecognisedCaller:
    if agent.id not in AGENTS:
        event = agent.marks.event(payload, word) or word
        return _unanswered(agent.id, event, via_agent, payload, SkipReason.NOT_SUPPORTED, EMPTY_ANSWER)
    try:
        event = AGENTS[agent.id].protocol.event_name(payload) or agent.marks.event(payload, word)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(agent.id, "event_name", error)
        event = word
    return RecognisedCaller(agent=agent.id, event=event, via_agent=via_agent)


def _unknown(via_agent: str, word: str, payload: Payload) -> RecognisedCaller:
    event, answer = wire.hook_event_name(payload, word), own_neutral(AGENTS.find(via_agent), word, b"")
    return _unanswered(UNKNOWN, event, via_agent, payload, SkipReason.NOT_UNDERSTOOD, answer)


def _unanswered(
    agent: str, event: str, via_agent: str, payload: Payload, reason: SkipReason, answer: Answer
) -> RecognisedCaller:
    """Returns a caller that no hook can answer, with what is known of its session."""
    folders = (*wire.text_list(payload, "workspace_roots"), *wire.text_list(payload, "workspacePaths"))
    return RecognisedCaller(
        agent=agent,
        event=event,
        via_agent=via_agent,
        skip_reason=reason,
        answer=answer,
        session=wire.text(payload, "session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id"),
        cwd=wire.text(payload, "cwd", "workspaceRoot") or next(iter(folders), ""),
    )


def _from_environment(environment: Variables) -> KnownAgent | None:
    """The agent that the environment names, if it is a single one.

    An event that our own commands send does not count: its environment is the terminal's.
    """
    agents = (*AGENTS.values(), *UNSUPPORTED.values())
    marked = [agent for agent in agents if not environment.keys().isdisjoint(agent.marks.variables)]
    return marked[0] if len(marked) == 1 and TEST_VARIABLE not in environment else None


def _is_understood(via_agent: str, payload: Payload) -> bool:
    """Whether `via_agent` may have sent it: the event is named like its events, or most fields are its own."""
    agent = AGENTS[via_agent]
    try:
        name = agent.protocol.event_name(payload)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(via_agent, "event_name", error)
        return True
    own = _fields(via_agent) - AMBIGUOUS if name else frozenset({"session_id"})
    if (payload.keys() & FOREIGN_KEYS) - own:
        return False
    if name and agent.marks.event_names:
        return agent.marks.event_names.fullmatch(name) is not None
    return 2 * len(_fields(via_agent) & payload.keys()) > len(payload) or not payload


@lru_cache(16)
def _fields(agent: str) -> frozenset[str]:
    """The fields of the agent's samples."""
    known = AGENTS[agent]
    keys: set[str] = set()
    for name, event_spec in known.events.items():
        try:
            keys |= set() if event_spec.plain else wire.mapping(sample(agent, name)).keys()
        except (KeyError, ValueError, AgentError):  # a package's agent may have no sample for it
            continue
    return frozenset(keys)
