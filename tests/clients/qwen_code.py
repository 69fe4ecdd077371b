"""Qwen Code, two versions: the newest needs Node 22, and npm gives 0.15 to users of Node 20."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

SCRIPT = Path("node_modules") / "@qwen-code" / "qwen-code" / "cli.js"
EXISTING = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
    "tools": {"todoWrite": {"enabled": True}},
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch .own-hook-ran"}]}]},
}


def program() -> Sequence[str]:
    return (str(packages.node()), str(packages.fetched("qwen-code") / SCRIPT))


def older_program() -> Sequence[str]:
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("this version runs on the machine's own Node.js, and there is none: install 20 or later")
    return (node, str(packages.fetched("qwen-code-0.15") / SCRIPT))


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    """Without a relaunch it is one process, which a test can end."""
    model = {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "mock-model"}
    return model | {"QWEN_CODE_NO_RELAUNCH": "true"}


def shell_call(line: str) -> Call:
    return Call("run_shell_command", {"command": line, "description": "a step", "is_background": False})


QWEN_CODE = Client(
    agent="qwen-code",
    package="qwen-code",
    program=program,
    printed=lambda prompt: ("--yolo", "-p", prompt),
    shell_call=shell_call,
    settings=".qwen/settings.json",
    existing=EXISTING,
    can=Can.ASK | Can.SESSION_START | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
    refused_prompt=None,
)
# It says of the first end of a turn already that a hook has refused one.
QWEN_CODE_0_15 = replace(QWEN_CODE, package="qwen-code-0.15", program=older_program, can=Can.ASK | Can.BLOCK_PROMPT)
