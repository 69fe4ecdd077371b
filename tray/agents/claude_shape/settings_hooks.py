"""Reads the hooks of a Claude-shaped agent's settings file.

{"hooks": {"PreToolUse": [{"matcher": "Bash|Write",
    "hooks": [{"type": "command", "command": "~/hooks/guard.sh", "timeout": 10}]}]}}
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.addresses import endpoint
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape
from tray.agents.protocol import NO_ALIASES, agent_events
from tray.files import user_file
from tray.model.event import EventKind
from tray.model.hook import Action, Command, Http
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.reading.http_hooks import http_action, local_url_problem
from tray.settings import invalid_value
from tray.strict.document import Document
from tray.strict.json_reader import load_json, relax

PLUGIN_FILES = frozenset({"hooks.json"})  # where plugins declare hooks, often without the key around them
SIZE = 4 * 1024 * 1024  # bytes of a settings file
LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")
ANY_TOOL = frozenset({"", "*"})  # matchers


class ShapedReader:
    """A HookReader. An agent with other handlers overrides functions. `name` appears in messages."""

    aliases: Mapping[str, str] = NO_ALIASES  # other names of its events
    usual_type = ""  # the type of a handler that names none
    checks_matchers = True  # False: a matcher that is not a pattern is a word
    checks_all_matchers = False  # also those of events without a subject
    any_tool = ANY_TOOL
    has_status = True  # handlers have a `statusMessage`
    entry_hint = 'write [{"matcher": "Bash", "hooks": […]}]'
    handler_hint = 'write {"type": "command", "command": "…"}'

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
            agent_events(self.shape.agent, self.aliases),
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
        kinds = self.shape.kinds
        return next((name for name in kinds if kinds[name] is EventKind.TOOL_BEFORE), next(iter(kinds)))

    def read_events(self, reader: SourceReader, at: KeyPath, value: Any) -> None:
        for event, groups in reader.mapping(at, value, f'write {{"{self._example}": […]}}').items():
            with reader.entry():
                self.read_event(reader, event, (*at, event), groups)

    def read_event(self, reader: SourceReader, event: str, at: KeyPath, entries: Any) -> None:
        reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
        for index, entry in enumerate(reader.items(at, entries, self.entry_hint)):
            with reader.entry():
                place = (*at, index)
                fields = reader.mapping(place, entry, self.entry_hint)
                matcher = reader.text(place, fields, "matcher")
                for handler_place, handler in self.handlers(reader, place, fields):
                    with reader.entry():
                        self._handler(reader, event, place, matcher, handler_place, handler)

    def handlers(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
        """Yields the handlers of one entry of an event's list, with their places."""
        if self.file.is_flat:
            yield at, fields
            return
        for number, handler in enumerate(reader.items((*at, "hooks"), fields.get("hooks"), self.entry_hint)):
            yield (*at, "hooks", number), handler

    def patterns(self, event: str, matcher: str) -> tuple[str, str]:
        """Returns the two parts of a matcher: for the name of the tool, and for the text of its input."""
        tool = self.pattern(event, matcher)
        is_about_tools = self.shape.events[self.aliases.get(event, event)].subject and tool != "*"
        return tool if is_about_tools else "", ""

    def pattern(self, event: str, matcher: str) -> str:
        """The matcher as a pattern."""
        return matcher

    def _handler(
        self, reader: SourceReader, event: str, entry: KeyPath, matcher: str, at: KeyPath, value: Any
    ) -> None:
        """Reads one handler of the event; `matcher` is that of the `entry` of the event's list."""
        fields = reader.mapping(at, value, self.handler_hint)
        types = self.file.handler_types
        kind = (reader.text(at, fields, "type") or self.usual_type) if types else "command"
        if types and kind not in types:
            raise invalid_value(reader.document, at, f"unknown type `{kind}`", f"write one of: {', '.join(types)}")
        tool, pattern = self.patterns(event, matcher)
        is_read = bool(tool or pattern) or self.checks_all_matchers
        is_checked = self.checks_matchers and matcher not in self.any_tool and is_read
        problem = pattern_problem(matcher, script=True) if is_checked and not LIST_OF_NAMES.fullmatch(matcher) else ""
        if problem:
            what = f"not a pattern, so it matches nothing: {problem}"
            reader.warn((*entry, "matcher"), what, "escape signs with `\\`")
        event = self.aliases.get(event, event)
        condition, never = self.condition(reader, event, at, fields)
        action, unsupported = self.action(reader, event, at, fields, kind)
        inactive = "its matcher matches nothing" if problem else never
        reader.add(
            at,
            reader.match(at, event, tool=tool, pattern=pattern, condition=condition),
            action,
            timeout=self.timeout(reader, at, fields, event, kind),
            status_message=reader.text(at, fields, "statusMessage") if self.has_status else "",
            inactive=inactive or unsupported,
            **self.options(reader, event, at, fields, kind),
        )

    def condition(self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[str, str]:
        """Returns the rule that a tool call must meet besides the matcher, and why none can ("" if one can)."""
        return "", ""

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        """Returns further arguments of `SourceReader.add`."""
        return {}

    def action(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> tuple[Action, str]:
        """Returns what the handler runs, and why it is inactive here ("" if it is active)."""
        if kind == "command":
            return self.command(reader, at, fields), ""
        return self.unsupported(reader, kind, kind)

    def unsupported(self, reader: SourceReader, kind: str, line: str) -> tuple[Command, str]:
        command = Command(line=line, folder=self.folder(reader))
        return command, f"hooks of the type `{kind}` are not in this version"

    def folder(self, reader: SourceReader) -> str:
        """Returns the folder in which hooks run, and to which relative words of a command refer."""
        return self.project(reader.path) or str(reader.path.parent)

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        line, program = reader.command(at, fields), "/bin/sh"
        is_split = self.file.takes_args and fields.get("args") is not None
        if is_split:
            args = reader.items((*at, "args"), fields["args"], "write a list of texts")
            if not all(isinstance(arg, str) for arg in args):
                raise invalid_value(reader.document, (*at, "args"), "expected texts", "put each of them in quotes")
            line = shlex.join((line, *args))
            program = program_of(line)
        folder = self.folder(reader)
        return Command(line=line, folder=folder, interpreter=program, shell=not is_split, format=self.shape.agent)

    def http(self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[Http, str]:
        """Returns the request, and why it is inactive: only hooktray.yaml can allow a local address."""
        headers = reader.mapping((*at, "headers"), fields.get("headers") or {}, 'write {"Name": "value"}')
        http = http_action(reader.document, at, reader.text(at, fields, "url"), headers)
        why = local_url_problem(http)
        if not why:
            return http, ""
        kind, address = self.shape.events[event].kind.value, endpoint(http.url).host_port
        own = f'event: {kind}, type: http, dialect: {self.shape.agent}, url: "{http.url}", allow_local: ["{address}"]'
        return http, f"{why}; if that is meant, add to `hooks:` of hooktray.yaml: - {{{own}}}"

    def timeout(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str) -> float:
        key = self.file.timeout_key
        number = reader.number(at, fields, key)
        if number is None:
            return self.file.timeouts.get(event, self.file.timeout)
        seconds = self.file.in_seconds(number)
        if seconds != number and self.file.milliseconds_from and not self.file.writes_milliseconds:
            what = f"{number:g} is read as milliseconds: {seconds:g} s"
            reader.warn((*at, key), what, f"write seconds: {seconds:g}")
        return seconds


def program_of(line: str) -> str:
    """Returns the path of the program that a line without a shell starts; "" if the line has it, or none is found."""
    first = shlex.split(line)[0]
    return "" if "/" in first or "\\" in first else shutil.which(first) or ""
