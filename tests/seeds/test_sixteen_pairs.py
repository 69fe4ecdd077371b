"""The examples of the four formats' documents as hooks of their own files, each on all four agents and some others.

The tests check the effect of each example. They skip agents that have no such event or cannot pass on the answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from every import every
from seeds.product import SCRIPTS, Product

from tray.agents.registry import AGENTS
from tray.engine.stores import open_stores

TEMPORARY = ("hook-rate-*", "hook-state-*", "test-count-*", "build-count-*")
# One worker, so one tray.
pytestmark = pytest.mark.xdist_group("seeds")

FOUR = ("claude-code", "shelley", "starchild", "x-code")
PROGRAMS = ("curl", "eslint", "nc", "psql")  # which the examples start; here they write down that they were
SECRET = "api_key = 'abcdefghijklmnopqrstuvwxyz'"
RM = {"command": "rm -rf /"}
OUTPUT = "test passed"
Calls = Mapping[str, tuple[str, Mapping[str, Any]]]


def write(agent: str) -> dict[str, str]:
    """The input of a file's write, in this agent's own keys."""
    key = {"copilot-cli": "path", "starchild": "path", "x-code": "filePath"}.get(agent, "file_path")
    content = {"copilot-cli": "file_text"}.get(agent, "content")
    return {key: f"/work/{agent}.ts", content: SECRET}


BASH: Calls = {
    "claude-code": ("PreToolUse", {"tool_name": "Bash", "tool_input": RM}),
    "codex": ("PreToolUse", {"tool_name": "Bash", "tool_input": RM}),
    "copilot-cli": ("PreToolUse", {"tool_name": "bash", "tool_input": RM}),
    "starchild": ("pre_tool_call", {"tool_name": "bash", "tool_input": RM}),
    "x-code": ("PreToolUse", {"tool": {"name": "shell", "args": RM, "callId": "1"}}),
}
WRITE: Calls = {
    "claude-code": ("PreToolUse", {"tool_name": "Write", "tool_input": write("claude-code")}),
    "copilot-cli": ("PreToolUse", {"tool_name": "create", "tool_input": write("copilot-cli")}),
    "starchild": ("pre_tool_call", {"tool_name": "write_file", "tool_input": write("starchild")}),
    "x-code": ("PreToolUse", {"tool": {"name": "writeFile", "args": write("x-code"), "callId": "1"}}),
}
DONE: Calls = {
    "claude-code": ("PostToolUse", {"tool_name": "Bash", "tool_input": RM, "tool_response": {"stdout": OUTPUT}}),
    "starchild": ("post_tool_call", {"tool_name": "bash", "tool_input": RM, "tool_result": OUTPUT}),
    "x-code": ("PostToolUse", {"tool": {"name": "shell", "args": RM, "callId": "1", "output": OUTPUT}}),
}
START: Calls = {
    "claude-code": ("SessionStart", {}),
    "starchild": ("on_session_start", {}),
    "x-code": ("SessionStart", {}),
}
END: Calls = {
    "claude-code": ("Stop", {}),
    "shelley": ("end-of-turn", {}),
    "starchild": ("on_stop", {}),
    "x-code": ("TurnComplete", {}),
}
SLASH: Calls = {"shelley": ("slash/files", {"command": "files", "args": "a.txt", "raw_message": "/files a.txt"})}
KINDS = {
    "Bash": "tool_before",
    "Write": "tool_before",
    "done": "tool_after",
    "start": "session_start",
    "end": "turn_end",
}
KINDS["slash"] = "slash_command"
CALLS: Mapping[str, Calls] = {
    "Bash": BASH, "Write": WRITE, "done": DONE, "start": START, "end": END, "slash": SLASH,
}  # fmt: skip


@dataclass(frozen=True)
class Example:
    """One printed script: its format, the event that it is for, its verdict, and what is there once it has run."""

    format: str
    on: str
    verdict: str = "abstain"
    effect: Callable[[Product, str], bool] = lambda product, agent: True
    event: str = ""  # in a Claude settings file
    matcher: str = ""
    reason: str = ""


def called(program: str, word: str) -> Callable[[Product, str], bool]:
    return lambda product, agent: f"{program} " in _log(product, program) and word in _log(product, program)


def _log(product: Product, program: str) -> str:
    path = product.home / f"{program}.log"
    return path.read_text() if path.exists() else ""


def audited(product: Product, agent: str) -> bool:
    log = product.home / ".claude" / "audit.log"
    return log.exists() and "| Bash | {" in log.read_text()


def cached(product: Product, agent: str) -> bool:
    return _cache(agent).exists()


def _cache(agent: str) -> Path:
    return Path(f"/tmp/hook-cache-{md5(f'/work/{agent}.ts'.encode(), usedforsecurity=False).hexdigest()}")


def counted(prefix: str) -> Callable[[Product, str], bool]:
    return lambda product, agent: any(path.name.startswith(prefix) for path in _temporary() - product.before)


EXAMPLES: Mapping[str, Example] = {
    "claude-audit.sh": Example("claude-code", "Bash", effect=audited, event="PreToolUse"),
    "claude-cache.sh": Example("claude-code", "Write", "allow", cached, "PreToolUse", "Write|Edit"),
    "claude-database.sh": Example("claude-code", "Bash", effect=called("psql", "INSERT INTO"), event="PreToolUse"),
    "claude-metrics.sh": Example("claude-code", "Bash", effect=called("nc", "8125"), event="PreToolUse"),
    "claude-rate-limit.sh": Example(
        "claude-code", "Bash", effect=counted("hook-rate-"), event="PreToolUse", matcher="Bash"
    ),
    "claude-secrets.sh": Example(
        *("claude-code", "Write", "deny"),
        event="PreToolUse",
        matcher="Write|Edit",
        reason="Potential secret detected",
    ),
    "claude-slack.sh": Example("claude-code", "Bash", "deny", called("curl", "blocked Bash"), "PreToolUse", "Bash"),
    "claude-track-start.sh": Example("claude-code", "start", effect=counted("build-count-"), event="SessionStart"),
    "claude-track-stop.sh": Example("claude-code", "end", "deny", event="Stop"),
    "claude-track-tools.sh": Example(
        "claude-code", "done", effect=counted("test-count-"), event="PostToolUse", matcher="Bash"
    ),
    "shelley-files.sh": Example("shelley", "slash"),
    "starchild-block.sh": Example("starchild", "Bash", "deny", reason="refusing destructive command: rm -rf /"),
    "x-code-lint.js": Example("x-code", "Write", "deny", called("eslint", ".ts"), reason="Lint failed:\nunused"),
}


# Claude Code's other scripts and their status; they have no visible effect.
OTHERS = {
    "claude-error-handling.sh": "ok",
    "claude-exit-1.sh": "failed",
    "claude-only-in-ci.sh": "ok",
    "claude-quick-check.sh": "ok",
    "claude-state-1.sh": "ok",
    "claude-state-2.sh": "ok",
    "claude-trusted-user.sh": "ok",
}


def _temporary() -> set[Path]:
    return {path for pattern in TEMPORARY for path in Path("/tmp").glob(pattern)}


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray that has each format's own file as a source, with its examples as they are printed."""
    if sys.platform == "win32":
        pytest.skip("the scripts are for a POSIX shell")
    before = _temporary()
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("pairs"))
        for name in PROGRAMS:
            text = f'#!/bin/sh\necho "{name} $*" >>{product.home}/{name}.log\necho unused\nexit 1\n'
            product.write(f"bin/{name}", text)
        patch.setenv("HOME", str(product.home))
        patch.setenv("PATH", f"{product.home}/bin:{os.environ['PATH']}")
        _declare(product)
        product.before = before
        yield product.start()
        product.close()
    for left in (*(_temporary() - before), *map(_cache, WRITE)):
        left.unlink(missing_ok=True)


