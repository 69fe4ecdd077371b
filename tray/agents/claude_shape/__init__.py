"""Agents that took over Claude Code's hook format with small differences. Values describe each of them.

This package is not an agent itself; Claude Code's own tables are in `tray/agents/claude_code/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tray.agents import wire
from tray.agents.agent import Agent, HookImporter, HookRules, Marks, Payload, Placeholders, ProtectedFiles, part
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import DEFAULT_CAN, ClaudeShape

CAPITALISED = re.compile(r"[A-Z]\w*")
# `gemini extensions install URL`, and that of its fork.
ADDS_EXTENSIONS = re.compile(r"^extensions?\n(?:enable|install|link|update)$", re.MULTILINE)
UNCAPITALISED = re.compile(r"[a-z][A-Za-z]*")


def claude_shaped(
    *,
    name: str,
    shape: ClaudeShape,
    file: SettingsFile,
    protected: tuple[ProtectedFiles, ...] = (),
    connector: Callable[[], Any] | None = None,
    reader: Callable[[], Any] | None = None,
    **fields: Any,
) -> Agent:
    """Returns the agent whose hooks these values describe. `protected` are files besides the settings file.

    `fields` are fields of Agent; they replace those that follow from `shape` and `file`.
    """
    make_connector = connector or part("tray.agents.claude_shape.connector:ShapedConnector", shape, file, name)
    make_reader = reader or part("tray.agents.claude_shape.settings_hooks:ShapedReader", shape, file, name)

    def importer() -> HookImporter:
        from tray.agents.claude_shape.hook_import import GroupImport

        return GroupImport.of(make_connector(), make_reader())

    project = next(iter(shape.project_variables), "")
    usual = Agent(
        id=shape.agent,
        name=name,
        events=shape.events,
        default_can=DEFAULT_CAN,
        protocol=ShapedProtocol(shape),
        marks=shaped_marks(shape),
        rules=HookRules(text_counts=bool(shape.text_context), placeholders=Placeholders(project=project)),
        answers=shape.answers,
        home_variable=file.variable,
        protected=(*file.protected(name), *protected),
        protected_in_home=file.protected_in_home(name),
        settings_files=(file.path,),
        path_words=file.path_words,
        unconnected_events=frozenset(file.unconnected_events),
        runs_own=part("tray.agents.native_runs:in_file"),
        connector=make_connector,
        reader=make_reader,
        importer=importer,
    )
    return replace(usual, **fields)


def shaped_marks(shape: ClaudeShape) -> Marks:
    """Marks a payload that has one of the agent's events, and a session and a folder under the agent's keys."""
    style = CAPITALISED if all(CAPITALISED.fullmatch(event) for event in shape.events) else UNCAPITALISED

    def is_alike(payload: Payload) -> bool:
        is_there = wire.text(payload, shape.keys.session) and wire.text(payload, shape.keys.cwd)
        return bool(is_there and style.fullmatch(wire.event_name(payload, shape.keys.event)))

    return Marks(is_alike=is_alike, shares_shape=True, event_names=style)
