"""What the readers of other formats share: one declaring file, its hooks, and what is wrong with single entries."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from tray.addresses import endpoint
from tray.dialects import DIALECTS, known, spec
from tray.errors import ConfigError
from tray.model.event import EventKind
from tray.model.hook import Action, Aside, Command, Failure, Hook, Http, Match, Prompt, Source
from tray.settings import wrong
from tray.sources.hooktray import script_name, unique
from tray.strict import Document, meant

NAME = 80  # characters of a name that we give
READABLE = "see that it is a file, and one that you may read"
# What `connect` and the README put into an agent's own settings: it brings events here and judges none.
RELAY = re.compile(
    r"\bhooktray(\.exe)?['\"]?\s+(--home(=|\s+)\S+\s+)?relay\b|\bhooktray-relay\b|\btray[/\\]relay\.py\b"
)
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one source yields: hooks, what a person should know of it, and the files that it depends on."""

    hooks: tuple[Hook, ...] = ()
    warnings: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()


class Sheet:
    """One declaring file while it is read. A malformed entry is told with its place and takes no sibling down."""

    def __init__(
        self,
        document: Document,
        agent: str,
        *,
        agents: Sequence[str] = (),
        project: str = "",
        inert: str = "",
        plugin: Path | None = None,
        skill: Sequence[str] = (),
        subagent: str = "",
    ) -> None:
        self.document = document
        self.agent = agent
        self.plugin = plugin  # the folder of the plugin that the file belongs to
        self.subagent = subagent
        self._skill = tuple(skill)
        self._agents = tuple(agents)
        self._project = project
        self._inert = inert
        self._hooks: list[Hook] = []
        self._warnings: list[str] = []

    @property
    def path(self) -> Path:
        return Path(self.document.path)

    @contextlib.contextmanager
    def entry(self) -> Iterator[None]:
        """What goes wrong inside is a warning; the entry yields no hook."""
        try:
            yield
        except ConfigError as error:
            self._warnings.append(str(error))

    def warn(self, at: Place, what: str, hint: str) -> None:
        self._warnings.append(str(wrong(self.document, at, what, hint)))

    def match(self, at: Place, event: str, *, tool: str = "", pattern: str = "", condition: str = "") -> Match:
        """Any agent's event of the same kind; one that no other agent can have stays with its own."""
        events = DIALECTS[self.agent].EVENTS
        if not known(self.agent, event):
            raise wrong(self.document, at, f"unknown event `{event}`", meant(event, events))
        common: dict[str, Any] = {"tool": tool, "pattern": pattern, "format": self.agent, "native": event}
        common |= {"project": self._project, "condition": condition, "skill": self._skill, "subagent": self.subagent}
        kind = spec(self.agent, event).kind
        if kind is EventKind.OTHER:
            return Match(event=event, agents=(self.agent,), **common)
        return Match(event=kind.value, agents=self._agents, **common)

    def add(
        self,
        at: Place,
        match: Match,
        action: Action,
        *,
        timeout: float,
        name: str = "",
        failure: Failure = Failure.ALLOW,
        env: Sequence[str] = (),
        once: bool = False,
        aside: Aside = Aside.NO,
        status: str = "",
        inert: str = "",
    ) -> None:
        mark = self.document.marks.get(at)
        source = Source(kind=self.agent, path=self.document.path, line=mark.line if mark else 0)
        self._hooks.append(
            Hook(
                name=(name or titled(match, action))[:NAME],
                source=source,
                match=match,
                action=action,
                dialect=self.agent,
                timeout=timeout,
                failure=failure,
                env=tuple(env),
                once=once,
                aside=aside,
                status=status,
                inert=self._inert or inert or ("it is Hooktray's own relay" if _is_relay(action) else ""),
            )
        )

    def found(self, *watched: Path) -> Found:
        paths = tuple(str(path) for path in (self.path, *watched))
        return Found(hooks=tuple(unique(self._hooks)), warnings=tuple(self._warnings), watched=paths)

    def mapping(self, at: Place, value: Any, hint: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise wrong(self.document, at, "expected keys and values", hint)
        return value

    def items(self, at: Place, value: Any, hint: str) -> list[Any]:
        if not isinstance(value, list):
            raise wrong(self.document, at, "expected a list", hint)
        return value

    def text(self, at: Place, fields: Mapping[str, Any], key: str) -> str:
        """The text under `key`; "" when it is not there."""
        value = fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise wrong(self.document, (*at, key), "expected text", "put it in quotes")
        return value

    def command(self, at: Place, fields: Mapping[str, Any], key: str = "command") -> str:
        line = self.text(at, fields, key)
        if not line.strip():
            raise wrong(self.document, at, "a command hook needs a command", f"add `{key}`")
        return line

    def texts(self, at: Place, fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """The list of texts under `key`; empty when it is not there."""
        value = fields.get(key) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise wrong(self.document, (*at, key), "expected a list of texts", "put each of them in quotes")
        return tuple(value)

    def flag(self, at: Place, fields: Mapping[str, Any], key: str) -> bool:
        value = fields.get(key, False)
        if not isinstance(value, bool):
            raise wrong(self.document, (*at, key), "expected true or false", "write `true`, or leave it out")
        return value

    def number(self, at: Place, fields: Mapping[str, Any], key: str) -> float | None:
        """The positive number under `key`; None when it is not there."""
        value = fields.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise wrong(self.document, (*at, key), "expected a number above 0", "write a number, or leave it out")
        return float(value)

    def words(self, at: Place, line: str) -> list[str]:
        """The words of a command line that no shell reads."""
        try:
            return shlex.split(line)
        except ValueError as error:
            raise wrong(self.document, at, f"cannot be split into words: {error}", "close the quotes") from None


def _is_relay(action: Action) -> bool:
    return isinstance(action, Command) and RELAY.search(action.line) is not None


def titled(match: Match, action: Action) -> str:
    """What a hook without a name of its own is called."""
    if isinstance(action, Command):
        return named(action.line)
    if isinstance(action, Http):
        return endpoint(action.url).host
    return f"{match.native or match.event} {'agent' if isinstance(action, Prompt) and action.agent else 'prompt'}"


def named(line: str) -> str:
    """The script's name, if the line can be split; else what it begins with."""
    try:
        return script_name(line)
    except ValueError:
        return line.split()[0]


# What Python's patterns know, and JavaScript's do not.
FOREIGN = re.compile(r"\(\?P[<=]|\(\?[a-zA-Z]+\)|\\[AZ]")


def pattern_problem(pattern: str, *, script: bool) -> str:
    """Why this is no pattern; "" when it is. With `script` it is read as JavaScript reads it."""
    if script and (found := FOREIGN.search(pattern)):
        return f"`{found[0]}` is not known there"
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        return str(error)
    return ""


def failed(path: Path, error: Exception) -> Found:
    """A source that cannot be read at all."""
    text = str(
        error if isinstance(error, ConfigError) else ConfigError(f"{path}: {unread(error)}", hint=_cure(error))
    )
    missing = getattr(error, "filename", None)
    places = (missing, str(Path(missing).parent)) if isinstance(missing, str) else ()
    return Found(warnings=(text,), watched=tuple(dict.fromkeys((str(path), *places))))


def unread(error: Exception) -> str:
    """What is said of a file behind its path."""
    return f"cannot be read: {(error.strerror if isinstance(error, OSError) else '') or error}"


def _cure(error: Exception) -> str:
    return "put it there, or correct what names it" if isinstance(error, FileNotFoundError) else READABLE
