"""Recognises the agent that ran a relay command of ours, as each must get an answer of its own protocol. Pure.

Cursor, Copilot CLI and others read Claude Code's settings and run the hooks in them, so the agent in the command
(`hooktray relay claude-code …`) does not prove who called. The order, strongest first:

1. A payload that only one foreign agent can send: it names its agent, or has an envelope of its own.
2. A payload that Claude Code has certainly sent: its transcript or its environment names the payload's session.
3. A payload that looks like Claude Code's but for fields that only one foreign agent adds.
4. A payload in the shape of the agent in the command; then one in the shape of another supported agent, whose own
   protocol then answers.
5. Environment marks, when they are of one agent only. An agent that was started in another agent's terminal inherits
   that agent's variables, so they never outweigh a payload of a known shape. CLAUDE_PROJECT_DIR does not
   count: Cursor, Copilot CLI, Gemini CLI and Qwen Code set it too.
6. The agent in the command, unless its protocol knows nothing of what the payload holds.

Only keys at the top of a payload count: what is below them was written by a model or a user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tray.dialects import DIALECTS, spec, wire
from tray.dialects import neutral as own_neutral
from tray.model.decision import EMPTY_ANSWER, Answer, SkipReason
from tray.model.event import TEST_VARIABLE
from tray.model.value import value

Payload = Mapping[str, Any]
Variables = Mapping[str, str]

UNKNOWN = "unknown"  # the agent of a payload that no protocol here understands
DISPLAY_NAMES = {"claude-code": "Claude Code", "shelley": "Shelley", "starchild": "Starchild", "x-code": "X-Code CLI"}
EVENT_NAMES = {  # how its events are called, also those that its table does not know yet
    "claude-code": re.compile(r"[A-Z]\w*"),
    "starchild": re.compile(r"[a-z]\w*"),
    "x-code": re.compile(r"[A-Z]\w*"),
}


@value(frozen=True, slots=True, kw_only=True)
class RecognisedCaller:
    """Another agent than the command's. `skip_reason` None: it is supported, and its own protocol answers."""

    agent: str
    event: str  # native
    via_agent: str  # the agent in the command that it ran
    skip_reason: SkipReason | None = None
    answer: Answer = EMPTY_ANSWER  # its neutral one
    session: str = ""
    cwd: str = ""


def empty_answer(event: str) -> bytes:
    return b""


def named_event(payload: Payload, word: str) -> str:
    return wire.event_name(payload, "hook_event_name") or word


@value(frozen=True, slots=True, kw_only=True)
class ForeignAgent:
    """An agent whose protocol is not here yet: how to recognise it, and its neutral answer (always with exit 0)."""

    title: str
    keys: tuple[str, ...] = ()  # `matches` is called only for payloads with one of these
    matches: Callable[[Payload], bool] = lambda payload: False
    claude_like: bool = False  # `matches` rests only on fields that Claude Code may add one day, too
    variables: tuple[str, ...] = ()  # of its hooks' environment
    event: Callable[[Payload, str], str] = named_event
    neutral: Callable[[str], bytes] = empty_answer


# ---- Antigravity: {"toolCall":{"name":…,"args":{…}},"stepIdx":7}, no event name; a wrong byte denies

ANTIGRAVITY = {
    "PostInvocation": b"{}",
    "PostToolUse": b"{}",
    "PreInvocation": b"{}",
    "PreToolUse": b'{"decision":"ask"}',  # its user's own policy; `{}` would deny
    "Stop": b'{"decision":""}',
}
TOOL_EVENTS, STOP_EVENTS = ("PreToolUse", "PostToolUse"), ("Stop",)


def _is_antigravity(payload: Payload) -> bool:
    if "stepIdx" in payload and isinstance(payload.get("toolCall"), dict):
        return True
    return "conversationId" in payload and not payload.keys().isdisjoint({"artifactDirectoryPath", "executionNum"})


def _antigravity(payload: Payload, word: str) -> str:
    """Only the command names the event; if the payload cannot be of that one, the event is unknown."""
    if "toolCall" in payload:
        return word if word in TOOL_EVENTS else ""
    if not payload.keys().isdisjoint({"executionNum", "fullyIdle", "terminationReason"}):
        return "Stop"
    return word if word in ANTIGRAVITY.keys() - {*TOOL_EVENTS, *STOP_EVENTS} else ""


# ---- Codex: Claude Code's shape with turn_id and model; its transcripts are called rollout-….jsonl

