"""Codex, as npm installs it. What its user does in `/hooks`, Codex's own app-server does here."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from clients import packages
from clients.client import Can, Client, Session
from clients.model import MODEL
from clients.wires import Call

CONFIG = """model = "{model}"
model_provider = "mock"
notify = ["true"]
approval_policy = "on-request"
sandbox_mode = "read-only"

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"

[projects."{project}"]
trust_level = "trusted"
"""
# What it asks its user about before it runs it.
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "the test wants it"}
HOOK = {"type": "command", "command": "touch .own-hook-ran"}


def program() -> Sequence[str]:
    return (str(packages.fetched("codex") / "node_modules" / ".bin" / "codex"),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(CONFIG.format(model=MODEL, url=url, project=project))
    return {}


def listed(one: Session, *, trust: bool = False) -> list[dict[str, Any]]:
    """The hooks as Codex itself lists them; with `trust`, its user trusts all of them."""
    requests: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "tests", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [str(one.project)]}},
    ]
    found = _answers(one, requests)
    hooks: list[dict[str, Any]] = found[1]["data"][0]["hooks"]
    if trust:
        value = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
        _answers(one, [*requests[:2], {"id": 2, "method": "config/batchWrite", "params": {"edits": [edit]}}])
    return hooks


def trust(one: Session) -> None:
    listed(one, trust=True)


def end_daemons(one: Session) -> None:
    """Codex in a terminal starts a copy of itself, from its home, that outlives it."""
    for process in psutil.process_iter(["cmdline"]):
        if any(word.startswith(f"{one.home}/") for word in (process.info["cmdline"] or [])[:1]):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def stop_daemon(one: Session) -> None:
    """What its user can do, too: the daemon ends the sessions that it still holds."""
    argv = [*program(), "app-server", "daemon", "stop"]
    subprocess.run(argv, cwd=one.project, env=dict(one.environment), capture_output=True, timeout=60, check=True)


def _answers(one: Session, requests: Sequence[Mapping[str, Any]]) -> dict[int, Any]:
    """What the app-server answers, by id."""
    process = subprocess.Popen(
        [*program(), "app-server"],
        cwd=one.project,
        env=dict(one.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    found: dict[int, Any] = {}
    assert process.stdin
    assert process.stdout
    try:
        for request in requests:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            while "id" in request and request["id"] not in found:
                answer = json.loads(process.stdout.readline())
                if answer.get("id") == request["id"]:
                    found[request["id"]] = answer["result"]
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
    return found


CODEX = Client(
    agent="codex",
    package="codex",
    program=program,
    printed=lambda prompt: ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt),
    shell_call=lambda line: Call("exec_command", {"cmd": line}),
    settings=".codex/hooks.json",
    existing={"description": "its user's own", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}},
    can=Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
    refused_prompt="UserPromptSubmit Blocked",
    complaint=re.compile(r"hook: \w+ Failed"),
    trust=trust,
)
