"""Codex's hooks as a source: hooks.json, config.toml, a plugin's folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tray.agents.codex.source import READER
from tray.errors import ConfigError
from tray.model.hook import Command

GROUP = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 10}]}
OF_PLUGIN = {"hooks": [{"type": "command", "command": '"$PLUGIN_ROOT/guard.sh"'}]}
CONFIG = """model = "m"

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "./guard.sh"

[hooks.state."/home/dev/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:0"
"""


def test_hooks_json(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"hooks": {"PreToolUse": [GROUP], "SessionEnd": [GROUP]}}))

    found = READER.read(path, (), {})

    assert [(hook.match.native, hook.timeout, hook.dialect) for hook in found.hooks] == [
        ("PreToolUse", 10, "codex"),
        ("SessionEnd", 10, "codex"),
    ]
    assert found.warnings == ()


def test_the_hooks_of_config_toml_without_its_users_trust(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)

    found = READER.read(path, (), {})

    (hook,) = found.hooks
    assert isinstance(hook.action, Command)
    assert (hook.match.tool, hook.action.line, hook.timeout, hook.inactive) == ("Bash", "./guard.sh", 600, "")
    assert found.warnings == ()


def test_a_config_that_switches_hooks_off(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"{CONFIG}\n[features]\nhooks = false\n")

    assert READER.read(path, (), {}).hooks[0].inactive == f"`hooks = false` below [features] in {path}"


def test_a_plugins_folder(tmp_path: Path) -> None:
    (tmp_path / "guards" / "hooks").mkdir(parents=True)
    (tmp_path / "guards" / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [OF_PLUGIN]}}))

    (hook,) = READER.read(tmp_path / "guards", (), {}).hooks

    assert isinstance(hook.action, Command)
    assert hook.action.plugin == str(tmp_path / "guards")


def test_a_broken_config_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[hooks\n")

    with pytest.raises(ConfigError, match=re.escape(f"{path}:1:7: not TOML")):
        READER.read(path, (), {})


def test_what_codex_does_not_run_is_inactive(tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "ok?"}]}]}}))

    (hook,) = READER.read(path, (), {}).hooks

    assert "`prompt`" in hook.inactive