ROLLOUT = "rollout-"  # counts as a key of the payload whose transcript is called so


def _is_codex(payload: Payload) -> bool:
    if not wire.text(payload, "hook_event_name"):
        return False
    if isinstance(payload.get("model"), str):
        if wire.text(payload, "turn_id"):
            return True
        if "permission_mode" in payload and "transcript_path" in payload and payload["transcript_path"] is None:
            return True
    return _path(payload)[-1].startswith(ROLLOUT)


# ---- Copilot CLI: {"sessionId":…,"timestamp":1795211022915,"cwd":…,"toolName":…,"toolArgs":…} without an event name,
# ---- or, where the hook is registered under Claude Code's event names, {"hook_event_name":…,"timestamp":"2026-…",…}

COPILOT = (  # the first key that is there decides which event it is
    ("hookName", "permissionRequest"),
    ("toolResult", "postToolUse"),
    ("error", "postToolUseFailure"),
    ("toolName", "preToolUse"),
    ("transformedPrompt", "userPromptTransformed"),
    ("prompt", "userPromptSubmitted"),
    ("stopReason", "agentStop"),
    ("source", "sessionStart"),
    ("reason", "sessionEnd"),
)


def _is_copilot(payload: Payload) -> bool:
    if isinstance(payload.get("timestamp"), int) and wire.text(payload, "sessionId"):
        return "workspaceRoot" not in payload
    is_alike = wire.text(payload, "hook_event_name") and wire.text(payload, "timestamp")
    return bool(is_alike) and ("transcript_path" not in payload or _path(payload)[-1] == "events.jsonl")


def _copilot(payload: Payload, word: str) -> str:
    if "hook_event_name" in payload:
        return named_event(payload, word)
    return next((event for key, event in COPILOT if key in payload), word)


# ---- Cursor: {"conversation_id":…,"generation_id":…,"cursor_version":"3.19.10","hook_event_name":"preToolUse",…}

PERMISSION_EVENTS = frozenset(
    {
        *("beforeMCPExecution", "beforeReadFile", "beforeShellExecution", "beforeTabFileRead"),
        *("preToolUse", "subagentStart"),
    }
)


def _is_cursor(payload: Payload) -> bool:
    return "cursor_version" in payload or ("conversation_id" in payload and "generation_id" in payload)


def _cursor(event: str) -> bytes:
    """Newer versions block when a permission hook answers nothing. After an allow, cursor-agent asks its user."""
    return b'{"permission":"allow"}' if f"{event[:1].lower()}{event[1:]}" in PERMISSION_EVENTS else b"{}"


# ---- Gemini CLI: {"session_id":…,"transcript_path":"….gemini/tmp/…/chats/session-….jsonl","timestamp":"2026-…",…}
# ---- Qwen Code: the same under Claude Code's event names, with "….qwen/projects/…/chats/<session>.jsonl"

GEMINI = frozenset(
    {
        *("AfterAgent", "AfterModel", "AfterTool", "BeforeAgent", "BeforeModel", "BeforeTool"),
        *("BeforeToolSelection", "PreCompress"),
    }
)


def _is_gemini(payload: Payload) -> bool:
    if not wire.text(payload, "timestamp"):
        return False
    path = _path(payload)
    return named_event(payload, "") in GEMINI or (path[-2:-1] == ["chats"] and path[-1].startswith("session-"))


def _is_qwen(payload: Payload) -> bool:
    if not (wire.text(payload, "timestamp") and wire.text(payload, "hook_event_name")):
        return False
    in_chats = _path(payload)[-2:] == ["chats", f"{wire.text(payload, 'session_id')}.jsonl"]
    return in_chats or "########" in wire.text(payload, "prompt_id")


# ---- Hermes: {"hook_event_name":"pre_tool_call","tool_name":…,"tool_input":…,"session_id":…,"cwd":…,"extra":{…}}


def _is_hermes(payload: Payload) -> bool:
    is_named = named_event(payload, "")[:1].islower()
    return is_named and isinstance(payload.get("extra"), dict) and {"tool_name", "tool_input"} <= payload.keys()


