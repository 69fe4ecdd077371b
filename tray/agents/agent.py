"""What Hooktray knows about an agent: values and functions with defaults. Each agent's module fills them in."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from tray.model.decision import Answer, Decision, HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventSpec, FormFormat, RelayRequest, Tool
from tray.model.hook import Match

if TYPE_CHECKING:  # a connector and a reader are imported when they are first used
    from tray.agents.connection import EntryContent, HookCheck, Plan, RelayEntry, Site
    from tray.agents.native_runs import RunsOwn
    from tray.edit.file_changes import FileState
    from tray.reading.entries import SourceHooks

Payload = Mapping[str, "Any"]
Variables = Mapping[str, str]

CI = "CI"  # what every CI sets
NOT_CI = ("", "0", "false")


class PatternSearch(Protocol):
    """Searches texts of one event for patterns, within the event's time limit for patterns."""

    def in_text(self, pattern: str, text: str) -> bool: ...


class AgentProtocol(Protocol):
    """An agent's wire format: bytes to values and back, pure. A module or an object with these functions.

    For the agent: `event_name` returns the agent's own name for the payload's event ("" when the payload has none),
    `tool` its tool call, if any. `parse` reads a request, and `render` writes a fitted decision. `neutral` is the
    answer when no hook had an opinion or Hooktray failed. `rewrite_problem` returns why the agent cannot take this
    rewrite although its event takes rewrites of that kind ("" when it can).
    For a hook that was written for this agent, and for any agent's event: `hook_event_name` is the event's name for
    the hook, `stdin` and `environment` are its input, and `read` reads the result of its process.
    `sample` returns a synthetic payload. It raises KeyError for an event without one.
    """

    def event_name(self, payload: Payload) -> str: ...
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
    """Plans how our entries are added to an agent's settings and removed. `tray.connect` carries out the plans.

    `relay_entries` returns our entries in the agent's settings. `trust` returns whether the agent runs them, as far
    as its own files say: "trusted", "trusted here", "off: " or "asks: " and what to do, or "" for no information.
    `switch_files` returns the files that `trust` reads. `contents` returns our entries in a file that `connect` wrote
    (raises HooktrayError when the agent cannot read the file). `probe_payload` returns this agent's payload for an
    event that has no hooks.
    """

    def is_installed(self, site: Site) -> bool: ...
    def connect(self, site: Site) -> Plan: ...
    def disconnect(self, site: Site) -> Plan: ...
    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]: ...
    def trust(self, site: Site) -> str: ...
    def switch_files(self, site: Site) -> tuple[Path, ...]: ...
    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]: ...
    def probe_payload(self, session: str, cwd: str) -> Payload: ...


class HookReader(Protocol):
    """Reads hooks that are declared in the agent's own format. `EXPECTED` is the hint for a wrong path."""

    EXPECTED: str

    def read(self, path: Path, agents: Sequence[str], environment: Variables) -> SourceHooks: ...


class HookImporter(Protocol):
    """Plans how the user's own hooks move from an agent's settings to Hooktray, and back."""

    def import_hooks(self, site: Site, check: HookCheck) -> Plan: ...
    def undo_import(self, site: Site) -> Plan: ...
    def has_imported(self, site: Site) -> bool: ...


class NativeTool(msgspec.Struct, frozen=True):
    """One agent's name for a tool, and its names for those argument keys that differ from the canonical ones."""

    name: str
    keys: Mapping[str, tuple[str, ...]] = {}  # Hooktray writes the first one
    others: tuple[str, ...] = ()  # names of further tools of the agent that do the same
    patch: str = ""  # the key of its input, where that is a patch


def never(payload: Payload) -> bool:
    return False


def is_uncertain(payload: Payload, environment: Variables) -> bool:
    return False


def named_in_command(payload: Payload, word: str) -> str:
    return word


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """How to recognise which agent sent a payload. Only keys at the top level of a payload count.

    `is_sender` returns whether only this agent can have sent the payload. It is called only for payloads that have
    one of `keys`, or a transcript whose path contains `transcript`. `is_certain` returns whether this agent has
    certainly sent the payload. With `yields`, `is_sender` relies on fields that other agents may add later, so the
    `is_certain` of another agent overrides it. `is_alike` returns whether a payload has this agent's shape. With
    `shares_shape`, other agents send the same shape, so it counts only for the agent in the command.
    `event_names` matches the names of this agent's events.
    """

    keys: tuple[str, ...] = ()
    transcript: str = ""
    is_sender: Callable[[Payload], bool] = never
    yields: bool = False
    is_certain: Callable[[Payload, Variables], bool] = is_uncertain
    is_alike: Callable[[Payload], bool] = never
    shares_shape: bool = False
    event_names: re.Pattern[str] | None = None
    variables: tuple[str, ...] = ()  # which only this agent sets for its hooks
    event: Callable[[Payload, str], str] = named_in_command  # its name for the event; default: that in the command


