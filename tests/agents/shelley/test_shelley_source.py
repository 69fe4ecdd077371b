from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tray.agents.shelley.source import read
from tray.model.hook import Command, Failure


def executable(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_each_executable_of_a_known_name_is_a_hook(tmp_path: Path) -> None:
    for name in ("end-of-turn", "system-prompt", "README", "end-of-turn.bak"):
        executable(tmp_path / name)

    turn, prompt = read(tmp_path, (), {}).hooks

    assert (turn.name, turn.match.event, turn.failure, turn.timeout) == ("end-of-turn", "turn_end", Failure.ALLOW, 30)
    assert (prompt.name, prompt.match.event, prompt.failure) == ("system-prompt", "system_prompt", Failure.BLOCK)
    assert turn.action == Command(line=str(tmp_path / "end-of-turn"), folder=str(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_slash_commands_are_listed_by_their_names(tmp_path: Path) -> None:
    executable(tmp_path / "slash" / "files")
    executable(tmp_path / "slash" / "not a name")

    (hook,) = read(tmp_path, (), {}).hooks

    assert (hook.name, hook.match.native, hook.match.tool) == ("slash/files", "slash/files", "files")


def test_a_file_that_cannot_be_executed_is_no_hook_and_is_told(tmp_path: Path) -> None:
    executable(tmp_path / "end-of-turn", 0o644)
    (tmp_path / "system-prompt").mkdir()

    found = read(tmp_path, (), {})

    assert found.hooks == ()
    assert "end-of-turn has no executable bit" in found.warnings[0]
    assert "chmod +x" in found.warnings[0]
    assert str(tmp_path / "end-of-turn") in found.watched


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere", (), {})
