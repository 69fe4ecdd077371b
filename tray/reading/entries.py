"""What the readers of other formats share: one declaring file, its hooks, and what is wrong with single entries."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tray.addresses import endpoint
from tray.errors import ConfigError
from tray.model.event import AgentEvents, EventKind
from tray.model.hook import Action, AsyncMode, Command, Failure, Hook, Http, Match, Rule, Source, plain_texts
from tray.settings import invalid_value
from tray.strict.document import Document, suggest
from tray.strict.document import KeyPath as KeyPath
from tray.text.words import word_set

NAME_LIMIT = 80  # characters of a name that we give
READABLE_HINT = "see that it is a file, and one that you may read"
# What `connect` and the README put into an agent's own settings: it brings events here and judges none.
RELAY_COMMAND = re.compile(
    r"\bhooktray(\.exe)?['\"]?\s+(--home(=|\s+)\S+\s+)?relay\b|\bhooktray-hook\b|\btray[/\\]relay\.py\b"
)
OWN_RELAY = "it is Hooktray's own relay"
# A word of a command line that is a file: a path, also below a folder in a variable, or a name with an ending.
FILE = re.compile(
    r"(?:\$\{?\w+\}?|~|\.{1,2}|[A-Za-z]:)?[/\\][^|<>(){}\[\];\"'`*=$\n]+"
    r"|[^\s|<>(){}\[\];\"'`*=$:/\\]+[/\\][^\s|<>(){}\[\];\"'`*=$:]+|[\w@+-][\w@+.-]*\.\w+"
)
PROGRAM = re.compile(r"[\w@+-][\w@+.-]*")
ASSIGNMENT = re.compile(r"\w+=")
REDIRECT = re.compile(r"[\d&]?[<>]{1,2}&?")
LEADERS = word_set("! & && ( ; do elif else env exec if sudo then time until while { | || |&")
PLAIN_PROGRAMS = word_set("[ [[ cat cd echo exit export false printf read set test true")


class SourceHooks(msgspec.Struct, frozen=True, kw_only=True):
    """What one source yields: hooks, what a person should know of it, and the files that it depends on."""

    hooks: tuple[Hook, ...] = ()
    warnings: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()


def joined(parts: Sequence[SourceHooks]) -> SourceHooks:
    return SourceHooks(
        hooks=tuple(hook for part in parts for hook in part.hooks),
        warnings=tuple(warning for part in parts for warning in part.warnings),
        watched=tuple(dict.fromkeys(path for part in parts for path in part.watched)),
    )


class SourceReader(msgspec.Struct):
    """One declaring file while it is read. A malformed entry yields a warning with its place; the others are read."""

    document: Document
    events: AgentEvents
    agents: Sequence[str] = ()
    project: str = ""
    inactive: str = ""
    plugin: Path | None = None  # the folder of the plugin that the file belongs to
    skill: Sequence[str] = ()
    subagent: str = ""
    hooks: list[Hook] = []
    warnings: list[str] = []

    @property
    def path(self) -> Path:
        return Path(self.document.path)

    @contextlib.contextmanager
    def entry(self) -> Iterator[None]:
        """What goes wrong inside is a warning; the entry yields no hook."""
        try:
            yield
        except ConfigError as error:
            self.warnings.append(str(error))

    def error(self, at: KeyPath, what: str, hint: str) -> ConfigError:
        return invalid_value(self.document, at, what, hint)

    def warn(self, at: KeyPath, what: str, hint: str) -> None:
        self.warnings.append(str(self.error(at, what, hint)))

    def match(self, at: KeyPath, event: str, *, tool: str = "", pattern: str = "", condition: str = "") -> Match:
        """Any agent's event of the same kind; one that no other agent can have stays with its own."""
        spec, agent = self.events.spec(event), self.events.agent
        if spec is None:
            raise self.error(at, f"unknown event `{event}`", suggest(event, self.events.names))
        is_other = spec.kind is EventKind.OTHER
        return Match(
            event=event if is_other else spec.kind.value,
            agents=(agent,) if is_other else tuple(self.agents),
            tool=tool,
            pattern=pattern,
            format=agent,
            native=event,
            project=self.project,
            skill=tuple(self.skill),
            subagent=self.subagent,
            condition=condition,
        )

    def add(
        self,
        at: KeyPath,
        match: Match,
        action: Action,
        *,
        timeout: float,
        name: str = "",
        failure: Failure = Failure.ALLOW,
        env: Sequence[str] = (),
        once: bool = False,
        async_mode: AsyncMode = AsyncMode.NO,
        status_message: str = "",
        inactive: str = "",
    ) -> None:
        self.hooks.append(
            Hook(
                name=(name or default_name(match, action))[:NAME_LIMIT],
                source=source(self.document, at, self.events.agent),
                match=match,
                action=action,
                dialect=self.events.agent,
                timeout=timeout,
                failure=failure,
                env=tuple(env),
                once=once,
                async_mode=async_mode,
                status=status_message,
                agent_switch=bool(self.inactive),
                inactive=OWN_RELAY if _is_relay(action) else self.inactive or inactive,
            )
        )

    def result(self, *watched: Path) -> SourceHooks:
        paths = tuple(str(path) for path in (self.path, *watched))
        return SourceHooks(hooks=tuple(unique_names(self.hooks)), warnings=tuple(self.warnings), watched=paths)

    def mapping(self, at: KeyPath, value: Any, hint: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.error(at, "expected keys and values", hint)
        return value

    def items(self, at: KeyPath, value: Any, hint: str) -> list[Any]:
        if not isinstance(value, list):
            raise self.error(at, "expected a list", hint)
        return value

    def text(self, at: KeyPath, fields: Mapping[str, Any], key: str) -> str:
        """The text under `key`; "" when it is not there."""
        value = fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error((*at, key), "expected text", "put it in quotes")
        return value

    def command(self, at: KeyPath, fields: Mapping[str, Any], key: str = "command") -> str:
        line = self.text(at, fields, key)
        if not line.strip():
            raise self.error(at, "a command hook needs a command", f"add `{key}`")
        return line

    def texts(self, at: KeyPath, fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """The list of texts under `key`; empty when it is not there."""
        value = fields.get(key) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error((*at, key), "expected a list of texts", "put each of them in quotes")
        return tuple(value)

    def flag(self, at: KeyPath, fields: Mapping[str, Any], key: str) -> bool:
        value = fields.get(key, False)
        if not isinstance(value, bool):
            raise self.error((*at, key), "expected true or false", "write `true`, or leave it out")
        return value

    def number(self, at: KeyPath, fields: Mapping[str, Any], key: str) -> float | None:
        """The positive number under `key`; None when it is not there."""
        value = fields.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise self.error((*at, key), "expected a number above 0", "write a number, or leave it out")
        return float(value)

    def timeout(self, at: KeyPath, fields: Mapping[str, Any], *, default: float, limit: float, unit: str) -> float:
        """Returns the number under `timeout` in this unit; warns if it cuts the number to the limit."""
        given = self.number(at, fields, "timeout") or default
        if given > limit:
            self.warn((*at, "timeout"), f"{given:g} {unit} is cut to {limit:g}", f"write at most {limit:g}")
        return min(given, limit)

    def words(self, at: KeyPath, line: str) -> list[str]:
        """The words of a command line that no shell reads."""
        try:
            return shlex.split(line)
        except ValueError as error:
            raise self.error(at, f"cannot be split into words: {error}", "close the quotes") from None


def source(document: Document, at: KeyPath, kind: str) -> Source:
    """Returns the place of the entry `at`, in the format of this kind."""
    mark = document.marks.get(at)
    return Source(kind=kind, path=document.path, line=mark.line if mark else 0, text=document.excerpt(at))


def _is_relay(action: Action) -> bool:
    return isinstance(action, Command) and RELAY_COMMAND.search(action.line) is not None


def default_name(match: Match, action: Action) -> str:
    """What a hook without a name of its own is called."""
    if isinstance(action, Command):
        return command_name(action.line)
    if isinstance(action, Http):
        return endpoint(action.url).host
    kind = "rule" if isinstance(action, Rule) else "agent" if action.agent else "prompt"
    return f"{match.native or match.event} {kind}"


def command_name(line: str) -> str:
    """The script's name, if the line can be split; else what it begins with."""
    try:
        return script_name(line)
    except ValueError:
        return line.split()[0]


def script_name(line: str) -> str:
    """The name of the script that a command line runs, without its folder and ending; else that of its program.

    A word is a script only if it looks like a file: in `jq -r '.tool_input.command' >> log.txt` none is.
    """
    words = shlex.split(line)
    files = (word for before, word in pairwise(("", *words)) if not REDIRECT.fullmatch(before))
    script = next((word for word in files if FILE.fullmatch(word) and not word.startswith(("-", "/dev/"))), "")
    if script:
        return Path(script.replace("\\", "/")).stem or script
    programs = [word for word in _programs(words) if PROGRAM.fullmatch(word)]
    return next(
        (word for word in programs if word not in PLAIN_PROGRAMS),
        next(iter(programs), Path(words[0]).stem if words else line),
    )


def _programs(words: Sequence[str]) -> Iterator[str]:
    """The words that begin a command, without what the shell ends them with."""
    begins = True
    for word in words:
        plain = word.rstrip(";)").removeprefix("$(").removeprefix("(")
        if begins and ASSIGNMENT.match(word) is None and plain not in LEADERS:
            yield plain
            begins = False
        begins = begins or word in LEADERS or word.endswith((";", "$("))


def unique_names(hooks: Sequence[Hook]) -> list[Hook]:
    """Names are unique per source: the second `guard` is `guard-2`."""
    taken: set[str] = set()
    unique = []
    for hook in hooks:
        name, count = hook.name, 1
        while name in taken:
            count += 1
            name = f"{hook.name}-{count}"
        taken.add(name)
        unique.append(replace(hook, name=name))
    return unique


# What Python's patterns know, and JavaScript's do not.
PYTHON_ONLY = re.compile(r"\(\?P[<=]|\(\?[a-zA-Z]+\)|\\[AZ]")


def pattern_problem(pattern: str, *, script: bool) -> str:
    """Why this is not a pattern; "" when it is. With `script` it is read as JavaScript reads it."""
    if script and (found := PYTHON_ONLY.search(pattern)):
        return f"`{found[0]}` is not known there"
    if not pattern or plain_texts(pattern) is not None:
        return ""
    import regex  # many users have no such pattern; the library takes 2 MB and 10 ms

    try:
        regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        return str(error)
    return ""


def unreadable_source(path: Path, error: Exception) -> SourceHooks:
    """A source that cannot be read at all."""
    missing = getattr(error, "filename", None)
    places = (missing, str(Path(missing).parent)) if isinstance(missing, str) else ()
    if not isinstance(error, ConfigError):
        hint = "put it there, or correct what names it" if isinstance(error, FileNotFoundError) else READABLE_HINT
        error = ConfigError(f"{path}: {read_error(error)}", hint=hint)
    return SourceHooks(warnings=(str(error),), watched=tuple(dict.fromkeys((str(path), *places))))


def read_error(error: Exception) -> str:
    """The message about a file, without its path."""
    return f"cannot be read: {(error.strerror if isinstance(error, OSError) else '') or error}"
