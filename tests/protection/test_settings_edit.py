"""An edit of an agent's settings that has nothing to do with hooks passes; any other one is refused."""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from every import every
from msgspec.structs import replace
from protection.calls import event, lines
from protection.calls import shell as judged_line
from protection.calls import verdict as judged

from tray.model.decision import Verdict
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import Protection

HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "hooktray-hook claude-code"}]}]}
SETTINGS: dict[str, Any] = {
    "model": "opus",
    "hooks": HOOKS,
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Bash(rm *)"]},
    "enabledPlugins": {"guard@local": True},
}
FREE: list[dict[str, Any]] = [
    {"model": "haiku"},
    {"permissions": {"allow": ["Bash(ls)", "Bash(git status)"], "deny": []}},
    {"outputStyle": "short"},
]
# Claude Code passes over a whole file, with our entries, when a member has a type or a word that it does not know.
ASKED: list[dict[str, Any]] = [
    {"model": 5},
    {"spinnerTipsEnabled": "x"},
    {"cleanupPeriodDays": -1},
    {"permissions": {"allow": ["Bash(ls)"], "deny": [], "defaultMode": "perhaps"}},
    {"theme": "dark", "statusLine": {"type": "command", "command": "~/bin/line.sh"}},
]
REFUSED: list[dict[str, Any]] = [
    {"hooks": {}},
    {"hooks": {"PreToolUse": []}},
    {"hooks": {"PreToolUse": [{**HOOKS["PreToolUse"][0], "matcher": "Read"}]}},
    {"hooks": {**HOOKS, "Stop": [{"hooks": [{"type": "command", "command": "./evil"}]}]}},
    {"disableAllHooks": True},
    {"allowManagedHooksOnly": True},
    {"enabledPlugins": {}},
    {"env": {"CLAUDE_CONFIG_DIR": "/tmp/x"}},
    {"permissions": {"allow": ["Bash(hooktray off)"]}},
    {"permissions": {"allow": ["Edit(~/.claude/settings.json)"]}},
    {"permissions": {"defaultMode": "bypassPermissions"}},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(SETTINGS, indent=2))
    return path


NO_PLACES = ProtectedPaths(home="/home/u")
verdict = functools.partial(judged, places=NO_PLACES)
shell = functools.partial(judged_line, places=NO_PLACES)


def write(file: Path, text: str) -> Verdict:
    return verdict(event("Write", {"file_path": str(file), "content": text}))


@every(
    ("change", "expected"),
    [
        *((change, Verdict.ABSTAIN) for change in FREE),
        *((change, Verdict.ASK) for change in ASKED),
        *((change, Verdict.DENY) for change in REFUSED),
    ],
)
def test_a_whole_file_is_judged_by_what_it_changes(file: Path, change: dict[str, Any], expected: Verdict) -> None:
    assert write(file, json.dumps(SETTINGS | change)) is expected


def test_what_is_wrong_in_a_file_without_our_entries_is_none_of_our_business(file: Path) -> None:
    file.write_text("{}")

    assert write(file, '{"model": 5}') is Verdict.ABSTAIN


@every("text", ["", "{}", "[]", "no json", '{"hooks": {}, "hooks": %s}', '{"model": "x"}', "[" * 100_000])
def test_a_whole_file_without_the_hooks_or_unreadable_is_refused(file: Path, text: str) -> None:
    assert write(file, text.replace("%s", json.dumps(HOOKS))) is Verdict.DENY


@every(
    ("old", "new", "expected"),
    [
        ('"model": "opus"', '"model": "haiku"', Verdict.ABSTAIN),
        ('"Bash(ls)"', '"Bash(ls)", "Bash(git diff)"', Verdict.ABSTAIN),
        ('"matcher": "Bash"', '"matcher": "Read"', Verdict.DENY),
        ('"model": "opus"', '"model": "opus", "disableAllHooks": true', Verdict.DENY),
        ('"model": "opus",', "", Verdict.ABSTAIN),
        ("hooktray-hook", "true", Verdict.DENY),
        ("not in it", "x", Verdict.DENY),
        ('"', "'", Verdict.DENY),
    ],
)
@every("tool", ["Edit", "MultiEdit"])
def test_an_edit_is_judged_by_its_result(file: Path, old: str, new: str, expected: Verdict, tool: str) -> None:
    edit = {"old_string": old, "new_string": new}

    found = event(tool, {"file_path": str(file), **(edit if tool == "Edit" else {"edits": [edit]})})

    assert verdict(found) is expected


