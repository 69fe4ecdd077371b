"""Kimi Code, from its npm package, with a provider of its user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

FOLDER = ".kimi-code"
# What its user has in config.toml before, with comments and a hook that leaves a trace. {} is the model's address.
EXISTING = """\
# my models
default_model = "mock"
telemetry = false

[providers.mock]
type = "openai"  # as in the documentation
base_url = "{}/v1"
api_key = "dummy"

[models.mock]
provider = "mock"
model = "mock-model"
max_context_size = 200000

[[hooks]]
event = "Stop"
command = "touch .own-hook-ran"
"""


def program() -> Sequence[str]:
    return (str(packages.node()), str(packages.fetched("kimi-code") / "node_modules" / ".bin" / "kimi"))


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    (home / FOLDER).mkdir(exist_ok=True)
    (home / FOLDER / "config.toml").write_text(EXISTING.format(url))
    return {"KIMI_CODE_HOME": str(home / FOLDER), "KIMI_DISABLE_UPDATE": "1"}


KIMI_CODE = Client(
    agent="kimi-code",
    package="kimi-code",
    program=program,
    printed=lambda prompt: ("-p", prompt),
    shell_call=lambda line: Call("Bash", {"command": line, "description": "a step"}),
    settings=f"{FOLDER}/config.toml",
    existing={},
    can=Can.SESSION_START | Can.BLOCK_PROMPT,
    prepare=prepare,
)
