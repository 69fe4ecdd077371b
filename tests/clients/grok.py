"""Grok CLI, from the npm package of its program, with a model of its user's own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call
from filelock import FileLock

# What its user has in config.toml before. {} is the model's address.
CONFIG = """\
[models]
default = "mock"

[model.mock]
model = "mock-model"
name = "mock"
base_url = "{}/v1"
api_key = "dummy"
api_backend = "chat_completions"
"""
EXISTING = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch .own-hook-ran"}]}]}}
UNPACK = "fs.writeFileSync(process.argv[2], zlib.brotliDecompressSync(fs.readFileSync(process.argv[1])))"


def program() -> Sequence[str]:
    """Its package has the program compressed, and unpacks it into a home when npm runs its script."""
    folder = packages.fetched("grok") / "node_modules" / "@xai-official" / "grok-linux-x64" / "bin"
    unpacked = folder / "grok"
    with FileLock(packages.CACHE / "grok-unpacked.lock"):
        if not unpacked.exists():
            part = folder / "part"
            subprocess.run([packages.node(), "-e", UNPACK, folder / "grok.br", part], check=True)
            part.chmod(0o755)
            part.replace(unpacked)
    return (str(unpacked),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    (home / ".grok" / "config.toml").write_text(CONFIG.format(url))
    (home / ".grok" / "hooks" / "own.json").write_text(json.dumps(EXISTING))
    return {}


GROK = Client(
    agent="grok",
    package="grok",
    program=program,
    printed=lambda prompt: ("-p", prompt, "--always-approve", "-m", "mock"),
    shell_call=lambda line: Call("run_terminal_command", {"command": line, "description": "a step"}),
    settings=".grok/hooks/hooktray.json",
    existing={},
    can=Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
    refused_prompt=None,  # shown in a terminal only
)
