"""Agents that took over Claude Code's hook format with small differences. Values describe each of them.

This package is not an agent itself; Claude Code's own tables are in `tray/agents/claude_code/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from tray.agents import wire
from tray.agents.agent import (
    Agent,
    HookImporter,
    HookRules,
    Marks,
    NativeTool,
    Payload,
    Placeholders,
    ProtectedFiles,
    part,
)
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import DEFAULT_CAN, ClaudeShape

if TYPE_CHECKING:
    from tray.agents.claude_shape.connector import ShapedConnector
    from tray.agents.claude_shape.settings_hooks import ShapedReader

CAPITALISED = re.compile(r"[A-Z]\w*")
# `gemini extensions install URL`, and that of its fork.
ADDS_EXTENSIONS = re.compile(r"^extensions?\n(?:enable|install|link|update)$", re.MULTILINE)
UNCAPITALISED = re.compile(r"[a-z][A-Za-z]*")


def claude_shaped(
    *,
    name: str,
    shape: ClaudeShape,
    file: SettingsFile,
    protocol: ShapedProtocol | None = None,
    tools: Mapping[str, NativeTool] | None = None,
    also_does: Mapping[str, tuple[str, ...]] | None = None,
    marks: Marks | None = None,
    rules: HookRules | None = None,
    programs: frozenset[str] = frozenset(),
    variables: frozenset[str] = frozenset(),
    starters: frozenset[str] = frozenset(),
    without_hooks: re.Pattern[str] | None = None,
    protected: tuple[ProtectedFiles, ...] = (),
) -> Agent:
    """The agent whose hooks these values describe.

    Change its connector, reader or importer with `msgspec.structs.replace`.

    `protected` are files besides the settings file. A value that is left out follows from `shape` and `file`.
    """
    parts = LazyParts(shape, file, name)
    return Agent(
        id=shape.agent,
        name=name,
        events=shape.events,
        default_can=DEFAULT_CAN,
        protocol=protocol or ShapedProtocol(shape),
        tools=tools or {},
        also_does=also_does or {},
        marks=marks or shaped_marks(shape),
        rules=rules or shaped_rules(shape),
        answers=shape.answers,
        programs=programs,
        variables=variables,
        starters=starters or programs,
        without_hooks=without_hooks,
        home_variable=file.variable,
        protected=(*file.protected(name), *protected),
        protected_in_home=file.protected_in_home(name),
        settings_files=(file.path,),
        path_words=file.path_words,
        unconnected_events=frozenset(file.unconnected_events),
        runs_own=part("tray.agents.native_runs:in_file"),
        connector=parts.connector,
        reader=parts.reader,
        importer=parts.importer,
    )


class LazyParts(msgspec.Struct, frozen=True):
    """Builds connector, reader and importer of an agent; each module is imported when it is first used."""

    shape: ClaudeShape
    file: SettingsFile
    name: str

    def connector(self) -> ShapedConnector:
        from tray.agents.claude_shape.connector import ShapedConnector

        return ShapedConnector(self.shape, self.file, self.name)

    def reader(self) -> ShapedReader:
        from tray.agents.claude_shape.settings_hooks import ShapedReader

        return ShapedReader(self.shape, self.file, self.name)

    def importer(self) -> HookImporter:
        from tray.agents.claude_shape.hook_import import GroupImport

        return GroupImport.of(self.connector(), self.reader())


def shaped_marks(shape: ClaudeShape) -> Marks:
    """Marks a payload that has one of the agent's events, and a session and a folder under the agent's keys."""
    style = CAPITALISED if all(CAPITALISED.fullmatch(event) for event in shape.events) else UNCAPITALISED

    def is_alike(payload: Payload) -> bool:
        is_there = wire.text(payload, shape.keys.session) and wire.text(payload, shape.keys.cwd)
        return bool(is_there and style.fullmatch(wire.event_name(payload, shape.keys.event)))

    return Marks(is_alike=is_alike, shares_shape=True, event_names=style)


def shaped_rules(shape: ClaudeShape) -> HookRules:
    project = next(iter(shape.project_variables), "")
    return HookRules(text_counts=bool(shape.text_context), placeholders=Placeholders(project=project))
