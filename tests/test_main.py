"""How a Hooktray process ends: it writes all of its output and returns its exit code.

`run` and `push-send` also run what libraries registered with `atexit`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def ended(work: str, *words: str) -> tuple[int, str, str]:
    """The exit code and the output of a process in whose command this is done."""
    program = (
        "import atexit, sys, threading, tray.__main__ as main\n"
        f"def work():\n  {work}\nmain.main = work; sys.argv[1:] = {words!r}; main.command()"
    )
    argv = [sys.executable, "-I", "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_what_was_written_arrives() -> None:
    assert ended("print('out'); print('error', file=sys.stderr); return 3") == (3, "out\n", "error\n")


@pytest.mark.parametrize("words", [("run",), ("--home", "/h", "run", "--headless"), ("push-send",)])
def test_run_and_push_send_call_what_is_registered_with_atexit(words: tuple[str, ...]) -> None:
    assert ended("atexit.register(print, 'end'); print('out'); return 0", *words) == (0, "out\nend\n", "")


def test_a_thread_that_goes_on_is_waited_for() -> None:
    work = "threading.Timer(0.2, print, ['late']).start(); return 0"

    assert ended(work) == (0, "late\n", "")


def test_an_exit_in_the_middle_keeps_its_code() -> None:
    assert ended("sys.exit(143)") == (143, "", "")


@pytest.mark.parametrize("words", [["status"], ["run", "--headless"], ["push-send"]])
def test_our_own_bug_is_reported_with_its_versions_whatever_was_called(tmp_path: Path, words: list[str]) -> None:
    program = (
        "import sys, tray.__main__ as main, tray.paths, tray.notify.push.sender as sender\n"
        "def fail(*words, **more): raise KeyError('ours')\n"
        "tray.paths.locate = sender._answer = sender.msgspec.json.decode = fail\n"
        f"sys.argv[1:] = {words!r}; main.command()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )

    assert done.returncode == 3
    assert "has a bug; Python" in done.stderr
    assert "KeyError: 'ours'" in done.stderr
