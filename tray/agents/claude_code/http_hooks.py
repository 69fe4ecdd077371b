"""Claude Code's handlers without a process: `http`, `prompt` and `agent`, and where that agent itself runs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tray.addresses import endpoint
from tray.agents.claude_code.events import AGENT, EVENTS
from tray.model.hook import Action, Http, Prompt
from tray.reading.entries import KeyPath, SourceReader
from tray.reading.http_hooks import http_action, local_url_problem
from tray.settings import invalid_value

TIMEOUTS = {"agent": 60.0, "prompt": 30.0}  # seconds
NO_HTTP_EVENTS = frozenset({"SessionStart", "Setup"})
# The events that a model is asked about.
MODEL_EVENTS = frozenset(
    {
        "PermissionDenied",
        "PermissionRequest",
        "PostToolBatch",
        "PostToolUse",
        "PostToolUseFailure",
        "PreToolUse",
        "Stop",
        "SubagentStop",
        "TaskCompleted",
        "TaskCreated",
        "TeammateIdle",
        "UserPromptExpansion",
        "UserPromptSubmit",
    }
)

ALIASES = frozenset({"default", "haiku", "inherit", "opus", "sonnet"})  # another server knows none of them


def action(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], kind: str) -> tuple[Action, str]:
    """What it sends, and why it is inactive here."""
    event = str(at[-4])  # of the event's groups, and of the group's handlers
    if kind == "http":
        headers = reader.mapping((*at, "headers"), fields.get("headers") or {}, 'write {"Name": "value"}')
        http = http_action(reader.document, at, reader.text(at, fields, "url"), headers)
        unsupported = "Claude Code runs no `http` hook there" if event in NO_HTTP_EVENTS else ""
        return http, unsupported or _not_allowed(reader, http) or _local(event, http)
    text = reader.text(at, fields, "prompt")
    if not text.strip():
        raise invalid_value(reader.document, at, f"a hook of the type `{kind}` needs a prompt", "add `prompt`")
    unsupported = "" if event in MODEL_EVENTS else f"Claude Code runs no `{kind}` hook there"
    model = reader.text(at, fields, "model")
    prompt = Prompt(
        text=text,
        model="" if model in ALIASES else model,
        agent=kind == "agent",
        continue_on_block=kind == "prompt" and reader.flag(at, fields, "continueOnBlock"),
    )
    return prompt, unsupported


def variables(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables that headers may hold: the hook's own list, within that of the whole file."""
    wanted = reader.texts(at, fields, "allowedEnvVars")
    settings: Any = reader.document.value
    if "httpHookAllowedEnvVars" not in settings:
        return wanted
    general = reader.texts((), settings, "httpHookAllowedEnvVars")
    return tuple(name for name in wanted if name in general)


def _not_allowed(reader: SourceReader, action: Http) -> str:
    settings: Any = reader.document.value
    if "allowedHttpHookUrls" not in settings:
        return ""
    patterns = reader.texts((), settings, "allowedHttpHookUrls")
    shapes = (".*".join(re.escape(part) for part in pattern.split("*")) for pattern in patterns)
    return "" if any(re.fullmatch(shape, action.url) for shape in shapes) else "`allowedHttpHookUrls` leaves it out"


def _local(event: str, action: Http) -> str:
    """That format cannot allow a local address, so the reason names ours."""
    why = local_url_problem(action)
    if not why:
        return ""
    kind = EVENTS[event].kind.value
    line = (
        f'- {{event: {kind}, type: http, dialect: {AGENT}, url: "{action.url}", '
        f'allow_local: ["{endpoint(action.url).host_port}"]}}'
    )
    return f"{why}; if that is meant, add to `hooks:` of hooktray.yaml: {line}"