class Placeholders(msgspec.Struct, frozen=True, kw_only=True):
    """A hook format's names for these values; "" where it has none."""

    plugin: str = ""  # the plugin's folder
    storage: str = ""  # the folder where the plugin keeps its own files
    project: str = ""  # the folder of the project that declares the hook; its hooks find it in their environment
    cwd: str = ""  # the folder of the event
    home: str = ""  # the user's home
    separator: str = ""  # between the parts of a path


Verdicts = Mapping[str, Mapping["Any", Verdict]]  # for each key of an answer: what its text or boolean means


class AnswerWords(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of an answer in one hook format, and which of them carry a verdict."""

    keys: frozenset[str] | None = None  # None: not known
    verdicts: Verdicts = {}


class HookRules(msgspec.Struct, frozen=True, kw_only=True):
    """How hooks that were written for one agent differ from others."""

    sequential: bool = False  # hooks of one source run one after another, and the first refusal ends the sequence
    deduplicated: bool = False  # the same handler in several of its files runs once
    moved: tuple[str, str] = ("", "")  # parts of a path: `connect` moves the user's hooks from, to
    plugin_files: tuple[str, ...] = ()  # a handler in one of these is never the same as another file's
    exact_names: bool = True  # a matcher that is a list of names means just these; else each matcher is a pattern
    whole_aliases: bool = False  # a matcher also knows other names of a tool, where one of its alternatives is one
    word_lists: frozenset[str] = frozenset()  # events where a list of names has letters, digits, `_` and `|` only
    older_tool_names: bool = False  # matchers also know the older names of tools
    text_counts: bool = False  # plain text on its hooks' stdout has a meaning
    fails_to_refuse: bool = False  # a hook refuses by failing, and its reason is what it wrote to stderr
    only_rewrites_prompts: bool = False  # asked about what a person typed only where the event can carry a rewrite
    json_over_http: bool = False  # an HTTP answer that is not a JSON object is a failure
    context_at_stop: bool = False  # context of its hooks at a stop makes the agent go on; of others' it is dropped
    refusal_stops: bool = False  # a refusal by a model ends the turn, unless the hook declares otherwise
    refusal_cap_variable: str = ""  # with which its users raise the limit of refusals at an end of turn
    placeholders: Placeholders = Placeholders()
    folder_variables: frozenset[str] = frozenset()  # of its hooks: they name the same folders for an approved copy
    # Whether a tool call meets the `condition` of a match.
    is_condition_met: Callable[[Match, Event, PatternSearch], bool] | None = None
    plugin_input: Callable[[bytes, str, str], bytes] | None = None  # stdin with the hook's plugin: id and folder


class ProtectedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that an agent's tools may not change, because they decide which hooks run."""

    kind: str  # as people read it: "a hook setting of Claude Code"
    pattern: re.Pattern[str]  # of a whole path in lower case with forward slashes
    asks: bool = False  # self-protection asks about a change instead of refusing it
    beside: tuple[str, ...] = ()  # another name is not enough: only with one of these files in the same folder


def protected(kind: str, pattern: str, *, asks: bool = False) -> ProtectedFiles:
    """Returns the files of a kind whose paths match a pattern."""
    return ProtectedFiles(kind=kind, pattern=re.compile(pattern), asks=asks)


class ShellTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts for the model whose shell lines the agent runs by itself; a change that adds some is asked about."""

    files: re.Pattern[str]  # of a whole path in lower case with forward slashes
    lines: re.Pattern[str]  # matches the lines that are run


# Payload keys that describe the agent and its session on every event. Hooks' patterns do not search their values.
ENVELOPE = frozenset(
    {
        "agent_id", "agent_transcript_path", "conversation_id", "cwd", "effort", "hook_event_name", "hostname",
        "message_id", "parent_session_id", "permission_mode", "plugin", "prompt_id", "readonly", "session",
        "session_id", "timestamp", "transcript_path", "turn_id", "user_email",
    }
)  # fmt: skip


class KnownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent whose payloads and processes Hooktray recognises, and whose settings it protects."""

    id: str  # in settings, commands and the journal: "x-code"
    name: str  # as people call it: "X-Code CLI"
    marks: Marks = Marks()
    programs: frozenset[str] = frozenset()  # names of its processes
    variables: frozenset[str] = frozenset()  # which its child processes inherit, and people do not set
    starters: frozenset[str] = frozenset()  # programs that start it
    off_options: frozenset[str] = frozenset()  # options that turn off the user's hooks or replace their settings
    off_variables: frozenset[str] = frozenset()  # environment variables that do the same
    without_hooks: re.Pattern[str] | None = None  # matches one or two arguments that do it in another form
    adds_plugins: re.Pattern[str] | None = None  # arguments, one a line, that add code for its events
    headless: re.Pattern[str] | None = None  # of an argument with which it runs without a user
    headless_marks: Mapping[str, re.Pattern[str]] = {}  # variables that say the same
    home_variable: str = ""  # of the environment; names another folder than its usual one
    protected: tuple[ProtectedFiles, ...] = ()
    protected_in_home: tuple[ProtectedFiles, ...] = ()  # below the folder that `home_variable` names
    shell_texts: ShellTexts | None = None
    settings_files: tuple[str, ...] = ()  # examples of `protected`, below a home or a project
    # Patterns of protected TOML and YAML files -> the members, at any depth, that a tool may not change in them.
    guarded_members: Mapping[str, re.Pattern[str]] = {}
    path_words: tuple[str, ...] = ()  # each path of `protected` contains one; in lower case

    def is_headless(self, environment: Variables, command: Sequence[str]) -> bool:
        """Whether no user sits before this agent: another program started it, by an SDK, for one print, or in CI."""
        if environment.get(CI, "").lower() not in NOT_CI:
            return True
        if any(pattern.fullmatch(environment.get(name, "")) for name, pattern in self.headless_marks.items()):
            return True
        # The program, maybe behind its interpreter: another one's arguments mean something else.
        own = next((number for number, word in enumerate(command[:3]) if PurePath(word).stem in self.programs), None)
        return own is not None and self.headless is not None and any(map(self.headless.fullmatch, command[own + 1 :]))


class Agent(KnownAgent, frozen=True, kw_only=True):
    """An agent whose hooks Hooktray runs. A field that is left out means that the agent has no such thing."""

    events: Mapping[str, EventSpec]  # by native name, in alphabetical order
    protocol: AgentProtocol
    envelope: frozenset[str] = ENVELOPE
    default_can: Capability = Capability.NOTHING  # what its hooks can answer to an event that it does not have
    extra_can: Mapping[str, Capability] = {}  # what hooks can answer beyond `can`, by event
    tools: Mapping[str, NativeTool] = {}  # by canonical name; the others have that name
    older_tools: Mapping[str, str] = {}  # earlier names of tools, which matchers still take
    matcher_names: Mapping[str, tuple[str, ...]] = {}  # more names of a tool, by its own
    # By a tool's name: further canonical tools whose work it does, so that other agents' hooks run for it.
    also_does: Mapping[str, tuple[str, ...]] = {}
    rules: HookRules = HookRules()
    answers: AnswerWords = AnswerWords()
    forms: FormFormat | None = None
    unconnected_events: frozenset[str] = frozenset()  # that `connect` writes no entry for
    unnamed_event: str = ""  # its entries name no event: what a payload counts as that names none, or is unreadable
    trusts_each_entry: bool = False  # its user has to trust our entries again when they change, so all are written
    main_agent_key: str = ""  # payload key with the kind of agent that the whole session was started as
    keeps_call_ids: bool = False  # its real client names a call by the same id before and after it
    probe_event: str = ""  # the event of a probe; "" = any, because the payload names the event
    connector: Callable[[], Connector] | None = None
    reader: Callable[[], HookReader] | None = None
    importer: Callable[[], HookImporter] | None = None
    runs_own: Callable[[], RunsOwn] | None = None  # which hooks of its own files it runs itself; None: not known
    presence_variable: str = ""  # names a file that is to be there as long as its user is at the desktop
    import_hint: str = ""  # how to import its hooks where it has no importer
    no_hook_files: str = ""  # why there are none of its format to read; "" for an agent that has hook files
    # The options with which `hooktray connect AGENT` writes the entries in these files again.
    connect_options: Callable[[], Callable[[Site, Sequence[str]], str]] | None = None


def timed(
    events: Mapping[str, EventSpec], usual: float, others: Mapping[str, float] | None = None
) -> Mapping[str, EventSpec]:
    """Returns the events with the time-outs of Hooktray's entries, in seconds: `others` by event, else `usual`."""
    return {name: replace(spec, timeout=(others or {}).get(name, usual)) for name, spec in events.items()}


def part(place: str, *values: object) -> Callable[[], Any]:
    """Returns a function that imports a module, or `module:NAME`. With `values`, it calls what it has imported.

    The result is Any: a test compares each part with the Protocol that it implements.
    """
    module, _, name = place.partition(":")

    def found() -> Any:
        imported = importlib.import_module(module)
        named: Any = attrgetter(name)(imported) if name else imported
        return named(*values) if values else named

    return found
