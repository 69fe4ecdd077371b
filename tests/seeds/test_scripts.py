"""Every script that the formats' documents print, byte for byte, as a hook of the agent that it was written for.

`claude-project-config.sh` is not valid shell, as its branches hold nothing but comments: what Hooktray says of it is
looked at instead. Starchild's question to a model imports its host's own package and is not here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from connect.trays import approve_all
from seeds.product import SCRIPTS, Product

pytestmark = pytest.mark.xdist_group("seeds")  # one worker, so one tray; test_sixteen_pairs.py is there, too

TEMPORARY = ("hook-state-*", "hook-rate-*", "hook-cache-*", "test-count-*", "build-count-*")
SECRET = "api_key = 'abcdefghijklmnopqrstuvwxyz'"
INVALID = {"claude-project-config.sh"}


@dataclass(frozen=True)
class Case:
    """What one script is given, and what the agent is answered."""

    event: str = "PreToolUse"
    input: Mapping[str, Any] = field(default_factory=lambda: {"command": "ls"})
    verdict: str = ""  # of a tool call; "" = nothing was said
    reason: str = ""
    status: str = "ok"
    environment: Mapping[str, str] = field(default_factory=dict)


CASES = {
    "claude-audit.sh": Case(environment={"USER": "me"}),
    "claude-cache.sh": Case(input={"file_path": "/work/a.txt"}, verdict="allow"),
    "claude-database.sh": Case(),
    "claude-error-handling.sh": Case(),
    "claude-exit-1.sh": Case(status="failed"),
    "claude-metrics.sh": Case(),
    "claude-only-in-ci.sh": Case(environment={"CI": "1"}),
    "claude-quick-check.sh": Case(),
    "claude-rate-limit.sh": Case(),
    "claude-secrets.sh": Case(
        input={"content": SECRET},
        verdict="deny",
        reason='{"decision": "deny", "reason": "Potential secret detected in content"}',
    ),
    "claude-slack.sh": Case(verdict="deny", reason='{"decision": "deny"}'),
    "claude-state-1.sh": Case(),
    "claude-state-2.sh": Case(),
    "claude-track-start.sh": Case(event="SessionStart"),
    "claude-track-stop.sh": Case(
        event="Stop", verdict="block", reason='{"decision": "block", "reason": "No tests were run"}'
    ),
    "claude-track-tools.sh": Case(event="PostToolUse"),
    "claude-trusted-user.sh": Case(environment={"USER": "admin"}),
}


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray whose hooks are all these scripts, each for a tool of its own."""
    if sys.platform == "win32":
        pytest.skip("the scripts are for a POSIX shell")
    before = _temporary()
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("seeds"))
        patch.setenv("HOME", str(product.home))
        events: dict[str, list[dict[str, Any]]] = {}
        for name, case in CASES.items():
            handler = {"type": "command", "command": f"bash {product.script(f'hooks/{name}', seed=name)}"}
            matcher = {"matcher": _tool(name)} if "ToolUse" in case.event else {}
            events.setdefault(case.event, []).append({**matcher, "hooks": [handler]})
        path = product.write(".claude/settings.json", json.dumps({"hooks": events}), 0o644)
        yield product.source("claude-code", path).start()
        product.close()
    for left in _temporary() - before:
        left.unlink(missing_ok=True)


def _temporary() -> set[Path]:
    return {path for pattern in TEMPORARY for path in Path("/tmp").glob(pattern)}


def _tool(name: str) -> str:
    return "Bash" if name == "claude-track-tools.sh" else name.removesuffix(".sh")


@pytest.mark.parametrize("name", CASES)
def test_a_printed_script_runs_as_it_stands(claude: Product, name: str) -> None:
    case = CASES[name]
    payload = {"tool_name": _tool(name), "tool_input": dict(case.input)} if "ToolUse" in case.event else {}
    if case.event == "PostToolUse":
        payload["tool_response"] = {"stdout": "test passed", "stderr": "", "interrupted": False, "isImage": False}
    before, payload["prompt_id"] = _temporary(), f"prompt of {name}"

    answer = claude.answer("claude-code", case.event, payload, env=case.environment)

    said = answer.get("hookSpecificOutput", {})
    verdict = said.get("permissionDecision") or answer.get("decision", "")
    reason = said.get("permissionDecisionReason") or answer.get("reason", "")
    named = f"{name.removesuffix('.sh')} (Hooktray): {case.reason}" if case.reason else ""
    assert (verdict, reason) == (case.verdict, named)
    (hook,) = claude.row(f"prompt of {name}").hooks
    assert (hook["name"], hook["status"]) == (name.removesuffix(".sh"), case.status)
    if name == "claude-track-tools.sh":
        (made,) = _temporary() - before
        assert made.read_text() == "1\n"


