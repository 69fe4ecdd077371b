"""Self-protection, in front of every hook: no tool call of an agent approves, switches off or rewrites its guards.

Clear cases are denied, unclear ones asked. Reading is free, and so is talking about it: what counts is what a command
does. What hides its words on purpose (base64, a script written first) is out of reach; the gates hold without us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import PurePath
from typing import Any

from tray.dialects.tools import canonical, translate_input
from tray.engine.protected import Places, hints
from tray.engine.shell_call import shell_call
from tray.engine.shell_path import Finding
from tray.model.decision import Outcome, Reading, Status, Verdict
from tray.model.event import Event, EventKind, Tool

NAME = "self-protection"
KINDS = frozenset({EventKind.TOOL_BEFORE, EventKind.PERMISSION_REQUEST})
HINTS = ("tray", "hook", "settings", ".claude", "agent.yaml", "autostart", ".x-code")  # without one of these: nothing
QUOTES = "'\"\\\n"
SHELLS = frozenset({"Bash", "PowerShell", "Monitor"})
WRITING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READING = frozenset("AskUserQuestion Glob Grep LS Read Skill Task TodoWrite ToolSearch WebSearch".split())  # noqa: SIM905
PATHS = ("file_path", "notebook_path", "path")
CURE = "ask your user to do it in the tray's menu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """`exceptions` are those that a person confirmed: a command such as `hooktray pause`, or a pattern of paths."""

    places: Places
    exceptions: Callable[[], Sequence[str]] = tuple
    words: tuple[str, ...] = field(init=False)  # without one of these a text is none of ours

    def __post_init__(self) -> None:
        words = {*HINTS, *hints(self.places)}
        least = sorted(one for one in words if not any(other in one and other != one for other in words))
        object.__setattr__(self, "words", tuple(least))

    def judge(self, event: Event) -> Outcome | None:
        """What it says to this event; None when it has nothing to say."""
        if event.tool is None or event.kind not in KINDS or not self._hinted(event.tool.input):
            return None
        worst = max(self._findings(event, event.tool), key=lambda one: one.verdict, default=None)
        if worst is None:
            return None
        reading = Reading(verdict=worst.verdict, reason=f"{worst.what} {CURE}")
        return Outcome(hook=NAME, status=Status.OK, reading=reading)

    def _hinted(self, value: Mapping[str, Any]) -> bool:
        """Asked of every call of a tool: one plain loop over the words, with as few steps as can be."""
        text = "\n".join(_texts(value)).lower()
        for quote in QUOTES:
            if quote in text:
                text = text.replace(quote, "")
        for word in self.words:  # noqa: SIM110 - a generator takes longer than the look
            if word in text:
                return True
        return False

    def _findings(self, event: Event, tool: Tool) -> list[Finding]:
        name = canonical(event.agent, tool.name)
        input = translate_input(event.agent, "claude-code", tool.name, tool.input)
        found = list(self._raw(name, input, event.cwd))
        allowed = self.exceptions() if found else ()
        return [one for one in found if not any(_excepted(one, self.places.full(word)) for word in allowed)]

    def _raw(self, name: str, input: Mapping[str, Any], cwd: str) -> Iterator[Finding]:
        if name in READING:
            return
        if name in WRITING:
            yield from self._written(input, cwd)
        elif name in SHELLS:
            yield from shell_call(str(input.get("command", "")), cwd, self.places)
        else:
            yield from self._foreign(name, input, cwd)

    def _written(self, input: Mapping[str, Any], cwd: str) -> Iterator[Finding]:
        for path in (input[key] for key in PATHS if isinstance(input.get(key), str)):
            if kind := self.places.kind(path, cwd):
                what = f"{PurePath(path).name} is {kind}; changing it is for a person:"
                yield Finding(Verdict.DENY, what, self.places.absolute(path, cwd))

    def _foreign(self, name: str, input: Mapping[str, Any], cwd: str) -> Iterator[Finding]:
        """A tool that we do not know: a command is judged as one, a path is asked about unless it is only read."""
        for key, text in ((key, text) for key, value in input.items() for text in _texts(value)):
            if key in ("command", "cmd", "script", "code"):
                yield from shell_call(text, cwd, self.places)
            elif len(text) < 4096 and "\n" not in text and not _reads(name) and (kind := self.places.kind(text, cwd)):
                where = self.places.absolute(text, cwd)
                yield Finding(Verdict.ASK, f"{name} is about {kind}; if that changes it,", where)
            elif self.places.page(text):
                yield Finding(Verdict.DENY, "Hooktray's own page is for a person:", text)


def _excepted(found: Finding, word: str) -> bool:
    return found.subject == word or fnmatch(found.subject, word)


def _reads(name: str) -> bool:
    last = name.rpartition("__")[2].lower()
    return last.startswith(("read", "get", "list", "search", "find", "stat"))


def _texts(value: object) -> list[str]:
    """Every text in it, in order."""
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, (dict, Mapping)):  # plain ones first: to ask for a Mapping takes long
            waiting += reversed([*one.values()])
        elif isinstance(one, (list, tuple)):
            waiting += reversed(one)
    return found