FOREIGN_AGENTS: Mapping[str, ForeignAgent] = {
    "antigravity": ForeignAgent(
        title="Antigravity",
        keys=("conversationId", "stepIdx"),
        matches=_is_antigravity,
        event=_antigravity,
        neutral=lambda event: ANTIGRAVITY.get(event, b""),
    ),
    "codex": ForeignAgent(title="Codex", keys=("model", ROLLOUT, "turn_id"), matches=_is_codex, claude_like=True),
    "copilot-cli": ForeignAgent(
        title="Copilot CLI",
        keys=("timestamp",),
        matches=_is_copilot,
        claude_like=True,
        variables=("COPILOT_CLI",),
        event=_copilot,
    ),
    "cursor": ForeignAgent(
        title="Cursor",
        keys=("conversation_id", "cursor_version"),
        matches=_is_cursor,
        variables=("CURSOR_VERSION",),
        neutral=_cursor,
    ),
    "devin": ForeignAgent(title="Devin", variables=("DEVIN_PROJECT_DIR",)),
    "gemini-cli": ForeignAgent(
        title="Gemini CLI",
        keys=("timestamp",),
        matches=_is_gemini,
        claude_like=True,
        variables=("GEMINI_SESSION_ID",),
    ),
    "grok": ForeignAgent(
        title="Grok CLI",
        keys=("workspaceRoot",),
        matches=lambda payload: not payload.keys().isdisjoint({"toolInput", "toolName"}),
        variables=("GROK_WORKSPACE_ROOT",),
        event=lambda payload, word: wire.event_name(payload, "hookEventName") or word,
    ),
    "hermes": ForeignAgent(title="Hermes", keys=("extra",), matches=_is_hermes),
    "kimi-code": ForeignAgent(
        title="Kimi Code", keys=("client_type",), matches=lambda payload: payload["client_type"] == "kimi_code_cli"
    ),
    "qwen-code": ForeignAgent(
        title="Qwen Code",
        keys=("timestamp",),
        matches=_is_qwen,
        claude_like=True,
        variables=("QWEN_CODE_SESSION_ID",),
    ),
    "windsurf": ForeignAgent(
        title="Windsurf",
        keys=("agent_action_name",),
        matches=lambda payload: "trajectory_id" in payload,
        event=lambda payload, word: wire.event_name(payload, "agent_action_name") or word,
    ),
}

AGENTS_BY_KEY = {
    key: tuple(name for name, foreign in FOREIGN_AGENTS.items() if key in foreign.keys)
    for foreign in FOREIGN_AGENTS.values()
    for key in foreign.keys
}


def recognise(via_agent: str, event: str, payload: Payload, environment: Variables) -> RecognisedCaller | None:
    """Who ran the command of `via_agent` for `event`; None: that agent itself. Never raises."""
    name = _sender(payload)
    if name and not (FOREIGN_AGENTS[name].claude_like and _is_certain(payload, environment)):
        return _foreign(name, via_agent, event, payload)
    if via_agent not in SHAPES or SHAPES[via_agent](payload):
        return None
    if via_agent == "claude-code" and _is_certain(payload, environment):
        return None
    for other, shape in SHAPES.items():
        if shape(payload):
            return RecognisedCaller(agent=other, event=_event(other, payload, event), via_agent=via_agent)
    if name := _from_environment(environment):
        return _foreign(name, via_agent, event, payload)
    return None if _is_understood(via_agent, payload) else _unknown(via_agent, event, payload)


def neutral(via_agent: str, event: str, body: bytes, environment: Variables) -> Answer:
    """The answer after our own failure: that of the caller, as far as the payload can still be read."""
    try:
        is_plain = spec(via_agent, event).plain
        caller = None if is_plain else recognise(via_agent, event, wire.mapping(body), environment)
    except ValueError:
        caller = None
    return caller.answer if caller else own_neutral(via_agent, event, body)


def display_name(agent: str) -> str:
    """What people call an agent."""
    return FOREIGN_AGENTS[agent].title if agent in FOREIGN_AGENTS else DISPLAY_NAMES.get(agent, agent)


def _sender(payload: Payload) -> str:
    """The agent whose marks the payload has; most payloads have no such key, and are not looked at further."""
    keys = payload.keys() & AGENTS_BY_KEY.keys()
    if ROLLOUT in str(payload.get("transcript_path")):
        keys.add(ROLLOUT)
    names = sorted({name for key in keys for name in AGENTS_BY_KEY[key]})
    return next((name for name in names if FOREIGN_AGENTS[name].matches(payload)), "")


