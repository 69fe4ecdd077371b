"""What the user wants run: a Hook, when it matches, and where it was declared."""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePath

import msgspec

from tray.model.decision import Verdict
from tray.model.event import EventKind

OWN_SOURCE = "hooktray"  # the kind of our own file
IMPORTED = "imported"  # the folder of hooks that were taken out of an agent's settings
DEFAULT_TIMEOUT = 20.0  # seconds that a hook may run if nothing else is declared

_PLAIN_TEXTS = re.compile(
    r"(?:[^\\.^$*+?{}\[\]()|]|\\[.$*+?(){}\[\]|/-])+(?:\|(?:[^\\.^$*+?{}\[\]()|]|\\[.$*+?(){}\[\]|/-])+)*"
)

GATING_KINDS = frozenset({EventKind.PERMISSION_REQUEST, EventKind.TOOL_BEFORE})  # a failed hook there does not allow


class Failure(enum.StrEnum):
    """What a hook's failure does to its event."""

    ALLOW = "allow"
    DEFAULT = "default"  # of our own gating hooks: ask, or allow with a critical notification if it cannot ask
    ASK = "ask"
    BLOCK = "block"


class AsyncMode(enum.StrEnum):
    """Whether a hook runs beside the answer, which then neither waits for it nor heeds its verdict."""

    NO = "no"
    ASYNC = "async"
    REWAKE = "rewake"  # with exit 2 it wants the agent to go on because of its output


class ApprovalState(enum.StrEnum):
    """The state of a hook in the ledger."""

    PENDING = "pending"
    APPROVED = "approved"
    CHANGED = "changed"
    REVOKED = "revoked"
    DENIED = "denied"
    INACTIVE = "inactive"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A place where hooks are declared."""

    kind: str  # "hooktray", or the agent whose format it is in
    path: str
    line: int = 0
    text: str = ""  # the entry as it is written there; not compared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    def __repr__(self) -> str:
        return f"Source{self._place}"  # without the text, which may hold a secret

    @property
    def _place(self) -> tuple[str, str, int]:
        return self.kind, self.path, self.line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """When a hook is asked. `event` is a canonical name, or a native one when `agents` names its agent.

    A hook of another format keeps that format's rule for `tool`, and on its own agent its own event's name:
    two native events of one kind stay two there.
    """

    event: str
    agents: tuple[str, ...] = ()  # empty = every agent
    tool: str = ""  # exact list of names, else an unanchored pattern
    pattern: str = ""  # searched in the payload's text values
    format: str = ""  # the agent whose format the hook is declared in; "" = ours
    native: str = ""  # what that agent calls the event
    project: str = ""  # asked only for events below this folder: the project whose own settings declare it
    skill: tuple[str, ...] = ()  # asked only while the skill of one of these names is in force in the session
    subagent: str = ""  # asked only inside this agent
    condition: str = ""  # a permission rule such as `Bash(git *)` that the tool call has to meet


@lru_cache(maxsize=16_384)
def plain_texts(pattern: str) -> tuple[str, ...] | None:
    """The texts that a pattern of mere alternatives looks for, such as `rm -rf|mkfs\\.`; None for any other.

    They need no limit of time: looking for a text is linear.
    """
    if not _PLAIN_TEXTS.fullmatch(pattern):
        return None
    return tuple(re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\)\|", pattern))


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A process. `line` stays as the user wrote it; `shell` only where the dialect's own format has a shell."""

    line: str
    folder: str  # relative words of the line are looked up here
    interpreter: str = ""  # the program that the line's first word was found to be, when it is not a file of ours
    shell: bool = False
    format: str = ""  # the agent whose placeholders the line may hold; "" = none
    plugin: str = ""  # the folder of the plugin that it belongs to: all of it is approved with the hook
    storage: str = ""  # where that plugin keeps its own files, made on first use
    owner: str = ""  # the plugin's id, `name@market`, which the agent passes to its hooks
    root: str = ""  # that plugin's folder, whether or not it is approved with the hook


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A built-in answer, without a process."""

    verdict: Verdict
    reason: str = ""


# Fields under the names that definitions in ledgers have: another name would be another digest.
STORED_NAMES = {"async_mode": "aside", "background_seconds": "background"}
NOTED = "noted"  # key beside a definition in the ledger: facts that an approval notes
# What came after the first approvals: left out of a definition where it has its default, so that those still hold.
OMITTED_WHEN_EMPTY = frozenset(
    {"aside", "condition", "continue_on_block", "once", "owner", "root", "skill", "status", "subagent"}
)


class Http(msgspec.Struct, frozen=True, kw_only=True):
    """A POST of the event. The variables that `headers` may name are the hook's `env`."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    allow_local: tuple[str, ...] = ()  # host:port that may be on this machine or in its networks


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the language model of the settings; with `agent` the model may look into the project's files."""

    text: str
    model: str = ""  # "" = that of the settings
    agent: bool = False
    continue_on_block: bool = False  # where the format has it: a refusal does not end the turn


