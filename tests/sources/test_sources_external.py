from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from every import every

from tray.errors import ConfigError
from tray.sources.configuration import Configuration, parse

GOOD = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x.sh"}]}]}}


def configure(folder: Path, *sources: object) -> Configuration:
    return parse(json.dumps({"background_seconds": 7, "sources": list(sources)}), str(folder / "hooktray.yaml"))


def test_sources_come_after_our_own_hooks_in_the_order_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(GOOD))
    (tmp_path / "shell_hooks.yaml").write_text("hooks: [{event: on_stop, command: ./y}]")
    text = """
sources:
  - starchild: shell_hooks.yaml
  - claude-code: ./a.json
    agent: [claude-code, shelley]
hooks:
  - {event: turn_end, command: ./own.sh}
"""
    hooks = parse(text, str(tmp_path / "hooktray.yaml")).hooks

    assert [hook.name for hook in hooks] == ["own", "y", "x"]
    assert [hook.match.agents for hook in hooks] == [(), (), ("claude-code", "shelley")]
    assert hooks[2].key == f"claude-code:{tmp_path / 'a.json'}#x"


def test_a_home_folder_is_meant_by_a_tilde(tmp_path: Path) -> None:
    (Path.home() / "a.json").write_text(json.dumps(GOOD))

    (hook,) = configure(tmp_path, {"claude-code": "~/a.json"}).hooks

    assert (hook.source.path, hook.background_seconds) == (str(Path.home() / "a.json"), 7)


@every(
    ("source", "told"),
    [
        ({"claude": "x"}, "did you mean `claude-code`?"),
        ({"claude-code": 3}, "expected a path"),
        ({"claude-code": "a", "shelley": "b"}, "one format and one path"),
        ({}, "one format and one path"),
        ({"claude-code": "a", "agent": "shely"}, "did you mean `shelley`?"),
        ({"claude-code": "a", "agent": 3}, "expected a list of agents"),
        ({"opencode": "~/.config/opencode"}, "OpenCode has no hook files: plugins run inside it"),
        ("x", "`x`"),
    ],
)
def test_what_is_wrong_in_our_own_file_refuses_it_as_a_whole(tmp_path: Path, source: object, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configure(tmp_path, source)

    assert str(caught.value).startswith(f"{tmp_path / 'hooktray.yaml'}:1:")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "a.json: cannot be read: "), ("{", "a.json:1:2"), ("[]", "a.json:1:1"), ("\0", "a.json:1:1")],
)
@pytest.mark.parametrize("kind", ["claude-code", "x-code"])
def test_a_source_that_cannot_be_read_leaves_the_others_alone(
    tmp_path: Path, kind: str, text: str | None, told: str
) -> None:
    if text is not None:
        (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json").write_text(json.dumps(GOOD))

    found = configure(tmp_path, {kind: "a.json"}, {"claude-code": "b.json"})

    assert [hook.name for hook in found.hooks] == ["x"]
    assert told in found.warnings[0]
    assert set(found.watched) >= {str(tmp_path / "a.json"), str(tmp_path / "b.json")}


def test_a_handler_in_two_settings_files_runs_once_and_a_source_named_twice_is_read_once(
    tmp_path: Path,
) -> None:
    for name in ("settings.json", "settings.local.json"):
        (tmp_path / name).write_text(json.dumps(GOOD))
    sources = ({"claude-code": name} for name in ("settings.json", "settings.local.json", "./settings.json"))

    first, second = configure(tmp_path, *sources).hooks

    assert first.inactive == ""
    assert second.inactive == f"the same hook stands in {first.source}"


def test_what_is_wrong_with_a_matcher_is_told_once_for_all_of_its_handlers(tmp_path: Path) -> None:
    handlers = [{"type": "command", "command": f"./{name}.sh"} for name in "abcd"]
    (tmp_path / "a.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "a(b", "hooks": handlers}]}}))

    (warning,) = configure(tmp_path, {"claude-code": "a.json"}).warnings

    assert "hooks.PreToolUse[0].matcher: not a pattern" in warning


@pytest.mark.skipif(sys.platform == "win32", reason="the system's own words")
@every(
    ("kind", "looked_for"),
    [
        ("x-code", "plugin.json, hooks/hooks.json"),
        ("claude-code", "hooks/hooks.json"),
        ("starchild", "config/shell_hooks.yaml"),
    ],
)
def test_a_folder_without_hooks_is_told_with_what_is_looked_for_there(
    tmp_path: Path, kind: str, looked_for: str
) -> None:
    (tmp_path / "src").mkdir(exist_ok=True)

    (warning,) = configure(tmp_path, {"shelley": "src"}, {kind: "src"}).warnings

    what, remedy = warning.split("\n")
    assert what.startswith(f"{tmp_path / 'hooktray.yaml'}:1:")
    assert f"sources[1].{kind}: {tmp_path / 'src'}: " in what
    assert "No such file" not in what
    assert looked_for in remedy


@pytest.mark.skipif(sys.platform == "win32", reason="the system's own words")
@every("kind", ["claude-code", "shelley", "starchild", "x-code"])
def test_a_source_that_is_not_there_is_told_with_its_line_and_its_cure(tmp_path: Path, kind: str) -> None:
    text = f"hooks: []\nsources:\n  - {kind}: ./gone\n"

    (warning,) = parse(text, str(tmp_path / "hooktray.yaml")).warnings

    where = f"{tmp_path / 'hooktray.yaml'}:3:5: sources[0].{kind}"
    what = f"{tmp_path / 'gone'}: cannot be read: No such file or directory"
    assert warning == f"{where}: {what}\n  correct this path, or put there what it names"


@pytest.mark.skipif(sys.platform == "win32", reason="the system's own words")
def test_a_file_where_a_folder_is_meant_is_told_with_what_to_name(tmp_path: Path) -> None:
    (tmp_path / "src").write_text("#!/bin/sh\n")

    (warning,) = configure(tmp_path, {"shelley": "src"}).warnings

    assert warning.endswith(
        "\n  name a folder that holds chat-message, end-of-turn, new-conversation, system-prompt or slash/"
    )
