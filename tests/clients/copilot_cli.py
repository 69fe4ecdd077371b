"""GitHub Copilot CLI, from its npm package, with a model of its user's own."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

# What its user has in its folder before: settings, and a hook that leaves a trace.
EXISTING = {
    "settings.json": {"theme": "dark"},
    "hooks/own.json": {"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "touch ~/own-hook-ran"}]}},
}


def program() -> Sequence[str]:
    return (str(packages.fetched("copilot-cli") / "node_modules" / ".bin" / "copilot"),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    """It unpacks 150 MB into the user's cache; one folder is enough for all tests."""
    unpacked = packages.CACHE / "copilot-cli-unpacked"
    unpacked.mkdir(parents=True, exist_ok=True)
    (home / ".cache").mkdir(exist_ok=True)
    (home / ".cache" / "copilot").symlink_to(unpacked)
    for name, value in EXISTING.items():
        path = home / ".copilot" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=4))
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "mock-model",
        "COPILOT_AUTO_UPDATE": "false",
    }


COPILOT_CLI = Client(
    agent="copilot-cli",
    package="copilot-cli",
    program=program,
    printed=lambda prompt: ("-p", prompt, "--allow-all-tools", "--no-color"),
    # It refuses `kill` of anything but a number, and looks only at what its own shell would run.
    shell_call=lambda line: Call("bash", {"command": shlex.join(("sh", "-c", line)), "description": "a step"}),
    settings=".copilot/hooks/hooktray.json",
    existing={},
    can=Can.ALLOW | Can.ASK | Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
)
