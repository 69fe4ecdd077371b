"""Reads the hooks of a Claude-shaped agent's settings file.

{"hooks": {"PreToolUse": [{"matcher": "Bash|Write",
    "hooks": [{"type": "command", "command": "~/hooks/guard.sh", "timeout": 10}]}]}}
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape
from tray.agents.protocol import agent_events
from tray.files import user_file
from tray.model.event import EventKind
from tray.model.hook import Action, AsyncMode, Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.settings import invalid_value
from tray.strict.document import Document
from tray.strict.json_reader import load_json, relax

PLUGIN_FILES = frozenset({"hooks.json"})  # where plugins declare hooks, often without the key around them
SIZE = 4 * 1024 * 1024  # bytes of a settings file
LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")


class HandlerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one handler besides its command and its time-out."""

    failure: Failure = Failure.ALLOW
    env: tuple[str, ...] = ()
    once: bool = False
    async_mode: AsyncMode = AsyncMode.NO
    name: str = ""


PLAIN = HandlerOptions()


class ShapedReader:
    """A HookReader. An agent whose handlers have more keys overrides functions. `name` is for messages."""

    def __init__(self, shape: ClaudeShape, file: SettingsFile, name: str) -> None:
        self.shape = shape
        self.file = file
        self.name = name
        self.EXPECTED = f"name a settings file of {name}, such as ~/{file.path}"

    def read(self, path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
        """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
        return self.parse(user_file(path), path, agents)

    def parse(self, text: bytes, path: Path, agents: Sequence[str] = (), plugin: Path | None = None) -> SourceHooks:
        """The hooks of a text that is, or will be, at this path."""
        relaxed = relax(text)
        document = load_json(relaxed, str(path), limit=SIZE)
        reader = SourceReader(
            document,
            agent_events(self.shape.agent),
            agents=agents,
            project=self.project(path),
            inactive=self.off_reason(document),
            plugin=plugin,
        )
        if relaxed != text and not self.file.takes_comments:
            reader.warn((), f"{self.name} reads no comments and no commas at the end", "take them out")
        with reader.entry():
            self.read_mapping(reader, (), document.value)
        return reader.result()

    def off_reason(self, document: Document) -> str:
        """Why all hooks of the file are inactive; "" when they are not."""
        value = str(self.file.off_value).lower()
        return f"`{self.file.off_switch}: {value}` in {document.path}" if self.file.is_off(document.value) else ""

    def project(self, path: Path) -> str:
        """The project that these settings are part of; "" for the user's own."""
        parts = Path(self.file.path).parts
        above = path.parents[len(parts) - 1] if len(path.parents) >= len(parts) else path
        return str(above) if path.parts[-len(parts) :] == parts and above != Path.home() else ""

    def read_mapping(self, reader: SourceReader, at: KeyPath, value: Any) -> None:
        """The hooks of the mapping at this place."""
        key = self.file.key
        fields = reader.mapping(at, value, f'write {{"{key}": {{"{self._example}": […]}}}}')
        if key and key not in fields and self._read_bare(reader, at, fields):
            return
        if key:
            self.read_events(reader, (*at, key), fields.get(key) or {})
            return
        self.read_events(reader, at, {name: groups for name, groups in fields.items() if isinstance(groups, list)})

    def _read_bare(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> bool:
        """Whether there are events at the top: the hooks of a plugin's file; in settings, which the agent ignores."""
        events = [name for name in fields if name in self.shape.events]
        if not events:
            return False
        if reader.path.name in PLUGIN_FILES:
            self.read_events(reader, at, {name: fields[name] for name in events})
        else:
            what = f"{self.name} looks for `{events[0]}` below `{self.file.key}`, so it is not read"
            reader.warn((*at, events[0]), what, f'write {{"{self.file.key}": {{"{events[0]}": […]}}}}')
        return True

    @property
    def _example(self) -> str:
        return next(iter(self.shape.of_kind(EventKind.TOOL_BEFORE) or self.shape.events))

    def read_events(self, reader: SourceReader, at: KeyPath, value: Any) -> None:
        for event, groups in reader.mapping(at, value, f'write {{"{self._example}": […]}}').items():
            with reader.entry():
                self.read_event(reader, event, (*at, event), groups)

    def read_event(self, reader: SourceReader, event: str, at: KeyPath, groups: Any) -> None:
        reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
        hint = 'write [{"matcher": "Bash", "hooks": […]}]'
        for index, group in enumerate(reader.items(at, groups, hint)):
            with reader.entry():
                place = (*at, index)
                fields = reader.mapping(place, group, hint)
                matcher = self.pattern(event, reader.text(place, fields, "matcher"))
                if self.file.is_flat:
                    self._handler(reader, event, matcher, place, group)
                    continue
                handlers = reader.items((*place, "hooks"), fields.get("hooks"), hint)
                for number, handler in enumerate(handlers):
                    with reader.entry():
                        self._handler(reader, event, matcher, (*place, "hooks", number), handler)

    def pattern(self, event: str, matcher: str) -> str:
        """The matcher as a pattern."""
        return matcher

    def _handler(self, reader: SourceReader, event: str, matcher: str, at: KeyPath, value: Any) -> None:
        fields = reader.mapping(at, value, 'write {"type": "command", "command": "…"}')
        types = self.file.handler_types or ("command",)
        kind = reader.text(at, fields, "type") if self.file.handler_types else "command"
        if kind not in types:
            raise invalid_value(reader.document, at, f"unknown type `{kind}`", f"write one of: {', '.join(types)}")
        subject = bool(self.shape.events[event].subject)
        condition = self.condition(reader, at, fields)
        match = reader.match(at, event, tool=matcher if subject and matcher != "*" else "", condition=condition)
        problem = "" if LIST_OF_NAMES.fullmatch(match.tool) else pattern_problem(match.tool, script=True)
        if problem:
            what = f"not a pattern, so it matches nothing: {problem}"
            reader.warn((*(at if self.file.is_flat else at[:-2]), "matcher"), what, "escape signs with `\\`")
        action, unsupported = self.action(reader, at, fields, kind)
        inactive = "its matcher matches nothing" if problem else self.condition_problem(event, condition)
        options = self.options(reader, at, fields, event, kind)
        reader.add(
            at,
            match,
            action,
            timeout=self._timeout(reader, at, fields, event, kind),
            name=options.name,
            failure=options.failure,
            env=options.env,
            once=options.once,
            async_mode=options.async_mode,
            status_message=reader.text(at, fields, "statusMessage"),
            inactive=inactive or unsupported,
        )

    def condition(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> str:
        """The rule that a tool call must meet besides the matcher; "" for none."""
        return ""

    def condition_problem(self, event: str, condition: str) -> str:
        """Why the rule can never be met on this event; "" when it can."""
        return ""

    def options(
        self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str
    ) -> HandlerOptions:
        return PLAIN

    def action(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], kind: str) -> tuple[Action, str]:
        """What the handler runs, and why this version does not support it ("" when it does)."""
        if kind == "command":
            return self.command(reader, at, fields), ""
        folder = self.project(reader.path) or str(reader.path.parent)
        return Command(line=kind, folder=folder), f"hooks of the type `{kind}` are not in this version"

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        folder = self.project(reader.path) or str(reader.path.parent)  # a project's hooks run in the project
        line, program = reader.command(at, fields), "/bin/sh"
        is_split = self.file.takes_args and fields.get("args") is not None
        if is_split:
            args = reader.items((*at, "args"), fields["args"], "write a list of texts")
            if not all(isinstance(arg, str) for arg in args):
                raise invalid_value(reader.document, (*at, "args"), "expected texts", "put each of them in quotes")
            line = shlex.join((line, *args))
            program = _which(line)
        return Command(line=line, folder=folder, interpreter=program, shell=not is_split, format=self.shape.agent)

    def default_timeout(self, event: str, kind: str) -> float:
        return self.file.timeouts.get(event, self.file.timeout)

    def _timeout(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str) -> float:
        key = self.file.timeout_key
        number = reader.number(at, fields, key)
        if number is None:
            return self.default_timeout(event, kind)
        seconds = self.file.in_seconds(number)
        if seconds != number and self.file.milliseconds_from and not self.file.writes_milliseconds:
            what = f"{number:g} is read as milliseconds: {seconds:g} s"
            reader.warn((*at, key), what, f"write seconds: {seconds:g}")
        return seconds


def _which(line: str) -> str:
    first = shlex.split(line)[0]
    return "" if "/" in first or "\\" in first else shutil.which(first) or ""
