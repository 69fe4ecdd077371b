"""`hooktray help`, and `hooktray` alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from house import House
from terminal import Terminal

from tray.cli import run_command
from tray.cli.commands import first_words
from tray.errors import HooktrayError


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    run_command(words)
    return capsys.readouterr().out


def test_help_lists_the_commands_and_explains_one(capsys: pytest.CaptureFixture[str]) -> None:
    everything, one = said(capsys, "help").split("Commands:")[1], said(capsys, "help", "pause")

    assert [word for word, _ in first_words() if f"\n  {word} " not in everything] == []
    assert "30m|1h|tomorrow" in one


def test_help_for_no_command_names_the_nearest() -> None:
    with pytest.raises(HooktrayError, match="no command `pasue`") as caught:
        run_command(["help", "pasue"])

    assert "pause" in caught.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_at_a_terminal_hooktray_alone_shows_where_things_stand(house: House, tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-m", "tray", "--home", str(house.paths.home)]
    terminal = Terminal(argv, tmp_path, {**os.environ, "TERM": "xterm"})
    terminal.process.wait(60)
    terminal.close()

    assert "Hooks are on." in terminal.text
    assert "`hooktray run` starts" in terminal.text
    assert terminal.text.endswith("`hooktray help` lists the commands, `hooktray open` shows the page.\r\n")