def test_the_audit_log_grows_in_the_users_own_home(claude: Product) -> None:
    log = claude.home / ".claude" / "audit.log"
    before = log.read_text() if log.exists() else ""

    claude.answer("claude-code", "PreToolUse", {"tool_name": "claude-audit", "tool_input": {"command": "x"}})

    grown = log.read_text()
    assert grown.startswith(before)
    assert "| claude-audit | {" in grown.removeprefix(before)


def test_a_script_that_is_no_valid_shell_is_named_before_its_approval(product: Product) -> None:
    script = product.script("hooks/config.sh", seed="claude-project-config.sh")
    product.claude("PreToolUse", {"command": f"bash {script}"}).start(approve=False)

    found = product.live.cli("doctor", "--static").stdout.decode()

    (line,) = [line for line in found.splitlines() if "syntax" in line]
    assert "config" in line


def test_a_script_that_is_no_valid_shell_is_broken_after_its_approval(product: Product) -> None:
    script = product.script("hooks/config.sh", seed="claude-project-config.sh")
    product.claude("PreToolUse", {"command": f"bash {script}"}).start()

    done = product.live.cli("doctor")

    (line,) = [line for line in done.stdout.decode().splitlines() if "syntax" in line]
    assert line.startswith("broken     hook: config: ")
    assert done.returncode == 1


SLASH = {"command": "files", "raw_message": "/files a.txt b.txt", "args": "a.txt b.txt"}


def test_the_slash_command_puts_the_files_into_the_message(product: Product) -> None:
    product.script(".config/shelley/hooks/slash/files", seed="shelley-files.sh")
    for name in ("a.txt", "b.txt"):
        product.write(name, f"text of {name}\n", 0o644)
    product.source("shelley", product.home / ".config/shelley/hooks").start()
    environment = {"SHELLEY_SLASH_COMMAND": "files", "SHELLEY_SLASH_ARGS": "a.txt b.txt"}

    done = product.ask("shelley", "slash/files", {**SLASH, "cwd": str(product.home)}, env=environment)
    environment |= {"SHELLEY_SLASH_ARGS": "no.txt"}
    missing = product.ask("shelley", "slash/files", {**SLASH, "args": "no.txt"}, env=environment)

    text = done.stdout.decode()
    assert text.startswith("Here are the files you asked about:\n\n=== a.txt ===\ntext of a.txt\n\n=== b.txt ===\n")
    assert missing.returncode != 0
    assert "no.txt" in missing.stderr.decode()


def test_every_printed_script_is_run() -> None:
    run = {*CASES, *INVALID, "shelley-files.sh", "starchild-block.sh", "x-code-lint.js"}

    assert {path.name for path in SCRIPTS.iterdir() if path.suffix in (".sh", ".js")} == run


CONFIGURATIONS = {
    "claude-multi-stage.json": {"quick-check": "PreToolUse", "PreToolUse prompt": "PreToolUse"},
    "claude-parallel.jsonc": {
        "check-path": "PreToolUse", "check-size": "PreToolUse", "PreToolUse prompt": "PreToolUse",
    },
    "claude-stop-agent.json": {"Stop agent": "Stop"},
    "claude-stop-prompt.json": {"Stop prompt": "Stop"},
    "claude-task.json": {"verify-task": "TaskCompleted"},
    "claude-teammate.json": {"check-teammate": "TeammateIdle"},
    "starchild-hooks.yaml": {"block_secrets": "pre_tool_call"},
    "starchild-http.yaml": {"my-guard.example.com": "pre_tool_call"},
    "x-code-lint-manifest.jsonc": {"lint": "PreToolUse"},
    "x-code-manifest.jsonc": {"Lint before writing": "PreToolUse", "inject-context": "UserPromptSubmit"},
}  # fmt: skip
PLACES = {"claude": "hooks/hooks.json", "starchild": "config/shell_hooks.yaml", "x-code": "plugin.json"}
FILES = (
    "check-size.sh", "check-path.sh", "hooks/lint.js", "hooks/inject-context.sh", "scripts/quick-check.sh",
    "scripts/check-teammate.sh", "scripts/verify-task.sh", "extensions/shell_hooks/examples/block_secrets.py",
    "hooks/check-size.sh", "hooks/check-path.sh",
)  # fmt: skip


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_printed_configuration_is_read_as_it_stands(product: Product, name: str) -> None:
    agent = next(agent for agent in PLACES if name.startswith(agent))
    for file in FILES:
        product.write(f"seed/{file}", "#!/bin/sh\n")
    path = product.write(f"seed/{PLACES[agent]}", (SCRIPTS / name).read_text(), 0o644)
    product.source({"claude": "claude-code"}.get(agent, agent), path.parent if agent == "x-code" else path)
    approve_all(product.live)

    states = product.live.states()

    assert states == dict.fromkeys(CONFIGURATIONS[name], "approved")


def test_every_printed_configuration_is_read() -> None:
    names = {path.name for path in SCRIPTS.iterdir() if path.suffix not in (".sh", ".js")}

    assert {name for name in names if not name.startswith("claude-handler-")} == set(CONFIGURATIONS)
