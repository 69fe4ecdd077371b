"""In a project that is here, edits that reach no hook pass, and all others do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every import every
from msgspec.structs import replace
from protection.calls import event, lines
from protection.calls import verdict as judged

from tray.model.decision import Verdict
from tray.protection.protected_paths import ProtectedPaths

OUR_LINE = "/home/u/.local/share/hooktray/bin/hooktray-hook claude-code"
OWN_HOOKS = {"PreToolUse": [{"hooks": [{"type": "command", "command": OUR_LINE}]}]}
LINT = {"version": 1, "hooks": {"postToolUse": [{"type": "command", "bash": "./lint.sh"}]}}
ALLOW, ASK, DENY = Verdict.ABSTAIN, Verdict.ASK, Verdict.DENY

TOML = 'model = "o3"\n\n[features]\nweb = true\n\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
FILES = {
    "app/config/agent.yaml": "model: x\n",
    "starchild/config/agent.yaml": "model: x\nshell_hooks:\n  enabled: true\n",
    "starchild/config/shell_hooks.yaml": "hooks: []\n",
    "connected/.claude/settings.json": json.dumps({"model": "x", "hooks": OWN_HOOKS}),
    "app/.codex/config.toml": TOML,
    "app/.github/hooks/lint.json": json.dumps(LINT),
    "app/.github/hooks/hooktray.json": json.dumps({"hooks": {"Stop": [{"command": OUR_LINE}]}}),
    "app/.github/hooks/README.md": "x",
}
PERMISSIONS = json.dumps({"permissions": {"allow": ["Bash(npm test)"], "deny": ["Read(.env)"]}})

# File, whole new text, verdict.
WRITES: list[tuple[str, str, Verdict]] = [
    # A name like Starchild's, in a project that has nothing of Starchild.
    ("app/config/agent.yaml", "model: y\n", ALLOW),
    ("app/config/agent.yml", "model: y\n", ALLOW),
    ("new/config/agent.yaml", "shell_hooks: x\n", ALLOW),
    ("starchild/config/agent.yaml", "model: y\nshell_hooks:\n  enabled: true\n", ALLOW),
    ("starchild/config/agent.yaml", "model: x\nshell_hooks:\n  enabled: false\n", DENY),
    ("starchild/config/agent.yaml", "model: x\n", DENY),
    ("starchild/config/agent.yaml", "model: [\n", DENY),
    ("starchild/config/shell_hooks.yaml", "hooks: []\n", DENY),
    # A new settings file of a project.
    ("app/.claude/settings.local.json", PERMISSIONS, ALLOW),
    ("app/.claude/settings.json", PERMISSIONS, ALLOW),
    ("app/.claude/settings.local.json", json.dumps({"hooks": {"Stop": []}}), ASK),
    ("app/.claude/settings.local.json", json.dumps({"disableAllHooks": True}), DENY),
    ("app/.claude/settings.local.json", json.dumps({"permissions": {"allow": ["Bash(hooktray off)"]}}), DENY),
    ("app/.claude/settings.local.json", json.dumps({"env": {"CLAUDE_CONFIG_DIR": "/tmp"}}), DENY),
    ("app/.claude/settings.local.json", "permissions", DENY),
    ("connected/.claude/settings.json", json.dumps({"model": "y", "hooks": OWN_HOOKS}), ALLOW),
    ("connected/.claude/settings.json", PERMISSIONS, DENY),
    # Codex's own settings: everything but what runs, trusts or stops hooks and what frees its tools.
    ("new/.codex/config.toml", 'model = "o3"\n[mcp_servers.x]\ncommand = "x"\nenv = {A = "1"}\n', ALLOW),
    ("new/.codex/config.toml", "[features]\nhooks = false\n", DENY),
    ("new/.codex/config.toml", '[[hooks.Stop]]\nhooks = [{type = "command", command = "x"}]\n', DENY),
    ("new/.codex/config.toml", 'approval_policy = "never"\n', DENY),
    ("new/.codex/config.toml", '[profiles.x]\nsandbox_mode = "danger-full-access"\n', DENY),
    ("new/.codex/config.toml", "model = \n", DENY),
    ("app/.codex/config.toml", TOML.replace("o3", "o4"), ALLOW),
    ("app/.codex/config.toml", TOML.replace("sha256:1", "sha256:2"), DENY),
    ("app/.codex/config.toml", 'model = "o3"\n', DENY),
    ("app/.codex/hooks.json", "{}", DENY),
    # Hooks that a project declares itself: a person is asked, unless nothing about hooks changes.
    ("app/.github/hooks/lint.json", json.dumps(LINT, indent=4), ALLOW),
    ("app/.github/hooks/lint.json", json.dumps({**LINT, "description": "x"}), ALLOW),
    ("app/.github/hooks/lint.json", json.dumps({**LINT, "hooks": {}}), ASK),
    ("app/.github/hooks/lint.json", json.dumps({**LINT, "disableAllHooks": True}), DENY),
    ("app/.github/hooks/new.json", json.dumps(LINT), ASK),
    ("app/.github/hooks/table.json", json.dumps({"rows": [1]}), ALLOW),
    ("app/.github/hooks/hooktray.json", json.dumps({"hooks": {}}), DENY),
    ("app/.github/hooks/README.md", "y", ALLOW),
    ("app/.github/workflows/hooks.yml", "y", ALLOW),
]
# File, old text, new text, verdict.
EDITS = [
    ("starchild/config/agent.yaml", "model: x", "model: y", ALLOW),
    ("starchild/config/agent.yaml", "enabled: true", "enabled: false", DENY),
    ("app/.codex/config.toml", '"o3"', '"o4"', ALLOW),
    ("app/.codex/config.toml", "web = true", "hooks = false", DENY),
    ("app/.github/hooks/lint.json", "./lint.sh", "./other.sh", ASK),
    ("app/.github/hooks/hooktray.json", "hooktray-hook", "true", DENY),
    ("app/.claude/settings.local.json", "", PERMISSIONS, ALLOW),  # how some agents write a new file
    ("connected/.claude/settings.json", '"x"', '"y"', ALLOW),
]
LINES: list[tuple[str, Verdict]] = [
    ("cd app && sed -i s/x/y/ config/agent.yaml", ALLOW),
    ("echo 'model: y' > app/config/agent.yml", ALLOW),
    ("mkdir -p new/config && cp app/config/agent.yaml new/config/agent.yaml", ALLOW),
    ("sed -i s/true/false/ starchild/config/agent.yaml", DENY),
    ("rm starchild/config/agent.yaml", DENY),
    ("jq .model=1 connected/.claude/settings.json > /tmp/s && mv /tmp/s connected/.claude/settings.json", ASK),
    ("jq .model=1 connected/.claude/settings.json > /tmp/s; cp /tmp/s connected/.claude/settings.json", ASK),
    ("mv connected/.claude/settings.json /tmp/s", DENY),
    ("rm connected/.claude/settings.json", DENY),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "new").mkdir()
    return tmp_path


def verdict(root: Path, tool: str, input: dict[str, Any]) -> Verdict:
    places = ProtectedPaths(own=("/home/u/.config/hooktray",), home="/home/u")
    return judged(replace(event(tool, input), cwd=str(root)), places=places)


@every(("name", "text", "expected"), WRITES)
def test_a_whole_file_is_judged_by_what_it_declares(root: Path, name: str, text: str, expected: Verdict) -> None:
    assert verdict(root, "Write", {"file_path": str(root / name), "content": text}) is expected


@every(("name", "old", "new", "expected"), EDITS)
def test_an_edit_is_judged_by_what_it_changes(root: Path, name: str, old: str, new: str, expected: Verdict) -> None:
    edit = {"file_path": str(root / name), "old_string": old, "new_string": new}

    assert verdict(root, "Edit", edit) is expected


@every(("line", "expected"), LINES)
def test_a_command_is_judged_by_what_it_surely_does(root: Path, line: str, expected: Verdict) -> None:
    assert verdict(root, "Bash", {"command": line}) is expected


def test_no_ordinary_command_in_such_a_project_is_refused_or_asked_about(root: Path) -> None:
    assert [
        line
        for line in lines("ordinary in a project")
        if verdict(root, "Bash", {"command": line}) is not Verdict.ABSTAIN
    ] == []
