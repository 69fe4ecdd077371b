"""A test case for one requirement of the hook formats' documents; docs/requirements.md lists all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seeds.inputs import PRINTED

from tray.agents.protocol import fit, parse, render
from tray.agents.registry import AGENTS
from tray.engine.merge import make_outcome, merge
from tray.model.decision import Result
from tray.model.event import Event, RelayRequest
from tray.model.hook import Command, Failure, Hook, Match, Source

NAME = "h"  # of the hook; reasons begin with it
HANDLER = {"type": "command", "command": "true"}


@dataclass(frozen=True)
class Answers:
    """A hook's output, and what the agent is answered: an object, a text that is in it, or "" for nothing."""

    agent: str
    event: str
    out: str = ""
    answer: Any = ""
    err: str = ""
    code: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)
    entry: Mapping[str, Any] = field(default_factory=dict)  # further keys of the hook in its format's own file
    exits: int = 0

    def check(self) -> None:
        text, code = self.said()
        self.judge(text.replace(f"{NAME} (Hooktray): ", ""), code)

    def sent(self) -> Mapping[str, Any]:
        """The keys that the payload has beside those of the agent's sample: the page's, and the case's own."""
        return {**PRINTED.get((self.agent, self.event), {}), **self.payload}

    @property
    def policy(self) -> Failure:
        """What a failure means for a hook that stands in its format's own file as the page has it."""
        return declared(self.agent, self.event, json.dumps(dict(self.entry))).failure

    def judge(self, said: str, code: int) -> None:
        """Whether that is the answer; `said` is without the hook's name."""
        assert code == self.exits
        if isinstance(self.answer, dict):
            assert json.loads(said) == self.answer
        elif self.answer:
            assert self.answer in said
        else:
            assert said in ("", "\n")

    def said(self) -> tuple[str, int]:
        """What the agent reads, stdout and then stderr, and the exit code."""
        event = event_of(self.agent, self.event, self.sent())
        result = Result(code=self.code, stdout=self.out.encode(), stderr=self.err.encode())
        output = AGENTS[self.agent].protocol.read(event, result)
        hook = Hook(
            name=NAME,
            source=Source(kind=self.agent, path="/source"),
            match=Match(event=event.kind.value),
            action=Command(line="hook", folder="/"),
            dialect=self.agent,
            failure=self.policy,
        )
        outcome = make_outcome(event, hook, output, timed_out=False, ms=1.0, stderr=self.err)
        answer = render(event, fit(event, merge([outcome])))
        return (answer.stdout + answer.stderr).decode(), answer.code


@dataclass(frozen=True)
class Reads:
    """What a hook finds in its input: a value for each path of keys; `...`, or one path, for what the page prints.

    The agent sends only what the page prints, or its sample with the keys of `payload`.
    """

    agent: str
    event: str
    finds: Mapping[str, Any] | str
    hook: str = ""  # the format of the hook; "" = the agent's own
    payload: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        event = parsed(self.agent, self.event, json.dumps(self.sent()).encode())
        self.judge(json.loads(AGENTS[self.hook or self.agent].protocol.stdin(event)))

    def sent(self) -> Mapping[str, Any]:
        """The whole payload."""
        if not self.payload:
            return PRINTED[self.agent, self.event]
        return {**json.loads(AGENTS[self.agent].protocol.sample(self.event)), **self.payload}

    def judge(self, stdin: Any) -> None:
        """Whether a hook that gets this finds each value."""
        printed = PRINTED.get((self.agent, self.event), {})
        for path, value in ({self.finds: ...} if isinstance(self.finds, str) else self.finds).items():
            expected = at_path(printed, path) if value is ... else value
            assert expected is not ..., f"the page prints no {path}"
            assert at_path(stdin, path) == expected, path


Cases = Mapping[str, Answers | Reads]  # by the requirement's number


def reading(agent: str, first: str, *rows: tuple[str, ...]) -> dict[str, Reads]:
    """A requirement for each of an event's keys that a hook finds; the numbers go up from the first one."""
    found = [Reads(agent, event, key) for event, *keys in rows for key in keys]
    return {f"{first[0]}{int(first[1:]) + at:0{len(first) - 1}}": each for at, each in enumerate(found)}


# Where each format has its hooks, and a document with one hook for an event.
SOURCES: Mapping[str, tuple[str, Callable[[str, Mapping[str, Any]], str]]] = {
    "claude-code": (
        "settings.json",
        lambda event, more: json.dumps({"hooks": {event: [{"hooks": [{**HANDLER, **more}]}]}}),
    ),
    "shelley": ("hooks/{event}", lambda event, more: f"#!/bin/sh\n{more.get('command', ':')}\n"),
    "starchild": (
        "config/shell_hooks.yaml",
        lambda event, more: json.dumps({"hooks": [{"event": event, "command": "true", **more}]}),
    ),
    "x-code": (
        "p/plugin.json",
        lambda event, more: json.dumps({"name": "p", "hooks": {event: [{"command": "true", **more}]}}),
    ),
}


@cache
def declared(dialect: str, event: str, entry: str) -> Hook:
    """The hook that the format's own reader makes of one with these keys, a text of JSON."""
    reader = AGENTS[dialect].reader
    assert reader
    with TemporaryDirectory() as folder:
        (hook,) = reader().read(source(Path(folder), dialect, event, json.loads(entry)), (), {}).hooks
    return hook


def source(folder: Path, dialect: str, event: str, entry: Mapping[str, Any]) -> Path:
    """What a source of the format names: a new file in this folder with one hook, or the folder of that file."""
    place, write = SOURCES[dialect]
    path = folder / place.format(event=event)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write(event, entry))
    path.chmod(0o755)
    return {"shelley": folder / "hooks", "x-code": path.parent}.get(dialect, path)


def event_of(agent: str, name: str, payload: Mapping[str, Any]) -> Event:
    """The agent's sample of the event with these keys in it."""
    body = AGENTS[agent].protocol.sample(name)
    return parsed(agent, name, json.dumps({**json.loads(body), **payload}).encode() if payload else body)


def parsed(agent: str, name: str, body: bytes) -> Event:
    return parse(RelayRequest(agent=agent, event=name, id="1", body=body, cwd="/", parent=40))


def at_path(value: Any, path: str) -> Any:
    """The value at `readonly.headers.0`; `...` when there is none."""
    for key in path.split("."):
        if isinstance(value, list) and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            return ...
    return value