def _declare(product: Product) -> None:
    others = [product.script(f"hooks/{name}", seed=name) for name in OTHERS]
    handlers = [{"type": "command", "command": f"bash {path}"} for path in others]
    groups: dict[str, list[Any]] = {"PreToolUse": [{"matcher": "Check", "hooks": handlers}]}
    for name, example in EXAMPLES.items():
        if example.event:
            handler = {"type": "command", "command": f"bash {product.script(f'hooks/{name}', seed=name)}"}
            matcher = {"matcher": example.matcher} if example.matcher else {}
            groups.setdefault(example.event, []).append({**matcher, "hooks": [handler]})
    settings = product.write(".claude/settings.json", json.dumps({"hooks": groups}), 0o644)
    product.source("claude-code", settings)
    product.script(".config/shelley/hooks/slash/files", seed="shelley-files.sh")
    product.source("shelley", product.home / ".config/shelley/hooks", only=FOUR)
    product.script("workspace/starchild-block.sh", seed="starchild-block.sh")
    product.starchild({"event": "pre_tool_call", "matcher": "rm -rf", "command": "./starchild-block.sh"})
    product.script("plugin/hooks/lint.js", seed="x-code-lint.js")
    hook = {"matcher": "writeFile|edit", "command": "node ${pluginDir}/hooks/lint.js", "timeout": 30000}
    manifest = product.write("plugin/plugin.json", json.dumps({"name": "p", "hooks": {"PreToolUse": [hook]}}), 0o644)
    product.source("x-code", manifest.parent)


