"""Kiro's command line: a flat list of hooks for each event, in the file of each of its agents. Documented, not run.

In:  {"hook_event_name":"preToolUse","cwd":"/p","tool_name":"execute_bash","tool_input":{"command":"rm -rf build"}}
Out: before a tool, exit 2 with the reason on stderr; at agentSpawn and userPromptSubmit, text for the model.

https://kiro.dev/docs/cli/hooks
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tray.agents import lenient, wire
from tray.agents.agent import AnswerWords, Connector, HookReader, Marks, NativeTool, Payload, protected, timed
from tray.agents.claude_shape import UNCAPITALISED, claude_shaped
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, RefusalStyle
from tray.errors import HooktrayError
from tray.model.decision import Answer, Decision, HookOutput, Result, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

if TYPE_CHECKING:
    from pathlib import Path

    from tray.agents.connection import Plan, Site

NAME = "Kiro"
TIMEOUT = 60.0  # seconds, of our entries; Kiro's default is 30
BEFORE = "preToolUse"
SPECS: Mapping[str, EventSpec] = {
    "agentSpawn": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT),
    "postToolUse": EventSpec(kind=EventKind.TOOL_AFTER, subject="tool_name", after_the_fact=True),
    BEFORE: EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, subject="tool_name"),
    "stop": EventSpec(kind=EventKind.TURN_END),
    "userPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.CONTEXT),
}
EVENTS = timed(SPECS, TIMEOUT)
SHAPE = ClaudeShape(
    agent="kiro",
    events=EVENTS,
    refusals={BEFORE: RefusalStyle.EXIT_2},
    takes_notes=False,
    text_context=frozenset({"agentSpawn", "userPromptSubmit"}),
    sample_common={"cwd": "/home/dev/project"},
)
FILE = SettingsFile(
    folder=".kiro",
    name="agents/*.json",
    is_flat=True,
    handler_types=(),
    timeout_key="timeout_ms",
    milliseconds_from=0,
    timeout=30,
    restart_hint="Sessions that start from now on ask Hooktray. Kiro's built-in agent has no hooks: start your own.",
)


class KiroProtocol(ShapedProtocol, frozen=True):
    """What its hooks print is text."""

    def render(self, event: Event, decision: Decision) -> Answer:
        if decision.verdict is Verdict.DENY:
            return super().render(event, replace(decision, notes=(), context="", extra=()))
        return Answer(stdout=f"{decision.context}\n".encode("utf-8", "replace")) if decision.context else Answer()

    def read(self, event: Event, result: Result) -> HookOutput:
        name = self.hook_event_name(event)
        if problem := wire.exit_problem(result):
            return HookOutput(problem=problem)
        if result.code == 2 and name == BEFORE:
            return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result))
        if result.code != 0:
            return HookOutput(problem=wire.start_problem(result) or f"exit {result.code}")
        return HookOutput(context=lenient.text(result.stdout) if name in self.shape.text_context else "")


def _connector() -> Connector:
    from tray.agents.claude_shape.connector import ShapedConnector

    class KiroConnector(ShapedConnector, frozen=True):
        """Adds our entries to every agent that its user has: no file is for all of them."""

        def settings_paths(self, site: Site) -> tuple[Path, ...]:
            return tuple(sorted(self.folder(site).glob(FILE.name)))

        def connect(self, site: Site) -> Plan:
            if not self.settings_paths(site):
                where = self.folder(site) / "agents"
                hint = "make one, such as with `kiro-cli agent create`, and try again"
                raise HooktrayError(f"{where}: there is no agent of yours, and {NAME}'s own has no hooks", hint=hint)
            return super().connect(site)

        def trust(self, site: Site) -> str:
            ours = {entry.path for entry in self.relay_entries(site)}
            others = [path.stem for path in self.settings_paths(site) if str(path) not in ours]
            return f"off: run `hooktray connect kiro` for {', '.join(others)}" if ours and others else ""

    return KiroConnector(SHAPE, FILE, NAME)


def _reader() -> HookReader:
    from tray.agents.claude_shape.settings_hooks import ShapedReader

    class KiroReader(ShapedReader):
        """In its matchers `*` means any text, `@server` for all tools of a server, `@builtin` for all others."""

        checks_matchers = False

        def pattern(self, event: str, matcher: str) -> str:
            if matcher == "@builtin":
                return "^[^@]"
            pattern = re.escape(matcher).replace(r"\*", ".*")
            server = "(?:/.*)?" if matcher.startswith("@") and "/" not in matcher else ""
            return f"^{pattern}{server}$" if pattern != matcher or server else matcher

    return KiroReader(SHAPE, FILE, NAME)


def _is_alike(payload: Payload) -> bool:
    return payload.get("hook_event_name") in EVENTS and bool(wire.text(payload, "cwd"))


AGENT = replace(
    claude_shaped(
        name=NAME,
        shape=SHAPE,
        file=FILE,
        protocol=KiroProtocol(SHAPE),
        tools={
            "Bash": NativeTool("execute_bash", others=("shell",)),
            "Read": NativeTool("fs_read", {"file_path": ("path",)}, others=("read",)),
            "Write": NativeTool("fs_write", {"file_path": ("path",), "content": ("file_text",)}, others=("write",)),
        },
        marks=Marks(is_alike=_is_alike, shares_shape=True, event_names=UNCAPITALISED, event=wire.hook_event_name),
        programs=frozenset({"kiro-cli", "kiro-cli-chat"}),
        settings_files=(".kiro/agents/own.json",),
        path_words=(".kiro",),
        default_can=Capability.NOTHING,
        answers=AnswerWords(keys=frozenset()),  # no answer is JSON
        connector=_connector,
        reader=_reader,
        importer=None,
        import_hint="name the files of your agents in `sources` of hooktray.yaml, and take the hooks out of them",
    ),
    protected=(protected(f"an agent's file of {NAME}", r".*/\.kiro/agents(?:/.*)?"),),
)