@every("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_with_which_no_agent_reads_the_file_is_refused(file: Path, constant: str) -> None:
    assert write(file, json.dumps(SETTINGS, indent=2).replace('"opus"', constant)) is Verdict.DENY


@every(
    "more",
    [
        {"content": json.dumps(SETTINGS)},
        {"edits": [{"old_string": "opus", "new_string": "haiku"}]},
        {"command": "insert", "insert_line": 1},
        {"append": True},
    ],
)
def test_a_call_that_says_in_two_ways_what_it_writes_is_refused(file: Path, more: dict[str, Any]) -> None:
    edit = {"file_path": str(file), "old_string": "opus", "new_string": "haiku"}

    assert verdict(event("Edit", edit)) is Verdict.ABSTAIN
    assert verdict(event("Edit", edit | more)) is Verdict.DENY


def test_replacing_all_of_a_text_that_is_missing_is_refused(file: Path) -> None:
    edit = {"old_string": "“PreToolUse”", "new_string": '"P"', "replace_all": True}

    assert verdict(event("Edit", {"file_path": str(file), **edit})) is Verdict.DENY


def test_a_file_with_the_line_ends_of_windows_is_edited_as_tools_show_it(file: Path) -> None:
    lines = json.dumps(SETTINGS, indent=2).replace("\n", "\r\n")
    old = '"model": "opus",\n  "hooks"'
    harmless = event("Edit", {"file_path": str(file), "old_string": old, "new_string": old.replace("opus", "haiku")})
    harmful = event("Edit", {"file_path": str(file), "old_string": old, "new_string": old.replace("hooks", "hoks")})

    file.write_bytes(lines.encode())
    assert verdict(harmless) is Verdict.ABSTAIN
    assert verdict(harmful) is Verdict.DENY

    file.write_bytes(lines.replace("\r\n", "\n", 1).encode())  # then it is not clear where the text is
    assert verdict(harmless) is Verdict.DENY


@pytest.mark.parametrize(
    "path",
    [
        ".claude/hooks/settings.json",
        ".claude/hooks/settings.local.json",
        ".claude/hooks/config.toml",
        ".codex/plugins/x/hooks/config.toml",
        ".github/hooks/lib/rules.json",
    ],
)
def test_what_a_hook_goes_by_is_refused_whatever_its_name(tmp_path: Path, path: str) -> None:
    rules = tmp_path / path
    rules.parent.mkdir(parents=True)
    rules.write_text("")

    assert write(rules, "") is Verdict.DENY


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_with_the_name_of_settings_to_what_a_hook_goes_by_is_refused(tmp_path: Path) -> None:
    rules = tmp_path / ".claude" / "hooks" / "rules.json"
    rules.parent.mkdir(parents=True)
    rules.write_text('{"blocked": ["rm"]}')
    link = tmp_path / "settings.json"
    link.symlink_to(rules)

    assert write(link, "{}") is Verdict.DENY


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_settings_that_are_a_link_into_a_folder_of_the_users_own_may_be_edited(file: Path, tmp_path: Path) -> None:
    own = file.rename(tmp_path / "claude.json")
    file.symlink_to(own)

    assert write(file, json.dumps(SETTINGS | {"model": "haiku"})) is Verdict.ABSTAIN
    assert write(file, json.dumps(SETTINGS | {"hooks": {}})) is Verdict.DENY


def test_our_entries_count_as_ours_however_the_file_spells_them(file: Path) -> None:
    file.write_text(json.dumps(SETTINGS).replace("hooktray", "hooktr\\u0061y"))

    assert write(file, json.dumps(SETTINGS | {"hooks": {}})) is Verdict.DENY


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_in_place_of_the_file_does_not_stop_the_tray(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)

    assert write(file, "{}") is Verdict.DENY


@pytest.mark.parametrize("text", ["a" + ".a" * 20_000 + " = 1\n", "a" + '."a"' * 20_000 + " = 1\n", "#" * (1 << 19)])
def test_toml_that_takes_long_to_read_is_refused_unread(tmp_path: Path, text: str) -> None:
    config = tmp_path / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "x"\n')

    assert write(config, text) is Verdict.DENY
    assert write(config, 'model = "y"\n') is Verdict.ABSTAIN


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (".codex/config.toml", "[features]\nhooks = true\n", "[features]\nhooks = 1\n"),
        ("config/agent.yaml", "shell_hooks: {enabled: true}\n", "shell_hooks: {enabled: 1}\n"),
        (
            ".github/hooks/x.json",
            '{"version": 1, "hooks": {"x": "hooktray-hook"}}',
            '{"version": 2, "hooks": {"x": "hooktray-hook"}}',
        ),
    ],
)
def test_a_change_of_type_or_version_counts_as_a_change_of_hooks(
    tmp_path: Path, path: str, before: str, after: str
) -> None:
    config = tmp_path / path
    config.parent.mkdir(parents=True)
    config.write_text(before)
    (config.parent / "shell_hooks.yaml").write_text("hooks: []\n")

    assert write(config, after) is Verdict.DENY


