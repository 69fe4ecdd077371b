"""Contains the failures of a package's agent: a function that fails returns a default or raises AgentError."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tray.agents.agent import (
    Agent,
    AgentProtocol,
    Connector,
    FormFormat,
    HookImporter,
    HookReader,
    HookRules,
    Marks,
    PatternSearch,
    Payload,
    ToolNames,
    Variables,
    is_uncertain,
)
from tray.errors import AgentError, HooktrayError
from tray.lazy_dataclass import replace
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, HookOutput, Result, Rewrite
from tray.model.event import Event, RelayRequest, Tool
from tray.model.form import Answers, Form
from tray.model.hook import Match
from tray.text import sanitise

if TYPE_CHECKING:
    from tray.agents.connection import EntryContent, FindProblem, Plan, RelayEntry, Site
    from tray.edit.file_changes import FileState
    from tray.reading.entries import SourceHooks

FAILURES = (Exception, SystemExit)  # a package's code may raise anything
FILE_ERRORS = (HooktrayError, OSError, ValueError)  # what a connector or a reader raises about the user's files

T = TypeVar("T")

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())  # commands, which have no log, show the AgentError without a traceback


def guarded(agent: Agent, package: str) -> Agent:
    """The same agent, with functions whose failures are contained."""
    guard = PackageGuard(agent.id, package)
    connector, reader, importer = agent.connector, agent.reader, agent.importer
    return replace(
        agent,
        marks=_guarded_marks(agent.marks, guard),
        protocol=GuardedProtocol(agent.protocol, guard),
        rules=_guarded_rules(agent.rules, guard),
        forms=_guarded_forms(agent.forms, guard) if agent.forms else None,
        connector=(lambda: GuardedConnector(connector, guard)) if connector else None,
        reader=(lambda: GuardedReader(reader, guard)) if reader else None,
        importer=(lambda: GuardedImporter(importer, guard)) if importer else None,
        connect_options=lambda *given: guard.get("", "connect_options", agent.connect_options, *given),
    )


class PackageGuard:
    """Calls the functions of one package's agent, and logs the first failure of each."""

    def __init__(self, id: str, package: str) -> None:
        self.id = id
        self._package = package
        self._logged: set[str] = set()

    def call(
        self,
        kind: type[T],
        name: str,
        function: Callable[..., Any],
        *given: object,
        passes: tuple[type[Exception], ...] = (),
    ) -> T:
        """Returns the function's result, a `kind`. Raises AgentError, or an exception of a type in `passes`."""
        try:
            found = function(*given)
        except passes:
            raise
        except FAILURES as error:
            raise self._failure(name, f"{type(error).__name__}: {error}", error) from error
        if not isinstance(found, kind):
            raise self._failure(name, f"it returned {type(found).__name__}, not {kind.__name__}")
        return found

    def get(self, default: T, name: str, function: Callable[..., Any], *given: object) -> T:
        """Returns the function's result, or the default when the function fails."""
        try:
            return self.call(type(default), name, function, *given)
        except AgentError:
            return default

    def _failure(self, name: str, what: str, error: BaseException | None = None) -> AgentError:
        message = sanitise(f"`{name}` of the agent {self.id} in the package {self._package} failed: {what}", 300)
        if name not in self._logged:
            self._logged.add(name)
            log.error("%s", message, exc_info=error)
        return AgentError(message, hint=f"update or uninstall {self._package}")


class GuardedProtocol:
    """The functions that recognition and the neutral answer need return a default; the others raise AgentError."""

    def __init__(self, protocol: AgentProtocol, guard: PackageGuard) -> None:
        self._protocol = protocol
        self._guard = guard

    def event_name(self, payload: Payload) -> str:
        return self._guard.get("", "event_name", self._protocol.event_name, payload)

    def tool(self, name: str, payload: Payload) -> Tool | None:
        found: object = self._guard.call(object, "tool", self._protocol.tool, name, payload)
        return None if found is None else self._guard.call(Tool, "tool", lambda: found)

    def parse(self, request: RelayRequest, name: str, payload: Payload) -> Event:
        return self._guard.call(Event, "parse", self._protocol.parse, request, name, payload)

    def render(self, event: Event, decision: Decision) -> Answer:
        return self._guard.call(Answer, "render", self._protocol.render, event, decision)

    def neutral(self, name: str, body: bytes) -> Answer:
        return self._guard.get(EMPTY_ANSWER, "neutral", self._protocol.neutral, name, body)

    def rewrite_problem(self, event: Event, decision: Decision) -> str:
        name = "rewrite_problem"
        return self._guard.get("its package fails on", name, self._protocol.rewrite_problem, event, decision)

    def hook_event_name(self, event: Event) -> str:
        return self._guard.call(str, "hook_event_name", self._protocol.hook_event_name, event)

    def stdin(self, event: Event) -> bytes:
        return self._guard.call(bytes, "stdin", self._protocol.stdin, event)

    def environment(self, event: Event) -> Variables:
        return self._guard.call(dict, "environment", lambda: dict(self._protocol.environment(event)))

    def read(self, event: Event, result: Result) -> HookOutput:
        return self._guard.call(HookOutput, "read", self._protocol.read, event, result)

    def sample(self, name: str) -> bytes:
        return self._guard.call(bytes, "sample", self._protocol.sample, name, passes=(KeyError,))


