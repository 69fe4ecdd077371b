"""What happened: an agent's event in canonical words, and what one event can carry back."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Protocol

import msgspec

from tray.model.decision import Answer, Decision, Rewrite, SkipReason
from tray.model.form import Answers, Form

PAYLOAD_LIMIT = 16 * 1024 * 1024  # bytes; a larger payload is a cause of failure, never cut short
PROBE_PREFIX = "hooktray-probe-"  # how the sessions of our own events begin
TEST_VARIABLE = "HOOKTRAY_TEST"  # set for relays that we start ourselves, and for the hooks of test events
# The whole payload of a probe, which only asks for an answer. An event cannot have its one key, a number.
PROBE_HEAD, PROBE_TAIL, PROBE_NUMBER = b'{"hooktray_probe":"', b'"}', 32
PROBE_SIZE = len(PROBE_HEAD) + PROBE_NUMBER + len(PROBE_TAIL)


class EventKind(enum.StrEnum):
    """The canonical names; the value is the one of `event:` in hooktray.yaml."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    PROMPT = "prompt"
    PROMPT_EXPANSION = "prompt_expansion"
    SYSTEM_PROMPT = "system_prompt"
    CONVERSATION_NEW = "conversation_new"
    SLASH_COMMAND = "slash_command"
    TOOL_BEFORE = "tool_before"
    TOOL_AFTER = "tool_after"
    TOOL_FAILED = "tool_failed"
    TOOL_BATCH = "tool_batch"
    TOOL_RESULT = "tool_result"
    PERMISSION_REQUEST = "permission_request"
    PERMISSION_DENIED = "permission_denied"
    NOTIFICATION = "notification"
    TURN_END = "turn_end"
    TURN_FAILED = "turn_failed"
    TURN_INTERRUPTED = "turn_interrupted"
    ROUND_END = "round_end"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_END = "subagent_end"
    COMPACT_BEFORE = "compact_before"
    COMPACT_AFTER = "compact_after"
    MODEL_BEFORE = "model_before"
    MODEL_AFTER = "model_after"
    OUTBOUND_MESSAGE = "outbound_message"
    COMPLETION_CLAIM = "completion_claim"
    TASK_CREATED = "task_created"
    TASK_COMPLETED = "task_completed"
    TEAMMATE_IDLE = "teammate_idle"
    CONFIG_CHANGED = "config_changed"
    SETUP = "setup"
    INSTRUCTIONS_LOADED = "instructions_loaded"
    CWD_CHANGED = "cwd_changed"
    DIRECTORY_ADDED = "directory_added"
    FILE_CHANGED = "file_changed"
    WORKTREE_CREATE = "worktree_create"
    WORKTREE_REMOVE = "worktree_remove"
    MESSAGE_DISPLAY = "message_display"
    MODEL_SWITCH_BEFORE = "model_switch_before"
    MODEL_SWITCH_AFTER = "model_switch_after"
    ELICITATION = "elicitation"
    ELICITATION_RESULT = "elicitation_result"
    RESPONSE_END = "response_end"
    OTHER = "other"


# Events whose text a person typed: a hook may rewrite it where the agent takes that.
TYPED_KINDS = frozenset(
    {EventKind.CONVERSATION_NEW, EventKind.PROMPT, EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND}
)


# The agent stops its work there; context that it takes there makes it go on.
STOP_KINDS = frozenset({EventKind.SUBAGENT_END, EventKind.TURN_END})


class Capability(enum.Flag):
    """What an event can carry back to its agent. Nothing at all = observe-only."""

    NOTHING = 0
    ALLOW = enum.auto()
    ASK = enum.auto()
    DENY = enum.auto()
    REWRITE_INPUT = enum.auto()
    REWRITE_OUTPUT = enum.auto()
    REWRITE_PROMPT = enum.auto()
    REWRITE_MESSAGE = enum.auto()
    CONTEXT = enum.auto()
    NOTE = enum.auto()
    STOP = enum.auto()
    RETRY = enum.auto()
    REWRITE_ANSWER = enum.auto()


