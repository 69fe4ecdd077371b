"""Hooks in the frontmatter of skills and agents, and where a source finds them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from tray.agents.claude_code.source import read
from tray.errors import ConfigError
from tray.model.hook import Command

SKILL = """\
    ---
    name: deploy
    description: Use this: when you deploy
    hooks:
      PreToolUse:
        - matcher: "Bash"
          hooks:
            - type: command
              command: "./check.sh"
              timeout: 5
      Stop:
        - hooks: [{type: command, command: ./done.sh}]
    model: opus
    ---
    Deploy it.
    """


def written(path: Path, text: str = SKILL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


def test_a_skills_hooks_are_read_with_their_own_lines_and_only_for_that_skill(tmp_path: Path) -> None:
    path = written(tmp_path / ".claude" / "skills" / "ship-it" / "SKILL.md")

    before, stop = read(path, (), {}).hooks

    assert (before.match.native, before.match.tool, before.timeout) == ("PreToolUse", "Bash", 5)
    assert before.match.skill == ("deploy", "ship-it")
    assert (before.source.line, stop.source.line) == (8, 12)
    assert isinstance(before.action, Command)
    assert (before.action.folder, before.match.project) == (str(path.parent), str(tmp_path))
    assert (stop.match.native, stop.match.event) == ("Stop", "turn_end")


@pytest.mark.parametrize("event", ["PostToolUse", "SessionStart", "UserPromptSubmit", "Notification"])
def test_a_skills_hooks_may_be_for_any_event(tmp_path: Path, event: str) -> None:
    path = written(tmp_path / ".claude" / "skills" / "ship-it" / "SKILL.md", SKILL.replace("PreToolUse", event))

    first, _ = read(path, (), {}).hooks

    assert (first.match.native, first.match.skill, first.inactive) == (event, ("deploy", "ship-it"), "")


def test_an_agents_stop_is_the_end_of_a_subagent(tmp_path: Path) -> None:
    path = written(tmp_path / "agents" / "reviewer.md", SKILL.replace("name: deploy", "name: code-reviewer"))

    before, stop = read(path, (), {}).hooks

    assert (before.match.subagent, before.match.skill) == ("code-reviewer", ())
    assert (stop.match.native, stop.match.event) == ("SubagentStop", "subagent_end")


def test_an_agent_without_a_name_goes_by_its_file(tmp_path: Path) -> None:
    path = written(tmp_path / "agents" / "reviewer.md", SKILL.replace("name: deploy", "color: red"))

    assert read(path, (), {}).hooks[0].match.subagent == "reviewer"


@pytest.mark.parametrize("text", ["no fence\nhooks: {}\n", "---\nname: x\n---\nhooks: {}\n", "---\nhooks:\n", ""])
def test_a_file_without_hooks_in_its_frontmatter_yields_none(tmp_path: Path, text: str) -> None:
    found = read(written(tmp_path / "skills" / "x" / "SKILL.md", text), (), {})

    assert (found.hooks, found.warnings) == ((), ())


def test_a_malformed_hook_is_told_with_its_line_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "skills" / "x" / "SKILL.md", SKILL.replace("Stop:", "Stopp:"))

    found = read(path, (), {})

    assert len(found.hooks) == 1
    assert found.warnings == (f"{path}:11:3: hooks.Stopp: unknown event `Stopp`\n  did you mean `Stop`?",)


def test_hooks_that_are_no_yaml_are_told_with_their_line(tmp_path: Path) -> None:
    path = written(tmp_path / "skills" / "x" / "SKILL.md", "---\nname: x\nhooks: [a\n---\n")

    with pytest.raises(ConfigError, match=re.escape(f"{path}:") + r"\d"):
        read(path, (), {})


def test_a_settings_file_brings_the_skills_commands_and_agents_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    written(
        folder / "settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./own.sh"}]}]}}'
    )
    written(folder / "skills" / "deploy" / "SKILL.md")
    written(folder / "commands" / "ops" / "rollout.md")
    written(folder / "agents" / "reviewer.md")
    broken = written(folder / "agents" / "broken.md", "---\nhooks: [a\n---\n")

    found = read(folder / "settings.json", (), {})

    scopes = [(hook.match.skill, hook.match.subagent) for hook in found.hooks]
    assert scopes == [
        ((), ""),
        *[(("deploy",), "")] * 2,
        *[((), "deploy")] * 2,
        *[(("deploy", "rollout"), "")] * 2,
    ]
    assert found.warnings[0].startswith(f"{broken}:")
    assert {str(folder / "skills"), str(folder / "skills" / "deploy"), str(broken)} <= set(found.watched)
    assert {hook.match.project for hook in found.hooks} == {str(tmp_path)}


def test_what_switches_a_settings_file_off_switches_its_skills_off(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    written(folder / "settings.json", '{"disableAllHooks": true}')
    written(folder / "skills" / "deploy" / "SKILL.md")

    assert all("disableAllHooks" in hook.inactive for hook in read(folder / "settings.json", (), {}).hooks)


HANDLER = {"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh"}]}


def plugin(root: Path, hooks: object = None) -> Path:
    manifest = {"name": "lint"} | ({} if hooks is None else {"hooks": hooks})
    written(root / ".claude-plugin" / "plugin.json", json.dumps(manifest))
    return root


@pytest.mark.parametrize(
    "hooks",
    [
        {"Stop": [HANDLER]},
        {"hooks": {"Stop": [HANDLER]}},
        "./config/more.json",
        ["./config/more.json"],
        "${CLAUDE_PLUGIN_ROOT}/config/more.json",
    ],
)
def test_a_manifest_has_hooks_inline_or_names_their_files(tmp_path: Path, hooks: object) -> None:
    root = plugin(tmp_path / "lint", hooks)
    written(root / "config" / "more.json", json.dumps({"hooks": {"Stop": [HANDLER]}}))

    (hook,) = read(root, (), {}).hooks

    assert isinstance(hook.action, Command)
    assert (hook.match.native, hook.action.plugin) == ("Stop", str(root))


def test_a_plugins_usual_file_and_its_manifest_both_count_once(tmp_path: Path) -> None:
    root = plugin(tmp_path / "lint", ["./hooks/hooks.json", {"Stop": [HANDLER]}])
    written(root / "hooks" / "hooks.json", json.dumps({"hooks": {"PreToolUse": [HANDLER]}}))

    assert [hook.match.native for hook in read(root, (), {}).hooks] == ["PreToolUse", "Stop"]


def test_a_manifest_names_no_file_outside_of_the_plugin(tmp_path: Path) -> None:
    root = plugin(tmp_path / "lint", ["../other.json", {"Stop": [HANDLER]}])

    found = read(root / ".claude-plugin" / "plugin.json", (), {})

    assert len(found.hooks) == 1
    assert "hooks[0]: `../other.json` is outside of the plugin" in found.warnings[0]


def test_a_plugins_skills_and_agents_carry_its_name(tmp_path: Path) -> None:
    root = plugin(tmp_path / "lint")
    written(root / "skills" / "ship" / "SKILL.md", SKILL.replace("./check.sh", "${CLAUDE_PLUGIN_ROOT}/check.sh"))
    agent = written(root / "agents" / "reviewer.md")

    found = read(root, (), {})

    assert found.hooks[0].match.skill == ("lint:deploy", "lint:ship")
    assert isinstance(found.hooks[0].action, Command)
    assert found.hooks[0].action.plugin == str(root)
    assert found.hooks[2].match.subagent == "lint:deploy"
    assert read(agent, (), {}).hooks[0].match.subagent == "lint:deploy"
