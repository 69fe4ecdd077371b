"""What worked in part only by the documents that the formats come from, named after what its user wanted."""

from __future__ import annotations

import json

from connect.sites import NOTHING_ARRIVED
from seeds.product import SCRIPTS, Product

from tray.agents.connection import Site
from tray.approvals.checks import ImportCheck
from tray.connect import apply_connect, connectors
from tray.connect.hook_import import import_hooks
from tray.doctor.agent_sites import site
from tray.doctor.agent_status import AgentStatus, agent_statuses
from tray.sources.configuration import load

BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
SHELL = {"tool": {"name": "shell", "args": {"command": "ls"}, "callId": "1"}, "session": {"modelId": "m"}}


def test_the_slack_hook_of_a_settings_file_gets_its_webhook_once_a_person_grants_it(product: Product) -> None:
    product.write("bin/curl", f'#!/bin/sh\necho "$@" >>{product.home}/called\n')
    slack = product.script(".claude/slack.sh", seed="claude-slack.sh")
    handler = {"type": "command", "command": f"PATH={product.home}/bin:$PATH bash {slack}"}
    groups = {"PreToolUse": [{"hooks": [handler]}]}
    settings = product.write(".claude/settings.json", json.dumps({"hooks": groups}), 0o644)
    environment = {"SLACK_WEBHOOK": "https://hooks.example/T0", "OTHER_SECRET": "no"}
    product.source("claude-code", settings).start(grants=["SLACK_WEBHOOK"])

    product.answer("claude-code", "PreToolUse", BASH, env=environment)

    assert "https://hooks.example/T0" in (product.home / "called").read_text().splitlines()[-1]


def test_a_plugin_finds_its_token_once_a_person_grants_it(product: Product) -> None:
    command = f'cat >/dev/null; printf \'%s|%s\' "${{env:GITHUB_TOKEN}}" "${{env:API_KEY}}" >{product.home}/out'
    manifest = {"name": "p", "hooks": {"PreToolUse": [{"command": command}]}}
    path = product.write("p/plugin.json", json.dumps(manifest), 0o644)
    product.source("x-code", path.parent).start(grants=["GITHUB_TOKEN"])

    product.ask("x-code", "PreToolUse", SHELL, env={"GITHUB_TOKEN": "token", "API_KEY": "key"})

    assert (product.home / "out").read_text() == "token|"


def test_a_file_that_a_plugins_hook_writes_into_its_folder_is_there_the_next_time(product: Product) -> None:
    command = f"cat >/dev/null; echo run >>${{pluginDir}}/runs.log; cp ${{pluginDir}}/runs.log {product.home}/seen"
    manifest = {"name": "p", "hooks": {"PreToolUse": [{"command": command}]}}
    product.source("x-code", product.write("p/plugin.json", json.dumps(manifest), 0o644).parent).start()
    product.ask("x-code", "PreToolUse", SHELL)
    before = (product.home / "seen").read_text()

    product.ask("x-code", "PreToolUse", SHELL)

    assert (product.home / "seen").read_text() == f"{before}run\n"


def test_a_slash_command_that_came_after_connect_is_told_of_with_the_command_that_takes_it_in(
    product: Product,
) -> None:
    place = site(product.start().paths, product.home)
    apply_connect(place, "shelley", connectors()["shelley"].connect(place))
    product.write(".config/shelley/hooks/slash/files", "#!/bin/sh\ncat\n")

    late = _state(place)
    apply_connect(place, "shelley", connectors()["shelley"].connect(place))
    taken_in = _state(place)

    assert late.stale
    assert any("hooktray connect shelley" in advice for advice in late.advice)
    assert not taken_in.stale
    assert "slash/files" in taken_in.events


def test_a_printed_agent_hook_has_the_time_that_its_file_says(product: Product) -> None:
    printed = json.loads((SCRIPTS / "claude-stop-agent.json").read_text())
    settings = product.write(".claude/settings.json", json.dumps({"hooks": printed}), 0o644)
    found = load(product.source("claude-code", settings).paths)

    assert [(hook.timeout, found.warnings) for hook in found.hooks] == [(120, ())]


def test_the_starchild_seeds_own_example_can_be_imported_with_its_relative_path(product: Product) -> None:
    product.script("workspace/extensions/block.sh", seed="starchild-block.sh")
    text = "hooks:\n  - event: pre_tool_call\n    matcher: rm -rf\n    command: ./extensions/block.sh\n"
    file = product.write("workspace/config/shell_hooks.yaml", text, 0o644)
    place = site(product.paths, product.home, scope="user")
    apply_connect(place, "starchild", import_hooks(place, "starchild", ImportCheck()))
    product.start()

    answer = product.answer(
        "starchild", "pre_tool_call", {"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}
    )

    assert "extensions" not in file.read_text()
    assert answer["decision"] == "block"


def test_a_hook_finds_what_an_earlier_events_hook_left_in_a_file(product: Product) -> None:
    state = product.home / "state"
    groups = {
        "SessionStart": [{"hooks": [{"type": "command", "command": f"echo begun >{state}"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": f"if grep -qs begun {state}; then exit 2; fi"}]}],
    }
    settings = product.write(".claude/settings.json", json.dumps({"hooks": groups}), 0o644)
    product.source("claude-code", settings).start()
    state.unlink(missing_ok=True)  # of a test run after the approval

    before = product.answer("claude-code", "PreToolUse", BASH)
    product.answer("claude-code", "SessionStart")
    after = product.answer("claude-code", "PreToolUse", BASH)

    assert before == {}
    assert after["hookSpecificOutput"]["permissionDecision"] == "deny"


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


def _state(place: Site) -> AgentStatus:
    return next(one for one in agent_statuses(place, NOTHING_ARRIVED) if one.agent == "shelley")