def test_several_edits_are_judged_together(file: Path) -> None:
    edits = [{"old_string": "opus", "new_string": "haiku"}, {"old_string": '"PreToolUse"', "new_string": '"Pre"'}]

    assert verdict(event("MultiEdit", {"file_path": str(file), "edits": edits})) is Verdict.DENY
    assert verdict(event("MultiEdit", {"file_path": str(file), "edits": edits[:1]})) is Verdict.ABSTAIN


@pytest.mark.parametrize("project", ["/home/nobody-here/project", "/srv"])
def test_a_file_of_another_machine_is_refused(project: str) -> None:
    assert write(Path(project, ".claude", "settings.json"), '{"model": "x"}') is Verdict.DENY


def test_a_question_about_a_command_that_replaces_the_file_names_the_permitted_way(file: Path) -> None:
    line = "jq '.model = 1' {0} > /tmp/x && mv /tmp/x {0}".format(file.as_posix())

    said = Protection(protected_paths=ProtectedPaths(home="/home/u")).judge(event("Bash", {"command": line}))

    assert said is not None
    assert said.output.verdict is Verdict.ASK
    assert said.output.reason == (
        "settings.json is a hook setting of Claude Code, and Hooktray cannot see what this command makes of it. "
        "An edit by a file tool can be seen, and passes when it leaves the hooks as they are."
    )


@every("line", ["rm {}", "mv {} /tmp/x", "echo '{{}}' > {}", "cp /dev/null {}", "truncate -s0 {}"])
def test_a_command_that_surely_loses_the_hooks_is_refused(file: Path, line: str) -> None:
    assert shell(line.format(file.as_posix())) is Verdict.DENY


@every(
    ("tool", "input"),
    [
        ("Write", {"file_path": "/srv/c/settings.json", "content": "{}"}),
        ("Write", {"file_path": "/srv/c/hooks/guard.sh", "content": "x"}),
        ("Edit", {"file_path": "/srv/c/plugins/x/hooks/hooks.json", "old_string": "a", "new_string": "b"}),
        ("Bash", {"command": "echo {} > /srv/c/settings.local.json"}),
        ("Bash", {"command": "rm -rf /srv/c"}),
        ("Bash", {"command": "cd /srv && mv c d"}),
    ],
)
def test_a_home_that_the_agents_environment_names_is_protected(tool: str, input: dict[str, Any]) -> None:
    moved = replace(event(tool, input), environment={"CLAUDE_CONFIG_DIR": "/srv/c/"})

    assert verdict(moved) is Verdict.DENY
    assert verdict(event(tool, input)) is Verdict.ABSTAIN


@every("line", lines("agents without hooks"))
def test_an_agent_without_the_users_hooks_is_asked_about(line: str) -> None:
    assert shell(line) is Verdict.ASK


@every("line", lines("other uses of such words"))
def test_other_uses_of_such_words_pass(line: str) -> None:
    assert shell(line) is Verdict.ABSTAIN


@every(
    ("name", "expected"),
    [
        ("mcp__fs__read_then_write", Verdict.ASK),
        ("mcp__fs__readAndReplace", Verdict.ASK),
        ("mcp__fs__get_or_create", Verdict.ASK),
        ("mcp__fs__find_delete", Verdict.ASK),
        ("mcp__fs__list_set", Verdict.ASK),
        ("mcp__fs__search-and-edit", Verdict.ASK),
        ("mcp__fs__read_file", Verdict.ABSTAIN),
        ("mcp__fs__readTextFile", Verdict.ABSTAIN),
        ("mcp__fs__get_file_info", Verdict.ABSTAIN),
        ("mcp__fs__list_settings", Verdict.ABSTAIN),
        ("mcp__fs__search_files", Verdict.ABSTAIN),
        ("mcp__fs__stat", Verdict.ABSTAIN),
    ],
)
def test_a_tool_that_also_writes_by_its_name_is_no_reader(name: str, expected: Verdict) -> None:
    assert verdict(event(name, {"path": "/home/u/.claude/settings.json"})) is expected
