"""What Hooktray can know of an agent: values and functions, each with a default. Every agent's place fills one in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tray.model.decision import Answer, Decision, HookOutput, Result
from tray.model.event import Capability, Event, EventSpec, RelayRequest, Tool
from tray.model.hook import Match

if TYPE_CHECKING:  # a connector and a reader are imported when somebody connects or reads
    from pathlib import Path

    from tray.agents.connection import FindProblem, Plan, RelayEntry, Site
    from tray.edit.backups import Backups
    from tray.reading.entries import SourceHooks

Payload = Mapping[str, Any]
Variables = Mapping[str, str]
ToolNames = Callable[[], Collection[str]]  # those by which a hook may mean the event's tool
PatternSearch = Callable[[str, str], bool]  # whether a pattern is in a text, within the event's time for patterns


class AgentProtocol(Protocol):
    """An agent's wire format: bytes to values and back, pure. A module or an object with these functions.

    Towards the agent: `event_name` is the agent's own name of a payload's event ("" when the payload has none),
    `session` its session, `tool` the tool call that it is about, if any; `parse` reads a request, `render` writes a
    fitted decision, `neutral` is the answer when nobody had an opinion or we failed, `rewrite_problem` says why a
    rewrite of a kind that the event takes cannot be carried all the same ("" when it can).
    Towards a hook written for this agent, about any agent's event: `hook_event_name` is the event's name for the
    hook, `stdin` and `environment` are its input, `read` reads what its process left behind. `sample` is a synthetic
    payload; KeyError for an event without one.
    """

    def event_name(self, payload: Payload) -> str: ...
    def session(self, request: RelayRequest, payload: Payload) -> str: ...
    def tool(self, name: str, payload: Payload) -> Tool | None: ...
    def parse(self, request: RelayRequest, name: str, payload: Payload) -> Event: ...
    def render(self, event: Event, decision: Decision) -> Answer: ...
    def neutral(self, name: str, body: bytes) -> Answer: ...
    def rewrite_problem(self, event: Event, decision: Decision) -> str: ...
    def hook_event_name(self, event: Event) -> str: ...
    def stdin(self, event: Event) -> bytes: ...
    def environment(self, event: Event) -> Variables: ...
    def read(self, event: Event, result: Result) -> HookOutput: ...
    def sample(self, name: str) -> bytes: ...


class Connector(Protocol):
    """How our entries get into an agent's settings and out again. It plans; `tray.connect` carries the plans out.

    `relay_entries` are our entries in the agent's settings. `trust` is what the agent's own files say of their
    being run: "trusted", "trusted here", "off: " or "asks: " with what to do, or "" when they say nothing.
    `probe_payload` is this agent's payload for an event that no hook is for.
    """

    def is_installed(self, site: Site) -> bool: ...
    def connect(self, site: Site) -> Plan: ...
    def disconnect(self, site: Site) -> Plan: ...
    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]: ...
    def trust(self, site: Site) -> str: ...
    def probe_payload(self, session: str, cwd: str) -> Payload: ...


class HookReader(Protocol):
    """Reads hooks that are declared in the agent's own format. `EXPECTED` says what the path has to name."""

    EXPECTED: str

    def read(self, path: Path, agents: Sequence[str], environment: Variables) -> SourceHooks: ...