class GuardedConnector:
    """A connector that is made on first use. Its errors about the user's files reach the caller."""

    def __init__(self, make: Callable[[], Connector], guard: PackageGuard) -> None:
        self._make = make
        self._guard = guard

    @cached_property
    def _connector(self) -> Connector:
        return self._make()

    def is_installed(self, site: Site) -> bool:
        return self._guard.get(False, "is_installed", lambda: bool(self._connector.is_installed(site)))

    def connect(self, site: Site) -> Plan:
        return self._plan("connect", lambda: self._connector.connect(site))

    def disconnect(self, site: Site) -> Plan:
        return self._plan("disconnect", lambda: self._connector.disconnect(site))

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        return self._guard.call(
            tuple, "relay_entries", lambda: self._connector.relay_entries(site), passes=(HooktrayError,)
        )

    def trust(self, site: Site) -> str:
        return self._guard.call(str, "trust", lambda: self._connector.trust(site), passes=(HooktrayError,))

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return self._guard.get((), "switch_files", lambda: tuple(self._connector.switch_files(site)))

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        return self._guard.call(
            tuple, "contents", lambda: self._connector.contents(path, state), passes=(HooktrayError,)
        )

    def probe_payload(self, session: str, cwd: str) -> Payload:
        return self._guard.call(dict, "probe_payload", lambda: dict(self._connector.probe_payload(session, cwd)))

    def _plan(self, name: str, plan: Callable[[], Plan]) -> Plan:
        from tray.agents.connection import Plan

        return self._guard.call(Plan, name, plan, passes=(HooktrayError,))


class GuardedReader:
    """A reader that can return hooks of its own agent only."""

    def __init__(self, make: Callable[[], HookReader], guard: PackageGuard) -> None:
        self.EXPECTED = guard.get("", "reader", lambda: make().EXPECTED)
        self._make = make
        self._guard = guard

    def read(self, path: Path, agents: Sequence[str], environment: Variables) -> SourceHooks:
        from tray.reading.entries import SourceHooks

        def read() -> SourceHooks:
            found = self._make().read(path, agents, environment)
            if wrong := {hook.source.kind for hook in found.hooks} - {self._guard.id}:
                raise TypeError(f"hooks of {sorted(wrong)}")
            return found

        return self._guard.call(SourceHooks, "read", read, passes=FILE_ERRORS)


class GuardedImporter:
    """An importer whose errors about the user's files reach the caller."""

    def __init__(self, make: Callable[[], HookImporter], guard: PackageGuard) -> None:
        self._make = make
        self._guard = guard

    def import_hooks(self, site: Site, problem: FindProblem) -> Plan:
        return self._plan("import_hooks", lambda: self._make().import_hooks(site, problem))

    def undo_import(self, site: Site) -> Plan:
        return self._plan("undo_import", lambda: self._make().undo_import(site))

    def has_imported(self, site: Site) -> bool:
        return self._guard.get(False, "has_imported", lambda: bool(self._make().has_imported(site)))

    def _plan(self, name: str, plan: Callable[[], Plan]) -> Plan:
        from tray.agents.connection import Plan

        return self._guard.call(Plan, name, plan, passes=(HooktrayError,))


def _guarded_marks(marks: Marks, guard: PackageGuard) -> Marks:
    """A mark that fails does not count. Every mark yields to an agent that has certainly sent the payload."""

    def is_sender(payload: Payload) -> bool:
        return guard.get(False, "marks.is_sender", lambda: bool(marks.is_sender(payload)))

    def is_alike(payload: Payload) -> bool:
        return guard.get(False, "marks.is_alike", lambda: bool(marks.is_alike(payload)))

    def event(payload: Payload, word: str) -> str:
        return guard.get(word, "marks.event", marks.event, payload, word)

    return replace(marks, is_sender=is_sender, yields=True, is_certain=is_uncertain, is_alike=is_alike, event=event)


def _guarded_rules(rules: HookRules, guard: PackageGuard) -> HookRules:
    """A condition that fails counts as met, so the hook runs."""
    is_met, plugin_input, main_agent = rules.is_condition_met, rules.plugin_input, rules.main_agent

    def is_condition_met(match: Match, event: Event, names: ToolNames, search: PatternSearch) -> bool:
        return is_met is None or guard.get(
            True, "rules.is_condition_met", lambda: bool(is_met(match, event, names, search))
        )

    def with_plugin(stdin: bytes, plugin: str, folder: str) -> bytes:
        return guard.call(
            bytes, "rules.plugin_input", plugin_input or (lambda stdin, *_: stdin), stdin, plugin, folder
        )

    def begun_as(payload: Payload) -> str:
        assert main_agent
        return guard.get("", "rules.main_agent", main_agent, payload)

    return replace(
        rules,
        is_condition_met=is_condition_met if is_met else None,
        plugin_input=with_plugin if plugin_input else None,
        main_agent=begun_as if main_agent else None,
    )


def _guarded_forms(forms: FormFormat, guard: PackageGuard) -> FormFormat:
    """A form that cannot be read is answered in the agent itself."""

    def read(event: Event) -> Form | None:
        try:
            found: object = guard.call(object, "forms.read", forms.read, event)
            return None if found is None else guard.call(Form, "forms.read", lambda: found)
        except AgentError:
            return None

    def fill(event: Event, answers: Answers) -> Rewrite:
        return guard.call(Rewrite, "forms.fill", forms.fill, event, answers)

    return FormFormat(read=read, fill=fill)
