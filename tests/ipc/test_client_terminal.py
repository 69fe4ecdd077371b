"""What is typed at a question, in a real terminal: it is never shown, and a question does not stay open."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from desk import wait
from terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
SECRET = "seven quiet bridges"
ASK = """
import sys
from tray.errors import HooktrayError
from tray.ipc import client
client.QUESTION_TIMEOUT = float(sys.argv[1])
try:
    print("typed", len(client.ask_hidden("Type: ")))
except HooktrayError as error:
    print("error", error.message)
"""


@contextmanager
def question(folder: Path, seconds: float = 60) -> Iterator[Terminal]:
    """A shell with job control, whose command asks."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "PS1": "ready$ "}
    shell = Terminal(["setsid", "--ctty", "--wait", "bash", "--norc", "--noediting", "-i"], folder, env)
    try:
        (folder / "ask.py").write_text(ASK)
        shell.wait("ready$ ")
        shell.type(f"PYTHONPATH={Path(__file__).parents[2]} {sys.executable} ask.py {seconds}\n")
        shell.wait("Type: ")
        wait(lambda: not shell.echoes, 20, "nothing is shown")
        yield shell
    finally:
        shell.type("exit\n")
        shell.process.wait(20)
        shell.close()


def test_ctrl_z_does_not_make_the_terminal_show_what_is_typed(tmp_path: Path) -> None:
    with question(tmp_path) as shell:
        shell.type(f"\x1a{SECRET}\n")
        shell.wait(f"typed {len(SECRET)}")

        assert "Stopped" not in shell.text
        assert SECRET not in shell.text


def test_a_question_to_which_nothing_is_typed_ends_and_the_terminal_shows_again_what_is_typed(tmp_path: Path) -> None:
    with question(tmp_path, 0.5) as shell:
        shell.wait("error nothing was typed in time")
        wait(lambda: shell.echoes, 20, "the terminal is as it was")


def test_bytes_that_are_no_text_are_a_message(tmp_path: Path) -> None:
    with question(tmp_path) as shell:
        os.write(shell._master, b"\xff\xfe\n")
        shell.wait("error what was typed is not utf-8")