class HookImporter(Protocol):
    """Moves the user's own hooks from an agent's settings below Hooktray, and back. It plans."""

    def import_hooks(self, site: Site, problem: FindProblem) -> Plan: ...
    def undo_import(self, site: Site, backups: Backups) -> Plan: ...
    def has_imported(self, site: Site) -> bool: ...


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A tool as one agent knows it: its name, and its spellings of the canonical argument keys that differ."""

    name: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the first spelling is the one we write


def never(payload: Payload) -> bool:
    return False


def is_uncertain(payload: Payload, environment: Variables) -> bool:
    return False


def named_in_command(payload: Payload, word: str) -> str:
    return word


def no_answer(event: str) -> bytes:
    return b""


def no_options(site: Site, files: Sequence[str]) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How to recognise which agent sent a payload. Only keys at the top of a payload count.

    `is_sender` says that nobody else can have sent it; it is called only for payloads with one of `keys`, or with a
    transcript whose path has `transcript` in it. `yields`: it rests on fields that another agent may add one day, so
    a payload that is certainly another's counts as that one's. `is_certain` is such a certainty. `is_alike` says
    that a payload has this agent's shape; with `shares_shape` so have payloads of others, and only the agent whose
    command it is counts. `event_names` is the style of its events' names.
    """

    keys: tuple[str, ...] = ()
    transcript: str = ""
    is_sender: Callable[[Payload], bool] = never
    yields: bool = False
    is_certain: Callable[[Payload, Variables], bool] = is_uncertain
    is_alike: Callable[[Payload], bool] = never
    shares_shape: bool = False
    event_names: re.Pattern[str] | None = None
    variables: tuple[str, ...] = ()  # of its hooks' environment, and of no other agent's
    event: Callable[[Payload, str], str] = named_in_command  # its name for the event, else the one in the command
    neutral: Callable[[str], bytes] = no_answer  # by event; only for an agent without a protocol here


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholders:
    """The names that a hook format has for these; "" where it has none."""

    plugin: str = ""  # the plugin's folder
    storage: str = ""  # the folder where the plugin keeps its own files
    project: str = ""  # the folder of the project that declares the hook; its hooks find it in their environment
    cwd: str = ""  # the folder of the event
    home: str = ""  # the user's home
    separator: str = ""  # between the parts of a path


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRules:
    """What is particular about hooks written for one agent."""

    sequential: bool = False  # hooks of one source run one after another, and a refusal ends the row
    deduplicated: bool = False  # the same handler in several of its files is asked once
    plugin_files: tuple[str, ...] = ()  # files whose handlers are the plugin's own, and no other file's
    exact_names: bool = True  # a matcher that is a list of names means just these; else each matcher is a pattern
    word_lists: frozenset[str] = frozenset()  # events where a list of names has letters, digits, `_` and `|` only
    older_tool_names: bool = False  # matchers also know the older names of tools
    text_counts: bool = False  # plain text that its own hooks print means something
    json_over_http: bool = False  # an HTTP answer that is not a JSON object is a failure
    refusal_stops: bool = False  # the "no" of a model's check ends the turn, unless the hook says otherwise
    refusal_cap_variable: str = ""  # by which its users raise how often an end of turn may be refused
    placeholders: Placeholders = Placeholders()
    folder_variables: frozenset[str] = frozenset()  # of its hooks: folders that are the same for an approved copy
    # Whether a tool call meets the `condition` of a match.
    is_condition_met: Callable[[Match, Event, ToolNames, PatternSearch], bool] | None = None
    plugin_input: Callable[[bytes, str, str], bytes] | None = None  # stdin with the hook's plugin: id and folder
    main_agent: Callable[[Payload], str] | None = None  # the agent that the whole session was begun as


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFiles:
    """Files that an agent's tools may not change, because they decide which hooks run."""

    kind: str  # as people read it: "a hook setting of Claude Code"
    pattern: re.Pattern[str]  # of a whole path in lower case with forward slashes


# Payload keys by which agents say with every event who and where they are. No hook's pattern looks at their values.
ENVELOPE = frozenset(
    {
        "agent_id", "agent_transcript_path", "conversation_id", "cwd", "effort", "hook_event_name", "hostname",
        "message_id", "permission_mode", "plugin", "prompt_id", "readonly", "session", "session_id", "timestamp",
        "transcript_path", "turn_id", "user_email",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """An agent that Hooktray recognises, and keeps away from what protects its user."""

    id: str  # in settings, commands and the journal: "x-code"
    name: str  # as people call it: "X-Code CLI"
    marks: Marks = Marks()
    programs: frozenset[str] = frozenset()  # names of its processes
    variables: frozenset[str] = frozenset()  # which the processes that it starts inherit, and people do not set
    starters: frozenset[str] = frozenset()  # programs that start it
    without_hooks: re.Pattern[str] | None = None  # of an argument that makes it run none of its user's hooks
    home_variable: str = ""  # names its folder in place of the usual one
    protected: tuple[ProtectedFiles, ...] = ()
    protected_in_home: tuple[ProtectedFiles, ...] = ()  # below the folder that `home_variable` names
    settings_files: tuple[str, ...] = ()  # examples of `protected`, below a home or a project
    path_words: tuple[str, ...] = ()  # one of which is in every path of `protected`, in lower case


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(KnownAgent):
    """An agent whose hooks Hooktray runs. What is left out does not exist there: no hook files, no own tools."""

    events: Mapping[str, EventSpec]  # by native name, in alphabetical order
    protocol: AgentProtocol
    envelope: frozenset[str] = ENVELOPE
    default_can: Capability = Capability.NOTHING  # what its hooks can answer to an event that it does not have
    extra_can: Mapping[str, Capability] = field(default_factory=dict)  # what hooks can answer besides, by event
    tools: Mapping[str, NativeTool] = field(default_factory=dict)  # by canonical name; the others are called alike
    older_tools: Mapping[str, str] = field(default_factory=dict)  # earlier names of tools, which matchers still take
    rules: HookRules = HookRules()
    unconnected_events: frozenset[str] = frozenset()  # that `connect` writes no entry for
    probe_event: str = ""  # that a probe is sent as; "" = any, since the payload names the event
    connector: Callable[[], Connector] | None = None
    reader: Callable[[], HookReader] | None = None
    importer: Callable[[], HookImporter] | None = None
    import_hint: str = ""  # how its hooks get below Hooktray without an importer
    # What `hooktray connect AGENT` needs besides, to write the entries in these files again.
    connect_options: Callable[[Site, Sequence[str]], str] = no_options
