"""Tables: cut and coloured on a terminal, plain in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from tray.cli.views import table, text_width

CODE = """
from tray.cli.views import print_line, table
table(("id", "what happened"), [("1", "Bash · rm · " + "long " * 80), ("2", "中文" * 80)], ["bold red", ""])
print_line(["3", "a row of its own"], "green")
"""
COLOUR = re.compile(rb"\x1b\[[\d;]*m")


def drawn(folder: Path, **variables: str) -> Terminal:
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    terminal = Terminal([sys.executable, "-c", CODE], folder, environment | {"TERM": "xterm"} | variables)
    terminal.process.wait(60)
    terminal.close()
    return terminal


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_on_a_terminal_no_line_is_longer_than_it_is_wide(tmp_path: Path) -> None:
    lines = drawn(tmp_path).text.splitlines()

    assert [line.split()[0] for line in lines] == ["id", "1", "2", "3"]
    assert all(text_width(line) <= 120 for line in lines)
    assert lines[1].endswith("…")
    assert lines[2].endswith("…")


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_a_refusal_stands_out_unless_the_user_wants_no_colour(tmp_path: Path) -> None:
    coloured, plain = drawn(tmp_path), drawn(tmp_path, NO_COLOR="1")

    assert b"31m" in bytes(coloured.drawn), "red"
    assert b"32m" in bytes(coloured.drawn), "green"
    assert not re.search(rb"\x1b\[(?:\d;)*3[0-9]m", bytes(plain.drawn))


def test_in_a_pipe_nothing_is_padded_cut_or_coloured() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, timeout=60, check=True)

    lines = done.stdout.decode().splitlines()
    assert lines[0] == "id\twhat happened"
    assert [line.count("\t") for line in lines] == [1, 1, 1, 1]
    assert not any(line != line.rstrip() for line in lines)
    assert not COLOUR.search(done.stdout)


def test_text_from_outside_is_one_cell_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    table(("a", "b"), [("x\ty\nz\x1b[31m", "1")])

    assert capsys.readouterr().out == "a\tb\nx y z\t1\n"


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("中文", 4), ("e\u0301", 1), ("\uff21", 2), ("a\u200bb", 2), ("é…", 2)]
)
def test_wide_characters_take_two_columns_and_accents_none(text: str, columns: int) -> None:
    assert text_width(text) == columns
