"""Whose process it is, is told by its program and not by what it calls itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tray.execution.ancestry import (
    Ancestor,
    descends_from,
    descends_from_hook,
    descent,
    is_own_program,
)
from tray.execution.hook_runs import Descent, HookAncestry
from tray.execution.isolation import one_shot_command

SAYS_ONCE = Ancestor(5, (*one_shot_command(), "--home", "/h", "claude-code", "Stop"))


@contextmanager
def running(argv: list[str], executable: str | None = None) -> Iterator[int]:
    child = subprocess.Popen(argv, executable=executable, stdin=subprocess.PIPE)
    try:
        yield child.pid
    finally:
        assert child.stdin is not None
        child.stdin.close()
        child.wait(60)


@pytest.mark.parametrize("ours", [True, False])
def test_a_one_shot_engine_counts_only_when_its_program_is_ours(ours: bool) -> None:
    below = descends_from(7, 1, lambda pid: [SAYS_ONCE], lambda pid: ours)
    hook = descends_from_hook(7, 1, lambda pid: [SAYS_ONCE], lambda pid: False, lambda pid: ours)

    assert (below, hook) == (ours, ours)


@pytest.mark.skipif(sys.platform == "win32", reason="starts `cat`")
def test_a_program_that_calls_itself_our_engine_is_none() -> None:
    with running([sys.executable, *one_shot_command()[1:]], executable="/bin/cat") as pid:
        assert not is_own_program(pid)


def test_our_own_interpreter_is_ours_and_a_process_that_has_gone_is_not() -> None:
    with running([sys.executable, "-I", "-c", "import sys; sys.stdin.read()"]) as pid:
        assert is_own_program(pid)
    assert is_own_program(os.getpid())
    assert not is_own_program(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="starts `cat`")
def test_a_lineage_says_each_time_what_the_ancestors_say() -> None:
    with running(["/bin/cat"], executable="/bin/cat") as ours:
        below, beside = (HookAncestry(partial(descent, own=own)) for own in (os.getpid(), ours))

        assert [below.descent(ours), below.descent(ours)] == [Descent((ours,), is_below_one_shot=False)] * 2
        assert [beside.descent(os.getpid()), beside.descent(os.getpid())] == [None, None]
    assert beside.descent(ours) is None