def _foreign(name: str, via_agent: str, word: str, payload: Payload) -> RecognisedCaller:
    foreign = FOREIGN_AGENTS[name]
    event = foreign.event(payload, word)
    return RecognisedCaller(
        agent=name,
        event=event or word,
        via_agent=via_agent,
        skip_reason=SkipReason.NOT_SUPPORTED,
        answer=Answer(stdout=foreign.neutral(event)),
        session=_session(payload),
        cwd=_cwd(payload),
    )


def _unknown(via_agent: str, word: str, payload: Payload) -> RecognisedCaller:
    return RecognisedCaller(
        agent=UNKNOWN,
        event=named_event(payload, word),
        via_agent=via_agent,
        skip_reason=SkipReason.NOT_UNDERSTOOD,
        answer=own_neutral(via_agent, word, b""),
        session=_session(payload),
        cwd=_cwd(payload),
    )


# ---- the shapes of the supported agents


def _is_claude(payload: Payload) -> bool:
    keys = ("hook_event_name", "session_id", "transcript_path", "cwd")
    return all(isinstance(payload.get(key), str) for key in keys)


def _is_certain(payload: Payload, environment: Variables) -> bool:
    """Claude Code keeps …/projects/<folder>/<session>.jsonl, and gives its hooks the session as a variable."""
    session = wire.text(payload, "session_id")
    if not session:
        return False
    path = _path(payload)
    by_file = path[-1] == f"{session}.jsonl" and path[-3:-2] == ["projects"]
    return by_file or environment.get("CLAUDE_CODE_SESSION_ID") == session


def _is_shelley(payload: Payload) -> bool:
    is_prompt = isinstance(payload.get("readonly"), dict) and not payload.keys().isdisjoint({"message", "prompt"})
    return is_prompt or payload.get("type") == "end_of_turn" or {"command", "raw_message"} <= payload.keys()


def _is_starchild(payload: Payload) -> bool:
    return all(isinstance(payload.get(key), str) for key in ("event", "session_id", "agent_id"))


def _is_x_code(payload: Payload) -> bool:
    return isinstance(payload.get("event"), str) and isinstance(payload.get("session"), dict)


SHAPES: Mapping[str, Callable[[Payload], bool]] = {
    "claude-code": _is_claude,
    "shelley": _is_shelley,
    "starchild": _is_starchild,
    "x-code": _is_x_code,
}


def _event(agent: str, payload: Payload, word: str) -> str:
    """The name of a supported agent's event; only some payloads of Shelley contain it."""
    if name := DIALECTS[agent].event_name(payload):
        return name
    if agent != "shelley":
        return word
    if "raw_message" in payload:
        return f"slash/{wire.text(payload, 'command')}"
    return "new-conversation" if "prompt" in payload else "chat-message"


# ---- what is left: the environment, and what the protocol of the agent in the command knows


def _from_environment(environment: Variables) -> str:
    """The one agent that the environment names. An event of our own commands has only the terminal's environment."""
    marked = [
        name for name, foreign in FOREIGN_AGENTS.items() if not environment.keys().isdisjoint(foreign.variables)
    ]
    return marked[0] if len(marked) == 1 and TEST_VARIABLE not in environment else ""


def _is_understood(via_agent: str, payload: Payload) -> bool:
    """Whether `via_agent` may have sent it: a name in the style of its events, else mostly fields of its own."""
    name = DIALECTS[via_agent].event_name(payload)
    if name and via_agent in EVENT_NAMES:
        return EVENT_NAMES[via_agent].fullmatch(name) is not None
    return 2 * len(_fields(via_agent) & payload.keys()) > len(payload) or not payload


@lru_cache(16)
def _fields(agent: str) -> frozenset[str]:
    """The fields that the agent's samples have."""
    dialect = DIALECTS[agent]
    samples = (dialect.sample(name) for name, event_spec in dialect.EVENTS.items() if not event_spec.plain)
    return frozenset(key for sample in samples for key in wire.mapping(sample))


def _session(payload: Payload) -> str:
    return wire.text(payload, "session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id")


def _cwd(payload: Payload) -> str:
    folders = (*wire.text_list(payload, "workspace_roots"), *wire.text_list(payload, "workspacePaths"))
    return wire.text(payload, "cwd", "workspaceRoot") or next(iter(folders), "")


def _path(payload: Payload) -> list[str]:
    """The parts of the transcript's path, as either system writes it; one empty part when there is none."""
    path = payload.get("transcript_path")
    return re.split(r"[\\/]", path) if isinstance(path, str) else [""]
