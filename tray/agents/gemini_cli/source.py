"""Reads Gemini CLI's hooks: those of settings.json."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.gemini_cli.connector import disabled_hooks, hook_name
from tray.agents.gemini_cli.protocol import NAME, SETTINGS, SHAPE
from tray.model.hook import Action, Command
from tray.reading.entries import KeyPath, SourceReader, pattern_problem


class GeminiReader(ShapedReader):
    """Its handlers run in bash, may have a name, variables of their own, and be disabled one by one."""

    checks_matchers = False

    def pattern(self, event: str, matcher: str) -> str:
        """A matcher is a pattern for a tool's name. On another event, or if it is not a pattern, it is a word."""
        matcher = matcher.strip()
        if matcher in ("", "*"):
            return ""
        is_pattern = self.shape.events[event].subject == "tool_name" and not pattern_problem(matcher, script=True)
        return matcher if is_pattern else f"^{re.escape(matcher)}$"

    def read_event(self, reader: SourceReader, event: str, at: KeyPath, groups: Any) -> None:
        super().read_event(reader, event, at, groups)
        for index, group in enumerate(groups):
            if isinstance(group, dict) and group.get("sequential") is True:
                what = "not in this version: hooks run at once, and none sees what another one rewrites"
                reader.warn((*at, index, "sequential"), what, "make one script of hooks that rewrite the same input")

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        return {"name": reader.text(at, fields, "name")}

    def action(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> tuple[Action, str]:
        action, unsupported = super().action(reader, event, at, fields, kind)
        if fields.get("env"):
            unsupported = "a hook's own `env` is not in this version"
        settings: Any = reader.document.value
        if hook_name(fields) in disabled_hooks(settings):
            unsupported = f"it is in `hooksConfig.disabled` of {reader.path}"
        return action, unsupported

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        command = super().command(reader, at, fields)
        return replace(command, interpreter=shutil.which("bash") or command.interpreter)


READER = GeminiReader(SHAPE, SETTINGS, NAME)
