"""Gemini CLI, from its npm package, with the key of a model of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

SCRIPT = Path("node_modules") / "@google" / "gemini-cli" / "bundle" / "gemini.js"
AUTH = {"selectedType": "gemini-api-key"}
EXISTING = {
    "security": {"auth": AUTH, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "telemetry": {"enabled": False},
    "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "touch .own-hook-ran"}]}]},
}


def program() -> Sequence[str]:
    return (str(packages.node()), str(packages.fetched("gemini-cli") / SCRIPT))


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    """Without a relaunch it is one process, which a test can end."""
    model = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": "gemini-2.5-flash"}
    return model | {"GEMINI_CLI_NO_RELAUNCH": "true"}


GEMINI_CLI = Client(
    agent="gemini-cli",
    package="gemini-cli",
    program=program,
    printed=lambda prompt: ("--yolo", "-p", prompt),
    shell_call=lambda line: Call("run_shell_command", {"command": line}),
    settings=".gemini/settings.json",
    existing=EXISTING,
    can=Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
)
