"""Factory Droid, from the npm package of its program, with a model of its user's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

EXISTING = {
    "theme": "dark",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch .own-hook-ran"}]}]},
}


def program() -> Sequence[str]:
    folder = packages.fetched("droid") / "node_modules" / "@factory" / "cli-linux-x64" / "bin"
    return (str(folder / "droid"),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    """Without the world outside it ends at once."""
    model = {
        "model": "mock-model",
        "id": "custom:mock",
        "displayName": "mock",
        "baseUrl": f"{url}/v1",
        "apiKey": "dummy",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
    }
    path = home / ".factory" / "settings.json"
    path.write_text(json.dumps({**EXISTING, "customModels": [model]}, indent=4))
    return {"FACTORY_AIRGAP_ENABLED": "true"}


DROID = Client(
    agent="droid",
    package="droid",
    program=program,
    printed=lambda prompt: ("exec", "--auto", "high", "-m", "custom:mock", prompt),
    shell_call=lambda line: Call(
        "Execute", {"command": line, "summary": "a step", "riskLevel": "low", "riskLevelReason": "a test"}
    ),
    settings=".factory/settings.json",
    existing=EXISTING,
    can=Can.ALLOW | Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE,
    prepare=prepare,
)
