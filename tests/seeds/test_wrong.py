"""What people found wrong who used Hooktray by the documents that its formats come from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk import wait
from seeds.product import SCRIPTS, Product

DESTRUCTIVE = {"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}
SAFE = {"tool_name": "bash", "tool_input": {"command": "ls"}}


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def test_a_log_that_a_hook_names_as_its_argument_grows(product: Product) -> None:
    product.write("workspace/audit.sh", '#!/bin/sh\nfile=${1#--log=}\ncat >>"$file"\necho >>"$file"\n')
    names = ("tee.log", "o.log", "workspace/audit.log")
    for name in names:
        product.write(name, "an earlier line\n", 0o644)
    lines = [f"tee -a {product.home}/tee.log", "./audit.sh ./audit.log", f"./audit.sh --log={product.home}/o.log"]
    product.starchild(*({"event": "pre_tool_call", "command": line} for line in lines)).start()

    product.ask("starchild", "pre_tool_call", SAFE)
    product.ask("starchild", "pre_tool_call", DESTRUCTIVE)

    for name in names:
        grown = (product.home / name).read_text()
        assert grown.startswith("an earlier line\n")
        assert grown.count('"tool_input"') == 2


def test_approve_finds_a_hook_by_its_event_and_command_as_the_source_writes_them(product: Product) -> None:
    product.write("workspace/g.sh", "#!/bin/sh\n")
    url = "https://guard.example.com/hook"
    product.starchild(
        {"event": "pre_tool_call", "command": "./g.sh"},
        {"event": "pre_tool_call", "type": "http", "url": url, "timeout": 10},
    ).start(approve=False)

    for words in ("pre_tool_call ./g.sh", "tool_before ./g.sh", "./g.sh", f"pre_tool_call {url}", url):
        answer = product.answer("starchild", "on_user_message", {"message": f"/hooks approve {words}"})
        assert "waits for your approval" in answer["reason"], words


@pytest.mark.parametrize("agent", ["starchild", "claude-code"])
def test_the_agents_own_switch_ends_its_hooks_though_they_are_approved(product: Product, agent: str) -> None:
    product.write("workspace/g.sh", "#!/bin/sh\necho no >&2\nexit 2\n")
    if agent == "starchild":
        product.starchild({"event": "pre_tool_call", "command": "./g.sh"}).start()
        event, payload = "pre_tool_call", DESTRUCTIVE
    else:
        product.claude("PreToolUse", {"command": str(product.home / "workspace/g.sh")}).start()
        event, payload = "PreToolUse", bash("rm -rf /")
    before = product.answer(agent, event, payload)

    if agent == "starchild":
        product.write("workspace/config/agent.yaml", "shell_hooks:\n  enabled: false\n", 0o644)
    else:
        product.claude("PreToolUse", {"command": str(product.home / "workspace/g.sh")}, disableAllHooks=True)

    assert before
    wait(lambda: product.answer(agent, event, payload) == {}, what="the tray follows the switch")
    assert set(product.live.states().values()) == {"inactive"}

    if agent == "starchild":
        product.write("workspace/config/agent.yaml", "shell_hooks:\n  enabled: true\n", 0o644)
    else:
        product.claude("PreToolUse", {"command": str(product.home / "workspace/g.sh")}, disableAllHooks=False)
    wait(lambda: product.answer(agent, event, payload) == before, what="and back")


def test_a_projects_switch_silences_no_hook_of_the_users_own(product: Product) -> None:
    guard = product.write("guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n")
    handler = {"type": "command", "command": str(product.write("other.sh", "#!/bin/sh\n"))}
    settings = {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}
    project = product.write("project/.claude/settings.json", json.dumps(settings), 0o644)
    product.claude("PreToolUse", {"command": str(guard)}).source("claude-code", project).start()

    project.write_text(json.dumps({**settings, "disableAllHooks": True}))

    wait(lambda: product.live.switch().agents_off, what="the tray follows the project's switch")
    assert product.live.states() == {"guard": "approved", "other": "inactive"}
    answer = product.answer("claude-code", "PreToolUse", {**bash("rm -rf /"), "cwd": str(product.home / "project")})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_rewrite_with_one_key_too_many_replaces_the_others(product: Product) -> None:
    answer = {"tool_input": {"command": "ls -l", "verbose": True}}
    product.write("workspace/g.sh", f"#!/bin/sh\ncat >/dev/null\necho '{json.dumps(answer)}'\n")
    product.starchild({"event": "pre_tool_call", "command": "./g.sh"}).start()

    assert product.answer("starchild", "pre_tool_call", SAFE) == {"tool_input": {"command": "ls -l"}}
    assert any("verbose" in one for one in product.row('"ls"').adjustments)


def test_hooks_without_a_word_lists(product: Product) -> None:
    product.write("workspace/g.sh", "#!/bin/sh\n")
    product.starchild({"event": "pre_tool_call", "command": "./g.sh"}).start()

    bare, listed = (
        product.answer("starchild", "on_user_message", {"message": word})["reason"]
        for word in ("/hooks", "/hooks list")
    )

    assert bare == listed
    assert "✓ g · pre_tool_call" in bare
    assert str(product.home / "workspace/config/shell_hooks.yaml") in bare


def test_the_starchild_seeds_yaml_is_read_as_hooktrays_own(product: Product) -> None:
    block = (SCRIPTS / "starchild-block.sh").read_text()
    product.write("h/config/extensions/shell_hooks/examples/block_secrets.py", block)
    product.hook(
        event="pre_tool_call",
        matcher="rm -rf|dd if=|mkfs",
        command="./extensions/shell_hooks/examples/block_secrets.py",
        timeout=10,
    ).start()

    assert product.live.states() == {"block_secrets": "approved"}
    assert product.answer("starchild", "pre_tool_call", DESTRUCTIVE)["decision"] == "block"
    assert product.answer("starchild", "pre_tool_call", SAFE) == {}


def test_doctor_does_not_call_a_hook_broken_that_its_own_matcher_keeps_out(product: Product) -> None:
    product.script("plugin/hooks/lint.js", seed="x-code-lint.js")
    product.script(".config/shelley/hooks/slash/files", seed="shelley-files.sh")
    product.source("x-code", product.write("plugin/plugin.json", PLUGIN, 0o644).parent)
    product.source("shelley", product.home / ".config/shelley/hooks").start()

    found = {row["name"]: row for row in product.live.cli_json("doctor") if row["check"] == "hook"}

    assert {name: row["health"] for name, row in found.items()} == {"lint": "ok", "slash/files": "ok"}
    assert "slash/files" in found["slash/files"]["message"]


def test_hooks_json_without_the_key_hooks_is_read(product: Product) -> None:
    product.write("guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n")
    groups = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": str(product.home / "guard.sh")}]}]
    }
    for name in ("hooks.json", ".claude/settings.json"):
        product.source("claude-code", product.write(name, json.dumps(groups), 0o644))
    product.start()

    assert product.live.states() == {"guard": "approved"}
    assert "looks for `PreToolUse` below `hooks`" in product.live.cli("doctor", "--static").stdout.decode()
    assert (
        product.answer("claude-code", "PreToolUse", bash("rm"))["hookSpecificOutput"]["permissionDecision"] == "deny"
    )


PLUGIN = """{
  "name": "ts-lint-gate",
  "version": "0.1.0",
  "hooks": {
    "PreToolUse": [{ "matcher": "writeFile|edit", "command": "node ${pluginDir}/hooks/lint.js" }],
  },
}
"""
