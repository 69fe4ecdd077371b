"""What surprised people who used Hooktray by its formats' documents, in the words of what they saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import wait
from hosts import claude_code
from seeds.product import Product

from tray.agents.registry import AGENTS
from tray.approvals.checks import ImportCheck
from tray.connect import apply_connect, connectors
from tray.connect.hook_import import import_hooks
from tray.doctor.agent_sites import site

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def settings(product: Product) -> Path:
    return product.home / ".claude" / "settings.json"


def counting(product: Product) -> str:
    """A hook that writes one line for each of its runs."""
    return str(product.write("runs.sh", f"#!/bin/sh\ncat >/dev/null\necho run >>{product.home}/runs\n"))


def runs(product: Product) -> int:
    log = product.home / "runs"
    return log.read_text().count("run") if log.exists() else 0


def states(product: Product) -> list[str]:
    return [row["state"] for row in product.live.rows("list")]


def connect(product: Product, agent: str = "claude-code") -> None:
    place = site(product.paths, product.home)
    apply_connect(place, agent, connectors()[agent].connect(place))


def call(product: Product, note: str) -> None:
    """A tool call of Claude Code, which runs each hook of its settings by itself."""
    body = json.loads(AGENTS["claude-code"].protocol.sample("PreToolUse")) | CALL | {"prompt_id": note}
    body["cwd"] = str(product.home)
    claude_code.run(str(settings(product)), "PreToolUse", json.dumps(body).encode())


def test_a_guard_slower_than_its_limit_has_the_user_asked_and_does_not_let_the_call_through(product: Product) -> None:
    """Where the agent can ask; another one's call goes on, and the row and a critical notification say so."""
    product.write("h/config/slow.sh", "#!/bin/sh\ncat >/dev/null\nexec sleep 60\n")
    product.hook(event="tool_before", command="./slow.sh", timeout=1).start()

    asked = product.answer("claude-code", "PreToolUse", CALL)
    let_through = product.answer("starchild", "pre_tool_call", {"tool_name": "bash", "tool_input": {"note": "on"}})

    assert asked["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert "timed out" in asked["hookSpecificOutput"]["permissionDecisionReason"]
    assert let_through == {}
    (hook,) = product.row('"note"').hooks
    assert (hook["status"], hook["let_through"]) == ("timed_out", True)


def test_a_hook_of_a_source_runs_once_although_its_agent_is_connected_afterwards(product: Product) -> None:
    product.claude("PreToolUse", {"command": counting(product)}).start()
    before = runs(product)  # the test run after its approval

    connect(product)
    wait(lambda: product.live.switch().agent_runs, what="the tray sees that the agent runs it")
    call(product, "the call of the connected agent")

    assert product.row("the call of the connected agent").hooks == ()
    assert runs(product) == before + 1
    assert product.live.states() == {"runs": "approved"}


def test_a_plugin_that_x_code_runs_is_not_run_by_us_as_well(product: Product) -> None:
    root = product.home / ".x-code" / "plugins"
    folder = root / "cache" / "market" / "lint" / "2"
    hooks = {"PreToolUse": [{"command": counting(product)}]}
    manifest = {"name": "lint", "version": "2", "hooks": hooks}
    product.write(str(folder / "plugin.json"), json.dumps(manifest), 0o644)
    record = {"id": "lint@market", "name": "lint", "marketplace": "market", "version": "2"}
    product.write(str(root / "installed_plugins.json"), json.dumps({"plugins": [record]}), 0o644)
    product.source("x-code", folder).start()
    before = runs(product)

    connect(product, "x-code")
    wait(lambda: product.live.switch().agent_runs, what="the tray sees that the agent runs it")
    product.answer("x-code", "PreToolUse")
    product.answer("claude-code", "PreToolUse", CALL)

    assert runs(product) == before + 1  # for Claude Code


def test_other_agents_ask_a_hook_that_its_own_agent_runs_by_itself(product: Product) -> None:
    product.claude("PreToolUse", {"command": counting(product)}).start()
    connect(product)
    wait(lambda: product.live.switch().agent_runs, what="the tray sees that the agent runs it")
    before = runs(product)

    product.answer("starchild", "pre_tool_call", {"tool_name": "bash", "tool_input": {"command": "ls"}})

    assert runs(product) == before + 1


def test_a_guard_taken_out_of_its_agents_file_goes_on_guarding_that_agent(product: Product) -> None:
    guard = product.write("guard.sh", "#!/bin/sh\ncat >/dev/null\necho no >&2\nexit 2\n")
    product.claude("PreToolUse", {"command": str(guard)}).start()
    connect(product)
    wait(lambda: product.live.switch().agent_runs, what="the tray sees that the agent runs it")

    document = json.loads(settings(product).read_text())
    own = [group for group in document["hooks"]["PreToolUse"] if str(guard) not in json.dumps(group)]
    document["hooks"]["PreToolUse"] = own
    settings(product).write_text(json.dumps(document))

    wait(lambda: product.answer("claude-code", "PreToolUse", CALL), what="the approved copy guards again")


def test_a_hook_of_a_source_runs_once_although_it_is_imported_afterwards(product: Product) -> None:
    product.claude("PreToolUse", {"command": counting(product)}).start()
    connect(product)
    place = site(product.paths, product.home, scope="user")
    apply_connect(place, "claude-code", import_hooks(place, "claude-code", ImportCheck()))
    wait(lambda: "pending" in states(product), what="the imported hook waits")
    product.approve()
    before = runs(product)

    call(product, "the call after the import")

    hooks = product.row("the call after the import").hooks
    assert runs(product) == before + 1
    assert sorted(str(hook["status"]) for hook in hooks) == ["ok", "skipped"]


@pytest.mark.parametrize("disabled", [False, True])
def test_list_does_not_name_our_own_relay_in_a_connected_file(product: Product, disabled: bool) -> None:
    product.claude("PreToolUse", {"command": counting(product)})
    connect(product)
    document = json.loads(settings(product).read_text())
    settings(product).write_text(json.dumps(document | {"disableAllHooks": disabled}))
    product.start(approve=not disabled)

    assert list(product.live.states()) == ["runs"]


def test_list_does_not_name_our_own_executables_in_shelleys_folder(product: Product) -> None:
    product.write(".config/shelley/hooks/slash/files", "#!/bin/sh\ncat\n")
    product.source("shelley", product.home / ".config/shelley/hooks")
    connect(product, "shelley")
    product.start()

    assert list(product.live.states()) == ["slash/files"]
    rows = product.live.rows("list")
    assert {row["source"] for row in rows} == {str(product.paths.config.parent / "shelley-hooks/slash/files")}


def test_doctor_has_one_line_for_a_file_that_its_agent_switched_off(product: Product) -> None:
    handlers = [{"command": f"echo {number} >/dev/null"} for number in range(54)]
    product.claude("PreToolUse", *handlers, disableAllHooks=True).start(approve=False)

    said = product.live.cli("doctor", "--static").stdout.decode()

    (line,) = [line for line in said.splitlines() if "disableAllHooks" in line]
    assert "and 50 more" in line
    attention = [line for line in said.splitlines() if line.startswith("attention ")]
    assert f", {len(attention)} attention, " in said.splitlines()[-1]


def test_without_a_model_prompt_hooks_say_so_once_and_name_the_cure(product: Product) -> None:
    prompts = [{"type": "prompt", "prompt": f"Question {number}? $ARGUMENTS"} for number in range(3)]
    product.claude("PreToolUse", *prompts).start()

    listed = [row["health"] for row in product.live.rows("list")]
    said = product.live.cli("doctor", "--static").stdout.decode()

    assert all("write `llm:` in hooktray.yaml" in health for health in listed)
    assert len(listed) == 3
    assert said.count("no llm configured") == 1
    assert said.count("write `llm:` in hooktray.yaml") == 1


def test_prompt_hooks_are_not_imported_below_a_tray_without_a_model(product: Product) -> None:
    product.claude("Stop", {"type": "prompt", "prompt": "Are the tests done?"})

    done = product.live.cli("import-hooks", "claude-code", "--dry-run")

    assert done.returncode == 1
    assert b"it asks a model, and no `llm:` of hooktray.yaml is confirmed" in done.stderr
    assert "Are the tests done?" in settings(product).read_text()
