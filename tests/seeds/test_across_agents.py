"""The example guards of the formats' documents, each on every agent that has such an event: who refuses, and how."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from every import every
from seeds.product import Product

pytestmark = pytest.mark.xdist_group("agents")  # one worker, so one tray

REFUSALS = ("deny", "block")
BASH = "rm -rf /"
# What each agent sends before a shell command and before a file is written.
WRITTEN = {"file_path": "a.ts", "content": "{text}"}
CALLS: Mapping[str, Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "claude-code": {
        "Bash": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "{text}"}}),
        "Write": ("PreToolUse", {"tool_name": "Write", "tool_input": WRITTEN}),
    },
    "codex": {"Bash": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "{text}"}})},
    "copilot-cli": {
        "Bash": ("PreToolUse", {"tool_name": "bash", "tool_input": {"command": "{text}"}}),
        "Write": ("PreToolUse", {"tool_name": "create", "tool_input": {"path": "a.ts", "file_text": "{text}"}}),
    },
    "qwen-code": {
        "Bash": ("PreToolUse", {"tool_name": "run_shell_command", "tool_input": {"command": "{text}"}}),
        "Write": (
            "PreToolUse",
            {"tool_name": "write_file", "tool_input": WRITTEN},
        ),
    },
    "starchild": {
        "Bash": ("pre_tool_call", {"tool_name": "bash", "tool_input": {"command": "{text}"}}),
        "Write": ("pre_tool_call", {"tool_name": "write_file", "tool_input": {"path": "a.ts", "content": "{text}"}}),
    },
    "x-code": {
        "Bash": ("PreToolUse", {"tool": {"name": "shell", "args": {"command": "{text}"}, "callId": "1"}}),
        "Write": (
            "PreToolUse",
            {"tool": {"name": "writeFile", "args": {"filePath": "a.ts", "content": "{text}"}, "callId": "1"}},
        ),
    },
}
SECRET = "password = 'abcdefghijklmnopqrstuvwxyz'"
# Each example: its fixture, its format, the tool that it is for, and a text that it refuses.
GUARDS = {
    "starchild-block.sh": ("starchild", "Bash", BASH, "refusing destructive command: rm -rf /"),
    "claude-secrets.sh": ("claude-code", "Write", SECRET, "Potential secret detected in content"),
    "x-code-lint.js": ("x-code", "Write", "x", r"Lint failed:\nunused"),
}


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray with all examples for every agent; each says in a file of its own that it ran."""
    if sys.platform == "win32":
        pytest.skip("the scripts are for a POSIX shell")
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("agents"))
        product.write("bin/eslint", f'#!/bin/sh\necho "$2" >>{product.home}/linted\necho unused\nexit 1\n')
        patch.setenv("HOME", str(product.home))
        patch.setenv("PATH", f"{os.environ['PATH']}:{product.home}/bin")
        for name, (dialect, tool, _, _) in GUARDS.items():
            path = product.script(f"h/config/{name}", seed=name)
            command = f"node {path}" if path.suffix == ".js" else f"./{name}"
            product.hook(name=name, event="tool_before", tool=tool, dialect=dialect, command=command)
        yield product.start()
        product.close()


def _filled(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, text) for key, inner in value.items()}
    return text if value == "{text}" else value


PAIRS = [(guard, agent) for guard, row in GUARDS.items() for agent, calls in CALLS.items() if row[1] in calls]


@every(("guard", "agent"), PAIRS)
def test_an_example_guard_refuses_on_every_agent(everywhere: Product, guard: str, agent: str) -> None:
    _, tool, text, reason = GUARDS[guard]
    event, payload = CALLS[agent][tool]
    linted = everywhere.home / "linted"
    before = linted.read_text() if linted.exists() else ""

    done = everywhere.ask(agent, event, {**_filled(payload, text), "note": f"{guard} on {agent}"})

    said = done.stdout.decode() + done.stderr.decode()
    assert reason in said
    assert any(f'"{word}"' in said for word in REFUSALS)
    named = {hook["name"]: hook["verdict"] for hook in everywhere.row(f"{guard} on {agent}").hooks}
    assert named[guard] == "deny"
    if tool == "Write":
        assert linted.read_text() == before + "a.ts\n"


def test_a_shelley_hook_rewrites_the_prompt_of_agents_that_can_carry_it_and_of_no_other(product: Product) -> None:
    product.write("hooks/chat-message", '#!/bin/sh\ncat >/dev/null\necho \'{"message": "rewritten"}\'\n')
    agents = ["shelley", "starchild", "claude-code", "x-code"]
    product.source("shelley", product.home / "hooks", only=agents).start()

    assert product.answer("shelley", "chat-message", {"message": "hello"}) == {"message": "rewritten"}
    assert product.answer("starchild", "on_user_message", {"message": "hello"}) == {"message": "rewritten"}
    assert product.answer("claude-code", "UserPromptSubmit", {"prompt": "hello"}) == {}
    assert product.answer("x-code", "UserPromptSubmit", {"prompt": "hello"}) == {}
    said = product.live.cli("doctor", "--static").stdout.decode()
    assert "chat-message is not asked by claude-code: a rewrite cannot be carried" in said
