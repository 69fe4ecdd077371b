from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tray.agents.x_code import source
from tray.agents.x_code.source import read
from tray.errors import ConfigError
from tray.model.hook import Command, Failure, Hook
from tray.reading.entries import SourceHooks


def hooks_json(folder: Path, hooks: Any, name: str = "hooks/hooks.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(hooks, indent=1))
    return path


def plugin(folder: Path, **entry: Any) -> SourceHooks:
    return read(hooks_json(folder, {"PreToolUse": [{"command": "node ${pluginDir}/lint.mjs", **entry}]}), (), {})


def one(folder: Path, **entry: Any) -> Hook:
    (hook,) = plugin(folder, **entry).hooks
    return hook


def test_a_full_entry_becomes_a_hook(tmp_path: Path) -> None:
    hook = one(tmp_path, matcher="writeFile|edit", timeout=2500, failurePolicy="block", description="lint it")

    assert (hook.name, hook.timeout, hook.failure) == ("lint it", 2.5, Failure.BLOCK)
    assert (hook.match.event, hook.match.agents, hook.match.tool) == ("tool_before", (), "writeFile|edit")
    assert isinstance(hook.action, Command)
    assert (hook.action.shell, hook.action.plugin) == (True, str(tmp_path))
    assert hook.source.line == 3


def test_what_is_not_said_is_as_the_agent_has_it(tmp_path: Path) -> None:
    hook = one(tmp_path)

    assert (hook.name, hook.timeout, hook.failure, hook.match.tool) == ("lint", 5, Failure.ALLOW, "")


@pytest.mark.parametrize("place", [".x-code-plugin/plugin.json", "plugin.json"])
@pytest.mark.parametrize("how", ["inline", "path", "usual"])
@pytest.mark.parametrize("named", ["folder", "file"])
def test_a_plugin_may_say_it_inline_by_path_or_in_the_usual_place(
    tmp_path: Path, place: str, how: str, named: str
) -> None:
    events = {"Nope": [], "SessionStart": [{"command": "./hi.sh"}]}
    manifest: dict[str, Any] = {"name": "p"}
    if how == "inline":
        manifest["hooks"] = events
    else:
        hooks_json(tmp_path, events, "my/h.json" if how == "path" else "hooks/hooks.json")
        manifest |= {"hooks": "./my/h.json"} if how == "path" else {}
    path = hooks_json(tmp_path, manifest, place)

    found = read(tmp_path if named == "folder" else path, (), {})

    assert [hook.match.native for hook in found.hooks] == ["SessionStart"]
    assert "unknown event `Nope`" in found.warnings[0]


def test_a_path_out_of_the_plugin_is_refused(tmp_path: Path) -> None:
    hooks_json(tmp_path, {}, "h.json")

    with pytest.raises(ConfigError, match="outside"):
        read(hooks_json(tmp_path / "p", {"hooks": "../h.json"}, "plugin.json"), (), {})


def test_an_invalid_pattern_matches_every_tool_and_is_told(tmp_path: Path) -> None:
    found = plugin(tmp_path, matcher="a(")

    assert (found.hooks[0].match.tool, found.hooks[0].inactive) == ("", "")
    assert "hooks.json:5:4: PreToolUse[0].matcher: not a pattern, so every tool matches" in found.warnings[0]


def test_too_long_a_time_is_cut_and_takes_nobody_down(tmp_path: Path) -> None:
    found = plugin(tmp_path, timeout=60000)

    assert found.hooks[0].timeout == 30
    assert "60000 ms is cut to 30000" in found.warnings[0]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ({"hooks": {"PreToolUse": []}}, "X-Code takes no hooks from inside of `hooks`"),
        ({"PreToolUs": []}, "did you mean `PreToolUse`?"),
        ({"PreToolUse": [{}]}, "needs a command"),
        ({"PreToolUse": [{"command": "x", "failurePolicy": "deny"}]}, "unknown word `deny`"),
        ({"PreToolUse": [{"command": "x", "timeout": "5s"}]}, "expected a number"),
    ],
)
def test_a_malformed_entry_takes_no_sibling_down(tmp_path: Path, events: dict[str, Any], told: str) -> None:
    found = read(hooks_json(tmp_path, {**events, "SessionEnd": [{"command": "./bye.sh"}]}), (), {})

    assert [hook.name for hook in found.hooks] == ["bye"]
    assert told in found.warnings[0]


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ("linux", "./linux.sh"),
        ("win32", "windows.cmd"),
        ("darwin", "./darwin.sh"),
        ("freebsd14", "node ${pluginDir}/lint.mjs"),
    ],
)
def test_each_system_has_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, line: str
) -> None:
    monkeypatch.setattr(source, "sys", SimpleNamespace(platform=system))

    hook = one(tmp_path, commandLinux="./linux.sh", commandWindows="windows.cmd", commandDarwin="./darwin.sh")

    assert isinstance(hook.action, Command)
    assert hook.action.line == line


def test_a_system_without_a_line_of_its_own_has_the_usual_one(tmp_path: Path) -> None:
    others = {"linux": {"commandWindows": "windows.cmd"}}.get(sys.platform, {"commandLinux": "./linux.sh"})

    hook = one(tmp_path, **others)

    assert isinstance(hook.action, Command)
    assert hook.action.line == "node ${pluginDir}/lint.mjs"


def test_a_plugins_own_storage_is_where_the_agent_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "market" / "lint" / "1.0.0"

    hook = one(folder, command="./x ${pluginDataDir}")

    assert isinstance(hook.action, Command)
    assert hook.action.storage == str(Path.home() / ".x-code" / "plugins" / "data" / "lint@market")


def test_a_projects_own_plugin_is_for_that_project(tmp_path: Path) -> None:
    assert one(tmp_path / "api" / ".x-code" / "plugins" / "lint").match.project == str(tmp_path / "api")