Action = Command | Http | Prompt | Rule


class Hook(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One declared hook. Its definition is what the user approves, together with the bytes it runs."""

    name: str
    source: Source
    match: Match
    action: Action
    dialect: str
    timeout: float = DEFAULT_TIMEOUT  # seconds
    failure: Failure = Failure.ALLOW
    enabled: bool = True
    env: tuple[str, ...] = ()  # withheld variables that this hook gets
    files: tuple[str, ...] = ()  # globs of further files that belong to it
    background_seconds: float = 600.0  # seconds that its background children may live on
    once: bool = False  # it has one turn in a session
    async_mode: AsyncMode = AsyncMode.NO
    status: str = ""  # what the menu shows while it runs
    inactive: str = ""  # why it is listed and never proposed; "" when it is
    agent_switch: bool = False  # it is inactive because the agent's own switch turns off the file that declares it

    @functools.cached_property
    def key(self) -> str:
        """Who it is across edits: the file that declares it and its name there."""
        key = f"{self.source.kind}:{self.source.path}#{self.name}"
        return key if key.isascii() else key.encode("utf-8", "backslashreplace").decode()

    @property
    def is_imported(self) -> bool:
        """Whether `import-hooks` took it out of an agent's settings."""
        path = self.source.path
        return IMPORTED in path and PurePath(path).parent.parent.name == IMPORTED

    @property
    def definition(self) -> str:
        """What is approved besides the bytes, as canonical JSON; its line and whether it is inactive are not."""
        fields = msgspec.to_builtins(self) | {"kind": type(self.action).__name__}
        del fields["inactive"], fields["agent_switch"]
        for name, stored in STORED_NAMES.items():
            fields[stored] = fields.pop(name)
        fields["source"] = {"kind": self.source.kind, "path": self.source.path}
        for part in (fields, fields["match"], fields["action"]):
            for name in OMITTED_WHEN_EMPTY & part.keys():
                if part[name] in ("", (), False, AsyncMode.NO):
                    del part[name]
        return _json(fields)


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's event that approved hooks guard. All names are the agent's own.

    `names` are the tools that the hooks can match; with `is_exception`, the only tools that they cannot match.
    `failure` ALLOW: the call goes on unjudged, since the agent cannot ask, and the relay notes it. `hooks` are the
    names of the hooks.
    """

    agent: str
    event: str
    failure: Failure
    names: tuple[str, ...] = ()
    is_exception: bool = False
    hooks: tuple[str, ...] = ()


def restore(definition: str) -> Hook:
    """The hook of a definition that the ledger holds. Raises ValueError when it is not one of ours."""
    try:
        fields = json.loads(definition)
        fields.pop(NOTED, None)
        action = ACTIONS[fields.pop("kind")](**fields.pop("action"))
        match = fields.pop("match")
        return Hook(
            source=Source(**fields.pop("source")),
            match=Match(**match | {"agents": tuple(match["agents"]), "skill": tuple(match.get("skill", ()))}),
            action=_typed(action),
            failure=Failure(fields.pop("failure")),
            async_mode=AsyncMode(fields.pop("aside", AsyncMode.NO)),
            background_seconds=fields.pop("background"),
            env=tuple(fields.pop("env")),
            files=tuple(fields.pop("files")),
            **fields,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a hook's definition: {error!r}") from error


ACTIONS: dict[str, type[Action]] = {"Command": Command, "Http": Http, "Prompt": Prompt, "Rule": Rule}


def _typed(action: Action) -> Action:
    """JSON knows neither enums nor tuples."""
    if isinstance(action, Rule):
        return Rule(verdict=Verdict(action.verdict), reason=action.reason)
    if isinstance(action, Http):
        headers = tuple((str(name), str(value)) for name, value in action.headers)
        return Http(url=action.url, headers=headers, allow_local=tuple(action.allow_local))
    return action


def _json(value: object) -> str:
    """Returns the value as JSON, with an escape for each byte of a path that is not UTF-8."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def digest(definition: str, files: Mapping[str, str], pinned: Mapping[str, str]) -> str:
    """The approved unit's name: SHA-256 over the definition and each file's and program's path and SHA-256."""
    listing = _json([definition, sorted(files.items()), sorted(pinned.items())])
    return hashlib.sha256(listing.encode()).hexdigest()
