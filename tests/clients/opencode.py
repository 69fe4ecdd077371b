"""OpenCode, from its npm package, with a provider of its user's own that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clients import packages
from clients.client import Can, Client, Session
from clients.model import MODEL
from clients.wires import Call

FOLDER = ".config/opencode"
OWN_PLUGIN = """import { writeFileSync } from "node:fs"
const leaveTrace = async () => writeFileSync(process.env.HOME + "/own-plugin-ran", "")
export const Own = async () => ({ "chat.message": leaveTrace })
"""
# OpenCode installs the types of plugins with npm beside them, unless they are there.
INSTALLED = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}


def program() -> Sequence[str]:
    """The binary itself: what npm links is a stub until the package's script has run."""
    return (str(min((packages.fetched("opencode") / "node_modules").glob("opencode-*-*/bin/opencode"))),)


def config(url: str) -> Mapping[str, Any]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "mock",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {MODEL: {"name": MODEL}},
    }
    chosen = {"model": f"mock/{MODEL}", "small_model": f"mock/{MODEL}"}
    # A shell line with a path outside of the project is asked about, and `opencode run` refuses what is asked.
    allowed = {"external_directory": "allow"}
    return {"provider": {"mock": provider}, **chosen, "autoupdate": False, "share": "disabled", "permission": allowed}


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    folder = home / FOLDER
    (folder / "node_modules").mkdir(parents=True)
    (folder / "package-lock.json").write_text(json.dumps(INSTALLED))
    (folder / "opencode.json").write_text(json.dumps(config(url), indent=4))
    (folder / "plugins" / "own.js").write_text(OWN_PLUGIN)
    models = home / "models.json"  # its own list of all providers' models takes 3 s of processor time in each turn
    models.write_text("{}")
    quiet = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    return quiet | {"OPENCODE_MODELS_PATH": str(models)}


def ask_for(one: Session, permission: str) -> None:
    """Its user wants to be asked about this."""
    path = one.home / FOLDER / "opencode.json"
    settings = json.loads(path.read_text())
    settings["permission"][permission] = "ask"
    path.write_text(json.dumps(settings))


OPENCODE = Client(
    agent="opencode",
    package="opencode",
    program=program,
    printed=lambda prompt: ("run", prompt),
    shell_call=lambda line: Call("bash", {"command": line, "description": "a step"}),
    settings=f"{FOLDER}/plugins/hooktray.js",
    existing={},
    can=Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.BLOCK_PROMPT,
    prepare=prepare,
)
