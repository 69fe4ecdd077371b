"""Reads Qwen Code's hooks: those of settings.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.qwen_code.protocol import NAME, SETTINGS, SHAPE
from tray.model.hook import Action, AsyncMode
from tray.reading.entries import KeyPath, SourceReader


class QwenReader(ShapedReader):
    """Its handlers may run beside the answer, in another shell, and with variables of their own."""

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        is_async = kind == "command" and reader.flag(at, fields, "async")
        return {"async_mode": AsyncMode.ASYNC if is_async else AsyncMode.NO}

    def action(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> tuple[Action, str]:
        action, unsupported = super().action(reader, event, at, fields, kind)
        if fields.get("shell") == "powershell":
            unsupported = "`shell: powershell` is not in this version"
        if fields.get("env"):
            unsupported = "a hook's own `env` is not in this version"
        return action, unsupported


READER = QwenReader(SHAPE, SETTINGS, NAME)
