from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tray.agents.claude_code.settings_hooks import read
from tray.model.hook import OMITTED_WHEN_EMPTY, AsyncMode, Command, Failure, Hook, restore
from tray.reading.entries import SourceHooks


def settings(folder: Path, hooks: Any, name: str = "settings.json", **more: Any) -> SourceHooks:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({**more, "hooks": hooks}, indent=1))
    return read(folder / name, ())


def one(folder: Path, event: str = "PreToolUse", matcher: str | None = None, **handler: Any) -> Hook:
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": "./guard.sh", **handler}]}
    found = settings(folder, {event: [group | ({} if matcher is None else {"matcher": matcher})]})
    (hook,) = found.hooks
    return hook


def test_a_settings_file_yields_its_hooks_for_every_agent(tmp_path: Path) -> None:
    (hook,) = settings(
        tmp_path,
        {"PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "./guard.sh a"}]}]},
        model="opus",
    ).hooks

    assert (hook.match.event, hook.match.agents, hook.match.tool) == ("tool_before", (), "Bash|Write")
    assert (hook.match.format, hook.match.native, hook.dialect) == ("claude-code", "PreToolUse", "claude-code")
    assert isinstance(hook.action, Command)
    assert (hook.action.line, hook.action.shell, hook.action.interpreter) == ("./guard.sh a", True, "/bin/sh")
    assert hook.action.folder == str(tmp_path)
    assert (hook.name, hook.timeout, hook.failure, hook.source.line) == ("guard", 600, Failure.ALLOW, 8)


def test_the_exec_form_needs_no_shell(tmp_path: Path) -> None:
    hook = one(tmp_path, command="node", args=["a b.js", "$HOME"])

    assert isinstance(hook.action, Command)
    assert (hook.action.shell, hook.action.line) == (False, "node 'a b.js' '$HOME'")


@pytest.mark.parametrize(
    ("event", "matcher", "tool"),
    [("PreToolUse", None, ""), ("PreToolUse", "*", ""), ("PreToolUse", "mcp__.*", "mcp__.*"), ("Stop", "Bash", "")],
)
def test_a_matcher_counts_where_the_event_has_a_subject(
    tmp_path: Path, event: str, matcher: str | None, tool: str
) -> None:
    assert one(tmp_path, event, matcher).match.tool == tool


@pytest.mark.parametrize("matcher", ["a(b", "(?P<x>a)", "(?i)bash"])
def test_an_invalid_pattern_matches_nothing_and_is_told_with_its_column(tmp_path: Path, matcher: str) -> None:
    found = settings(tmp_path, {"Stop": [], "PreToolUse": [{"matcher": matcher, "hooks": [
        {"type": "command", "command": "x"}]}]})  # fmt: skip

    assert found.hooks[0].inactive == "its matcher matches nothing"
    assert f"{tmp_path / 'settings.json'}:6:5: hooks.PreToolUse[0].matcher: not a pattern" in found.warnings[0]


@pytest.mark.parametrize(("written", "seconds"), [(10, 10), (0.5, 0.5), (999, 999), (5000, 5), (1000, 1)])
def test_time_is_in_seconds_unless_that_cannot_be_meant(tmp_path: Path, written: float, seconds: float) -> None:
    handler = {"type": "command", "command": "x", "timeout": written}
    found = settings(tmp_path, {"Stop": [{"hooks": [handler]}]})

    assert found.hooks[0].timeout == seconds
    assert ["milliseconds" in warning for warning in found.warnings] == [True] * (written >= 1000)


def test_on_failure_blocks_where_the_agent_lets_it(tmp_path: Path) -> None:
    assert one(tmp_path, onFailure="block").failure is Failure.BLOCK
    assert one(tmp_path, "Stop", onFailure="block").failure is Failure.ALLOW


MALFORMED: list[tuple[Any, str]] = [
    ({"PreToolUze": []}, "unknown event `PreToolUze`\n  did you mean `PreToolUse`?"),
    ({"PreToolUse": {}}, "hooks.PreToolUse: expected a list"),
    ({"PreToolUse": ["x"]}, "hooks.PreToolUse[0]: expected keys and values"),
    ({"PreToolUse": [{"hooks": [{"type": "shell"}]}]}, "hooks.PreToolUse[0].hooks[0]: unknown type `shell`"),
    ({"PreToolUse": [{"hooks": [{"type": "command"}]}]}, "a command hook needs a command"),
    ({"PreToolUse": [{"hooks": [{"type": "command", "command": 3}]}]}, "command: expected text"),
    ({"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]}, "timeout: expected a number"),
    ({"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "args": [1]}]}]}, "args: expected texts"),
    ({"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "onFailure": "no"}]}]}, "unknown word `no`"),
    ({"PreToolUse": [{"matcher": 1, "hooks": []}]}, "matcher: expected text"),
]


@pytest.mark.parametrize(("hooks", "told"), MALFORMED, ids=[row[1][:30] for row in MALFORMED])
def test_a_malformed_entry_is_told_with_its_place_and_takes_no_sibling_down(
    tmp_path: Path, hooks: dict[str, Any], told: str
) -> None:
    good = {"hooks": [{"type": "command", "command": "./good.sh"}]}
    hooks = {event: [*groups, good] if isinstance(groups, list) else groups for event, groups in hooks.items()}

    found = settings(tmp_path, {**hooks, "Stop": [good]})

    assert found.warnings[0].startswith(f"{tmp_path / 'settings.json'}:")
    assert told in found.warnings[0]
    assert "Stop" in [hook.match.native for hook in found.hooks]
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        ({"type": "mcp_tool", "server": "s", "tool": "t"}, "`mcp_tool`"),
        ({"type": "command", "command": "x", "shell": "powershell"}, "powershell"),
    ],
)
def test_what_this_version_cannot_do_is_listed_and_says_so(
    tmp_path: Path, handler: dict[str, Any], reason: str
) -> None:
    (hook,) = settings(tmp_path, {"PreToolUse": [{"hooks": [handler]}]}).hooks

    assert reason in hook.inactive
    assert "not in this version" in hook.inactive


def test_what_a_handler_says_of_its_turn_is_read(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"async": True, "if": "Bash(git *)"}  # to Python, too
    hook = one(tmp_path, once=True, statusMessage="Linting", **keywords)

    assert (hook.once, hook.async_mode) == (True, AsyncMode.ASYNC)
    assert (hook.status, hook.match.condition) == ("Linting", "Bash(git *)")
    assert one(tmp_path, asyncRewake=True, onFailure="block").failure is Failure.ALLOW
    assert restore(hook.definition) == replace(hook, source=replace(hook.source, line=0))


def test_a_definition_from_before_these_fields_is_still_the_same(tmp_path: Path) -> None:
    assert OMITTED_WHEN_EMPTY.isdisjoint(json.loads(one(tmp_path).definition))


def test_a_condition_can_only_be_met_on_a_tools_events(tmp_path: Path) -> None:
    assert "PreToolUse" in one(tmp_path, "Stop", **{"if": "Bash(git *)"}).inactive
    assert one(tmp_path, "PostToolUse", **{"if": "Bash(git *)"}).inactive == ""


@pytest.mark.parametrize(
    "rule", ["Bash(git", "Bash(a) Bash(b)", "Agent(x)", "Edit(!*.ts)", "Edit([a]*)", "WebFetch(x)"]
)
def test_a_condition_that_is_not_understood_is_told_and_the_hook_stays(tmp_path: Path, rule: str) -> None:
    handler = {"type": "command", "command": "x", "if": rule}
    found = settings(tmp_path, {"PreToolUse": [{"hooks": [handler]}]})

    assert found.hooks[0].inactive == ""
    assert "so the hook runs whatever it says" in found.warnings[0]


@pytest.mark.parametrize(
    ("handler", "mode"),
    [
        ({"type": "command", "command": "x"}, AsyncMode.ASYNC),
        ({"type": "prompt", "prompt": "Done?"}, AsyncMode.NO),
        ({"type": "agent", "prompt": "Done?"}, AsyncMode.NO),
    ],
)
def test_async_counts_for_commands_only(tmp_path: Path, handler: dict[str, Any], mode: AsyncMode) -> None:
    (hook,) = settings(tmp_path, {"Stop": [{"hooks": [handler | {"async": True}]}]}).hooks

    assert hook.async_mode is mode


def test_a_source_that_its_host_switched_off_is_inactive(tmp_path: Path) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}

    assert "disableAllHooks" in settings(tmp_path, hooks, disableAllHooks=True).hooks[0].inactive
    assert settings(tmp_path, hooks, disableAllHooks=False).hooks[0].inactive == ""


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("hooktray relay claude-code PreToolUse", True),
        ("'/opt/my venv/bin/hooktray' --home /x relay claude-code", True),
        ("hooktray --home=/x relay claude-code", True),
        ("hooktray-hook claude-code Stop", True),
        ("./hooktray.sh", False),
        ("hooktray list", False),
    ],
)
def test_our_own_relay_is_no_hook_of_theirs(tmp_path: Path, line: str, own: bool) -> None:
    assert ("own relay" in one(tmp_path, command=line).inactive) is own


def test_a_projects_own_settings_are_for_that_project(tmp_path: Path) -> None:
    assert one(tmp_path / "api" / ".claude").match.project == str(tmp_path / "api")
    assert one(Path.home() / ".claude").match.project == ""


def test_a_plugins_hook_belongs_to_its_whole_folder(tmp_path: Path) -> None:
    handler = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh"}
    found = settings(
        tmp_path / "lint" / "hooks", {"Stop": [{"hooks": [handler]}]}, "hooks.json", description="a plugin"
    )

    assert isinstance(found.hooks[0].action, Command)
    assert found.hooks[0].action.plugin == str(tmp_path / "lint")
    assert found.warnings == ()
