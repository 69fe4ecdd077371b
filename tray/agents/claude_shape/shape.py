"""What a Claude-shaped agent sends and accepts, as values: events, keys of payloads, fields of answers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from tray.agents.agent import AnswerWords
from tray.model.decision import Target, Verdict
from tray.model.event import Capability, EventKind, EventSpec

Types = Mapping[str, tuple[type, ...]]  # the JSON types that a field may have

DEFAULT_CAN = Capability.DENY | Capability.STOP | Capability.NOTE  # what a hook can answer to any event
PATHS = ("file_path", "new_cwd", "directory", "worktree_path")
MESSAGE_KEYS = ("last_assistant_message", "message")
COMMON_TEXTS = (
    *("agent_id", "agent_type", "custom_instructions", "last_assistant_message", "message", "model", "prompt"),
    *("session_title", "teammate_name", "title", "to_model", "url"),
)
TOP: Types = {
    "continue": (bool,),
    "decision": (str,),
    "hookSpecificOutput": (dict,),
    "reason": (str,),
    "stopReason": (str,),
    "suppressOutput": (bool,),
    "systemMessage": (str,),
}
REWRITE_KEYS: Mapping[Target, str] = {
    Target.INPUT: "updatedInput",
    Target.MESSAGE: "displayContent",
    Target.OUTPUT: "updatedToolOutput",
}
BEHAVIORS: Mapping[str, Verdict] = {"allow": Verdict.ALLOW, "deny": Verdict.DENY}
CONTINUE: Mapping[str | bool, Verdict] = {False: Verdict.DENY, True: Verdict.ABSTAIN}
FORM_ACTIONS: Mapping[str, Verdict] = {
    "accept": Verdict.ABSTAIN,
    "cancel": Verdict.ABSTAIN,
    "decline": Verdict.DENY,
}
WORDS = ("approve", "continue", "stop")  # of `decision`, besides the words that refuse
PERMISSIONS: Mapping[str, Verdict] = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
# The words for an event's topic, by kind. The first one replaces a word that the agent does not have.
TOPIC_WORDS: Mapping[EventKind, tuple[str, ...]] = {
    EventKind.COMPACT_AFTER: ("auto", "manual"),
    EventKind.COMPACT_BEFORE: ("auto", "manual"),
    EventKind.SESSION_END: ("other", "clear", "logout", "prompt_input_exit"),
    EventKind.SESSION_START: ("startup", "resume", "clear", "compact"),
}
# For a kind that an agent may not have, the kinds that accept the most similar answers, the nearest first.
NEAREST: Mapping[EventKind, tuple[EventKind, ...]] = {
    EventKind.COMPLETION_CLAIM: (EventKind.TURN_END,),
    EventKind.CONVERSATION_NEW: (EventKind.PROMPT,),
    EventKind.MODEL_BEFORE: (EventKind.PROMPT,),
    EventKind.OUTBOUND_MESSAGE: (EventKind.MESSAGE_DISPLAY,),
    EventKind.PROMPT_EXPANSION: (EventKind.PROMPT,),
    EventKind.RESPONSE_END: (EventKind.MESSAGE_DISPLAY,),
    EventKind.SLASH_COMMAND: (EventKind.PROMPT_EXPANSION, EventKind.PROMPT),
    EventKind.TOOL_FAILED: (EventKind.TOOL_AFTER,),
    EventKind.TOOL_RESULT: (EventKind.TOOL_AFTER,),
}
NO_TOPICS = frozenset({"agent_type", "tool_name"})  # subjects of matchers that are fields of Event already
FORMS = (EventKind.ELICITATION, EventKind.ELICITATION_RESULT)
STOPS = (EventKind.TURN_END, EventKind.SUBAGENT_END)  # context there makes the agent continue
SUBAGENTS = (EventKind.SUBAGENT_START, EventKind.SUBAGENT_END)
# Events whose refusal makes the agent continue, so a stop outweighs it.
CONTINUED = (*STOPS, EventKind.TASK_COMPLETED, EventKind.TEAMMATE_IDLE)
PERMISSION_KINDS = (EventKind.MODEL_SWITCH_BEFORE, EventKind.TOOL_BEFORE)
# Events with an answer format of their own: `decision.behavior`, a form's `action`, the path of a worktree.
SPECIAL_KINDS = (EventKind.PERMISSION_REQUEST, EventKind.WORKTREE_CREATE, *FORMS)
PERMIT: Types = {"permissionDecision": (str,), "permissionDecisionReason": (str,)}


class RefusalStyle(enum.Enum):
    """How an answer refuses an event."""

    BLOCK = enum.auto()  # {"decision": "block"} at the top
    EXIT_2 = enum.auto()  # exit 2 with the reason on stderr, and nothing else
    PERMISSION = enum.auto()  # {"permissionDecision": "deny"} in hookSpecificOutput
    STOP = enum.auto()  # {"continue": false} at the top, and the agent goes on


class Exit2(enum.Enum):
    """When a hook's exit code 2 refuses."""

    ALWAYS = enum.auto()
    WITH_STDERR = enum.auto()  # without text on stderr it is a failure
    WITH_OUTPUT = enum.auto()  # without text on stdout or stderr it is a failure


class PayloadKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a payload, and of a hook's input."""

    event: str = "hook_event_name"
    session: str = "session_id"
    cwd: str = "cwd"
    tool: str = "tool_name"
    input: str = "tool_input"
    call: str = "tool_use_id"
    output: str = "tool_response"
    error: str = "error"  # the output of a call that failed


def as_it_is(tool: str, input: Mapping[str, Any], text: str) -> Any:
    return text


def twice(tool: str, input: Mapping[str, Any], text: str) -> Mapping[str, str]:
    """Returns a tool's output as Gemini CLI and its forks have it: once for the model, once for the user."""
    return {"llmContent": text, "returnDisplay": text}


class ClaudeShape(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One agent's hooks. The defaults are those of the format that these agents took over.

    What follows from an event's kind and `can` has no field here. `samples` are synthetic payloads of events that the
    sample of their kind does not fit; `sample_common` are the fields at the beginning of each.
    """

    agent: str  # its id
    events: Mapping[str, EventSpec]

    keys: PayloadKeys = PayloadKeys()
    topics: Mapping[str, str] = {}  # the key of the topic, where it is not the subject
    titles: Mapping[str, tuple[str, ...]] = {}
    messages: Mapping[str, tuple[str, ...]] = {}

    refusals: Mapping[str, RefusalStyle] = {}  # where not the usual one of the kind
    refusal_words: tuple[str, ...] = ("block",)  # of `decision`; Hooktray writes the first
    verdict_words: Mapping[str, Verdict] = {}  # of `decision` before a tool, where they differ
    rewrite_keys: Mapping[Target, str] = msgspec.field(default_factory=lambda: REWRITE_KEYS)
    rewrite_needs_allow: bool = False  # a new input counts only together with an allow
    takes_notes: bool = True  # an answer may have a `systemMessage`
    shows_stop_only: bool = False  # if a refusal also stops the agent, it shows only the reason of the stop
    top_extras: frozenset[str] = frozenset()  # extras that are at the top of an answer

    permissions: Mapping[str, Verdict] = msgspec.field(default_factory=lambda: PERMISSIONS)
    top: Types = msgspec.field(default_factory=lambda: TOP)  # the fields of an answer
    fields: Mapping[str, Types] = {}  # of hookSpecificOutput, besides those from `can`
    rejects_unknown_keys: bool = False  # an unknown key makes an answer invalid
    checks_event_name: bool = True  # an answer is invalid if hookSpecificOutput does not name its event
    json_on_any_exit: bool = True  # otherwise JSON counts on exit 0 only
    json_beats_exit_2: bool = False
    exit_2: Exit2 = Exit2.ALWAYS
    merges_input: bool = False  # a hook's new input is merged into the tool's; otherwise it replaces it
    text_context: frozenset[str] = frozenset()  # events where plain text becomes context
    stop_ignored: frozenset[str] = frozenset()  # events where `continue: false` means nothing
    stop_refuses: frozenset[str] = frozenset()  # events that it only refuses

    topic_words: Mapping[EventKind, tuple[str, ...]] = {}  # where they differ
    older_output_keys: tuple[str, ...] = ()  # older keys of a tool's output, as text
    output_from_text: Callable[[str, Mapping[str, Any], str], Any] = as_it_is  # in the form of the agent's own tool
    ends_with_newline: bool = True  # its payloads and its hooks' input do
    project_variables: tuple[str, ...] = ()  # of the environment of its hooks
    session_variables: tuple[str, ...] = ()
    samples: Mapping[str, Mapping[str, Any]] = {}
    sample_common: Mapping[str, Any] = {}

    @cached_property
    def kinds(self) -> Mapping[str, EventKind]:
        return {name: spec.kind for name, spec in self.events.items()}

    @cached_property
    def styles(self) -> Mapping[str, RefusalStyle]:
        """How an answer refuses each event; events whose refusal has a format of its own are left out."""
        return {
            name: self.refusals.get(
                name, RefusalStyle.PERMISSION if spec.kind in PERMISSION_KINDS else RefusalStyle.BLOCK
            )
            for name, spec in self.events.items()
            if Capability.DENY in spec.can and spec.kind not in SPECIAL_KINDS
        }

    @cached_property
    def texts(self) -> frozenset[str]:
        """The keys whose texts become fields of Event."""
        keys = (self.keys.session, self.keys.cwd, self.keys.tool, self.keys.call)
        named = (key for each in (*self.messages.values(), *self.titles.values()) for key in each)
        return frozenset((*COMMON_TEXTS, *PATHS, *keys, *self.topic_keys.values(), *named))

    @cached_property
    def topic_keys(self) -> Mapping[str, str]:
        subjects = {name: spec.subject for name, spec in self.events.items() if spec.subject}
        return {name: key for name, key in subjects.items() if key not in (*NO_TOPICS, self.keys.tool)} | dict(
            self.topics
        )

    @cached_property
    def answer_fields(self) -> Mapping[str, Types]:
        """The known fields of hookSpecificOutput, by event."""
        own = {name: dict(self.fields.get(name, ())) for name in self.events}
        return {name: types for name in self.events if (types := self._types(name) | own[name])}

    def _types(self, name: str) -> dict[str, tuple[type, ...]]:
        spec = self.events[name]
        types: dict[str, tuple[type, ...]] = {}
        if spec.kind is EventKind.PERMISSION_REQUEST:
            return {"decision": (dict,)}
        if spec.kind is EventKind.WORKTREE_CREATE:
            return {"worktreePath": (str,)}
        if spec.kind in FORMS:
            return {"action": (str,), "content": (dict,)}
        if Capability.CONTEXT in spec.can or spec.kind in STOPS:
            types["additionalContext"] = (str,)
        if self.styles.get(name) is RefusalStyle.PERMISSION:
            types |= PERMIT
        if Capability.REWRITE_INPUT in spec.can:
            types[self.rewrite_keys[Target.INPUT]] = (dict,)
        if Capability.REWRITE_MESSAGE in spec.can:
            types[self.rewrite_keys[Target.MESSAGE]] = (str,)
        if Capability.RETRY in spec.can:
            types["retry"] = (bool,)
        return types

    @cached_property
    def known_keys(self) -> frozenset[str]:
        """Every key of an answer that an agent or Hooktray reads."""
        inner = (key for types in self.answer_fields.values() for key in types)
        return frozenset((*self.top, *LEGACY_KEYS, *inner, *self.rewrite_keys.values(), "hookEventName"))

    @cached_property
    def answers(self) -> AnswerWords:
        """The keys of an answer, and the values of those that carry a verdict."""
        kinds = {*self.kinds.values()}
        decisions = dict.fromkeys(WORDS, Verdict.ABSTAIN) | dict(self.verdict_words)
        rows: tuple[tuple[str, Mapping[Any, Verdict], bool], ...] = (
            ("action", FORM_ACTIONS, not kinds.isdisjoint(FORMS)),
            ("behavior", BEHAVIORS, EventKind.PERMISSION_REQUEST in kinds),
            ("continue", CONTINUE, not self.stop_ignored.issuperset(self.events)),
            ("decision", decisions | dict.fromkeys(self.refusal_words, Verdict.DENY), True),
            ("permissionDecision", self.permissions, RefusalStyle.PERMISSION in self.styles.values()),
        )
        return AnswerWords(keys=self.known_keys, verdicts={key: words for key, words, is_read in rows if is_read})

    @cached_property
    def names_by_kind(self) -> Mapping[EventKind, str]:
        """The event of each kind, or of the nearest kind."""
        own = {kind: name for name, kind in self.kinds.items()}
        nearest = {kind: [own[one] for one in kinds if one in own] for kind, kinds in NEAREST.items()}
        return {kind: names[0] for kind, names in nearest.items() if names} | own


# Older hooks write these at the top. No agent's schema has them there, so a wrong type makes no answer invalid.
LEGACY_KEYS = (
    "additionalContext",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "updatedMCPToolOutput",
)
