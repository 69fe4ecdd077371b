"""Where an agent loads code that can answer in place of hooks, no tool of an agent writes; plain texts pass."""

from __future__ import annotations

from typing import Any

from every import every
from protection.calls import event, lines, pairs, shell, verdict

from tray.model.decision import Verdict

# Files that make a skill or a plugin answer an agent's events.
CODE = [
    ".claude/skills/x/.claude-plugin/plugin.json",
    ".claude/skills/x/hooks/hooks.json",
    ".claude/skills/x/hooks/register.js",
    ".claude/skills/x/register.mjs",
    "~/.claude/skills/x/.claude-plugin/plugin.json",
    "~/.claude/skills/x/hooks/register.ts",
    "~/.claude/dev-mods/s1/register.js",
    "~/.claude/dev-mods/s1/hooks/hooks.json",
    "~/.claude/plugins/cache/m/n/1/hooks/hooks.json",
    "~/.claude/plugins/cache/m/n/1/register.js",
    "~/.claude/plugins/installed_plugins.json",
    "~/.claude/plugins/known_marketplaces.json",
    "~/.gemini/extensions/x/hooks/hooks.json",
    "~/.qwen/extensions/x/qwen-extension.json",
    ".opencode/plugin/x.ts",
]
LINE = "Look at !`git status` first."
SHELL_TEXTS = [
    (".claude/skills/x/SKILL.md", f"---\nname: x\n---\n{LINE}\n"),
    (".claude/skills/x/SKILL.md", "---\nname: x\nhooks:\n  PreToolUse: []\n---\nText\n"),
    (".claude/skills/x/SKILL.md", "# x\n\n```!\ngit status\n```\n"),
    ("~/.claude/skills/x/SKILL.md", LINE),
    (".claude/commands/deploy.md", LINE),
    (".claude/commands/team/deploy.md", LINE),
    (".claude/agents/x.md", "---\nname: x\nhooks:\n  Stop: []\n---\n"),
    (".gemini/commands/x.toml", 'prompt = "Look at !{git status}"'),
    (".qwen/commands/x.md", "Look at !{git status}"),
    (".opencode/command/x.md", LINE),
]
PLAIN_TEXTS = [
    (".claude/skills/x/SKILL.md", "---\nname: x\ndescription: Does x!\n---\nRun `git status`. Great!\n"),
    (".claude/skills/x/reference.md", "# The hooks: a guide\n"),
    (".claude/skills/x/scripts/run.py", LINE),
    (".claude/skills/x/data/rows.json", "{}"),
    (".claude/commands/deploy.md", "Deploy with `make deploy`!\n"),
    (".claude/agents/x.md", "---\nname: x\n---\nYou write hooks.\n"),
    (".gemini/commands/x.toml", 'prompt = "Hello!"'),
    ("docs/skills/x/SKILL.md", LINE),
    ("src/register.js", "x"),
    ("hooks/register.js", "x"),
]


def edits(path: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    patch = "\n".join(f"+{line}" for line in text.splitlines())
    return [
        ("Write", {"file_path": path, "content": text}),
        ("Edit", {"file_path": path, "old_string": "", "new_string": text}),
        ("MultiEdit", {"file_path": path, "edits": [{"old_string": "a", "new_string": text}]}),
        ("apply_patch", {"input": f"*** Begin Patch\n*** Add File: {path}\n{patch}\n*** End Patch"}),
        ("Bash", {"command": f"cat > {path} <<'E'\n{text}E"}),
    ]


@every(("way", "path"), pairs(lines("ways to bring code"), CODE))
def test_no_shell_line_brings_code_that_answers_for_hooks(way: str, path: str) -> None:
    home = path.replace("~", "/home/u")  # in code nobody expands it

    assert shell(way.replace("{p}", home)) >= Verdict.ASK
    assert shell("echo x > " + path) is Verdict.DENY


@every("path", CODE)
def test_no_file_tool_does(path: str) -> None:
    assert verdict(event("Write", {"file_path": path, "content": "x"})) is Verdict.DENY
    assert verdict(event("Edit", {"file_path": path, "old_string": "a", "new_string": "b"})) is Verdict.DENY
    assert verdict(event("mcp__fs__write_file", {"path": path, "content": "x"})) >= Verdict.ASK


@every("line", lines("ways to bring a folder of code"))
def test_a_folder_that_may_bring_such_code_is_asked_about(line: str) -> None:
    assert shell(line) is Verdict.ASK


@every(("path", "text"), SHELL_TEXTS)
def test_a_text_with_a_shell_line_is_asked_about(path: str, text: str) -> None:
    judged = {tool: verdict(event(tool, input)) for tool, input in edits(path, text)}

    assert judged == dict.fromkeys(judged, Verdict.ASK)
    assert verdict(event("mcp__fs__write_file", {"path": path, "content": text})) is Verdict.ASK
    assert shell(f"cp /tmp/x {path}") is Verdict.ASK


@every(("path", "text"), PLAIN_TEXTS)
def test_a_text_without_one_passes(path: str, text: str) -> None:
    judged = {tool: verdict(event(tool, input)) for tool, input in edits(path, text)}

    assert judged == dict.fromkeys(judged, Verdict.ABSTAIN)


@every("line", lines("harmless to skills"))
def test_other_calls_about_skills_are_free(line: str) -> None:
    assert shell(line) is Verdict.ABSTAIN


@every("member", ["prependPlugins", "enabledPlugins", "extraKnownMarketplaces", "env", "disableAllHooks"])
@every("path", [".claude/settings.json", ".claude/settings.local.json", "~/.claude/settings.json"])
def test_no_settings_file_gets_a_switch_of_hooks_or_plugins(path: str, member: str) -> None:
    content = f'{{"{member}": {{"CLAUDE_CODE_SIMPLE": "1"}}}}'

    assert verdict(event("Write", {"file_path": path, "content": content})) is Verdict.DENY