NAMES = {"shelley-files.sh": "slash/files", "x-code-lint.js": "lint"}


@every(("on", "agent"), [(on, agent) for on, calls in CALLS.items() for agent in calls])
def test_an_example_does_its_work_on_every_agent_that_has_its_event(everywhere: Product, on: str, agent: str) -> None:
    """One event runs all examples that match it."""
    examples = {name: example for name, example in EXAMPLES.items() if example.on == on}
    event, payload = CALLS[on][agent]
    note = f"{on} on {agent}"
    for program in PROGRAMS:
        (everywhere.home / f"{program}.log").unlink(missing_ok=True)

    everywhere.write("a.txt", "text of a\n", 0o644)
    session = {"session_id": note, "conversation_id": note, "cwd": str(everywhere.home), "note": note}
    environment = {"SHELLEY_SLASH_ARGS": "a.txt"}
    done = everywhere.ask(agent, event, {**payload, **session}, env=environment)

    for name, example in examples.items():
        hook_name = NAMES.get(name, name.rpartition(".")[0])
        hook = wait(partial(outcome, everywhere, note, hook_name), 60, f"the row of {note}")
        assert (hook["status"], hook["verdict"]) == ("ok", example.verdict), name
        assert example.reason in str(hook["reason"]), name
        wait(partial(example.effect, everywhere, agent), what=f"what {name} does")
    said = done.stdout.decode() + done.stderr.decode()
    if on != "end" and any(example.verdict == "deny" for example in examples.values()):
        assert any(f'"{word}"' in said for word in ("deny", "block"))
    if on == "slash":
        assert "=== a.txt ===\ntext of a\n" in said


def outcome(product: Product, note: str, name: str) -> Mapping[str, Any] | None:
    """What this hook did about the event with this note."""
    rows = open_stores(product.paths, create=False).journal.recent(200)
    hooks = [hook for row in rows if note in row.payload for hook in row.hooks if hook["name"] == name]
    return hooks[0] if hooks else None


@every(("on", "agent"), [(on, agent) for on in CALLS for agent in FOUR if agent not in CALLS[on]])
def test_where_an_example_is_not_asked_the_agent_has_no_such_event_or_cannot_carry_its_answer(
    on: str, agent: str
) -> None:
    assert KINDS[on] not in {spec.kind.value for spec in AGENTS[agent].events.values()}


def test_a_printed_script_runs_as_it_stands(everywhere: Product) -> None:
    call = {"tool_name": "Check", "tool_input": {"command": "ls"}, "note": "the other scripts"}

    answer = everywhere.answer("claude-code", "PreToolUse", call, env={"CI": "1", "USER": "admin"})

    found = {hook["name"]: (hook["status"], hook["verdict"]) for hook in everywhere.row("the other scripts").hooks}
    expected = {name.removesuffix(".sh"): (status, "abstain") for name, status in OTHERS.items()}
    assert {name: found[name] for name in expected} == expected
    assert answer == {}


def test_the_slash_command_puts_the_files_into_the_message(everywhere: Product) -> None:
    for name in ("a.txt", "b.txt"):
        everywhere.write(name, f"text of {name}\n", 0o644)
    payload = {"command": "files", "cwd": str(everywhere.home)}

    def asked(words: str) -> subprocess.CompletedProcess[bytes]:
        said = payload | {"raw_message": f"/files {words}", "args": words}
        environment = {"SHELLEY_SLASH_COMMAND": "files", "SHELLEY_SLASH_ARGS": words}
        return everywhere.ask("shelley", "slash/files", said, env=environment)

    done, missing = asked("a.txt b.txt"), asked("no.txt")

    text = done.stdout.decode()
    assert text.startswith("Here are the files you asked about:\n\n=== a.txt ===\ntext of a.txt\n\n=== b.txt ===\n")
    assert missing.returncode != 0
    assert "no.txt" in missing.stderr.decode()


def test_the_printed_cache_answers_the_second_time_from_its_file(everywhere: Product) -> None:
    event, payload = WRITE["claude-code"]
    everywhere.ask("claude-code", event, {**payload, "note": "the first time"})
    _cache("claude-code").write_text('{"decision": "block", "reason": "from its file"}')

    answer = everywhere.ask("claude-code", event, {**payload, "note": "the second time"})

    assert b"claude-cache (Hooktray): from its file" in answer.stdout
    _cache("claude-code").unlink()


def test_every_printed_script_is_run() -> None:
    run = {*EXAMPLES, *OTHERS, "claude-project-config.sh"}

    assert {path.name for path in SCRIPTS.iterdir() if path.suffix in (".sh", ".js")} == run