class EventSpec(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One native event of one agent: its kind, its abilities and the agent's own time limit."""

    kind: EventKind
    can: Capability = Capability.NOTHING
    timeout: float = 600.0  # seconds until the agent gives up
    subject: str = ""  # the payload key that the agent's own matcher looks at
    plain: bool = False  # the payload is text, not JSON
    after_the_fact: bool = False  # it has happened: a refusal is only reported, and a rewrite counts beside it
    feedback_only: bool = False  # the model reads the output and, beside it, a refusal
    needs_you: bool = False  # the agent then waits for its user, and has no other event for that
    extras: tuple[str, ...] = ()  # the agent's own answer fields that have no canonical word

    @functools.cached_property
    def observe_only(self) -> bool:
        """Whether no hook can answer it."""
        return self.can is Capability.NOTHING

    @functools.cached_property
    def deadline(self) -> float:
        """Seconds after which the answer must have left (law 6)."""
        return self.timeout - max(0.25, min(0.1 * self.timeout, 2.0))


UNKNOWN_EVENT = EventSpec(kind=EventKind.OTHER, timeout=30)  # for an event that is in no table: no hook can answer it


class RelayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a relay: agent and event, its working directory, and the payload's exact bytes."""

    agent: str
    event: str
    id: str
    body: bytes
    cwd: str = ""
    environment: Mapping[str, str] = {}
    pid: int = 0  # of the relay, from the kernel
    parent: int = 0  # of the relay's parent: the agent, or its shell
    problem: str = ""  # why `body` is not the whole payload; "" when it is
    via_agent: str = ""  # the agent in the command, when another one ran it


class AgentEvents(Protocol):
    """The events of one agent, for the readers of its hooks."""

    @property
    def agent(self) -> str: ...
    @property
    def names(self) -> Collection[str]: ...
    def spec(self, name: str) -> EventSpec | None:
        """Returns None if the agent has no such event."""
        ...


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call in the agent's own names and argument keys."""

    name: str
    input: Mapping[str, object] = {}
    lines: tuple[str, ...] = ()  # its commands, where one call has several that run each by itself
    call: str = ""  # the agent's id of this call
    output: object = None
    failed: bool = False


class FormFormat(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's own questions to its user, where an answer of ours can answer them.

    `read` returns the form that an event puts to the user, if it puts one. `fill` returns its answers as the rewrite
    that carries them.
    """

    read: Callable[[Event], Form | None]
    fill: Callable[[Event, Answers], Rewrite]


class AnswerFormat(Protocol):
    """The part of an AgentProtocol that answers an event."""

    def render(self, event: Event, decision: Decision) -> Answer: ...
    def neutral(self, name: str, body: bytes) -> Answer: ...
    def rewrite_problem(self, event: Event, decision: Decision) -> str: ...


class Sender(Protocol):
    """The agent of an event: that part of `tray.agents.agent.Agent` which the handling of an event needs."""

    @property
    def id(self) -> str: ...
    @property
    def protocol(self) -> AnswerFormat: ...
    @property
    def forms(self) -> FormFormat | None: ...
    @property
    def envelope(self) -> frozenset[str]: ...
    @property
    def main_agent_key(self) -> str: ...
    @property
    def keeps_call_ids(self) -> bool: ...
    @property
    def presence_variable(self) -> str: ...
    def is_headless(self, environment: Mapping[str, str], command: Sequence[str]) -> bool: ...


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened in an agent's life, in canonical words. `payload` and `body` are untouched."""

    id: str
    agent: str
    name: str  # native
    kind: EventKind
    spec: EventSpec = UNKNOWN_EVENT
    sender: Sender | None = None  # None: an agent that Hooktray does not support
    session: str = ""
    cwd: str = ""
    project_folder: str = ""  # the agent's own project, else the repository above `cwd`; "" = that is `cwd`
    hook_folder: str = ""  # where the agent starts its own hooks, when that is not `cwd`
    model: str = ""
    topic: str = ""  # the kind's own sort: a notification's type, a session's source or reason or status
    title: str = ""  # what the agent calls the session or the notification: slug, title, host
    tool: Tool | None = None
    prompt: str = ""  # what the user or the system sent to the model
    message: str = ""  # the agent's text: final response, notification, claim
    url: str = ""
    path: str = ""  # the file or folder that it is about
    subagent: str = ""  # agent type, inside a subagent
    repeated: bool = False  # the agent goes on because a hook refused its stop
    tools: tuple[str, ...] = ()  # names of the tools used in this turn
    payload: Mapping[str, object] = {}
    body: bytes = b""
    environment: Mapping[str, str] = {}
    pid: int = 0
    parent: int = 0  # of its relay's parent: the agent, or its shell
    above: frozenset[str] = frozenset()  # keys of the hooks from which its relay descends
    depth: int = 0  # how many hooks that are, one below the other; 0 = none
    answered: bool = False  # answered and announced already; its hooks only run beside the answer
    test: bool = False  # of `hooktray test`: it did not happen
    problem: str = ""  # what was wrong with the input; hooks never see such an event
    skip_reason: SkipReason | None = None  # why no hook is asked about it at all
    via_agent: str = ""  # the agent whose relay command sent it, when that is another one
    ledger: int = 0  # the last row of the ledger when it came in

    @property
    def project(self) -> str:
        """The last part of the project's folder, else what the agent calls the session."""
        folder = self.project_folder or self.cwd
        return PurePath(folder.replace("\\", "/")).name or self.title


def probe_answer(body: bytes) -> bytes:
    """Returns the answer to a probe; b"" for an event. A line that only repeats its input prints something else."""
    if len(body) != PROBE_SIZE or not (body.startswith(PROBE_HEAD) and body.endswith(PROBE_TAIL)):
        return b""
    number = body[len(PROBE_HEAD) : -len(PROBE_TAIL)]
    return b"hooktray " + number + b"\n" if number.isalnum() else b""
