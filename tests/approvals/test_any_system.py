"""What an approval covers on each system. The tests for Windows run this file; others here need a POSIX shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from approvals.declared import hook

from tray.approvals.inspection import inspect
from tray.shell import expand


@pytest.mark.parametrize(
    ("line", "interpreter"), [("./guard.cmd", ""), ("python guard.py", sys.executable)], ids=["program", "script"]
)
def test_an_approval_covers_the_file_that_the_line_runs(tmp_path: Path, line: str, interpreter: str) -> None:
    file = tmp_path / line.split()[-1]
    file.write_text("exit\n")

    found = inspect(hook(tmp_path, line, interpreter=interpreter))

    assert list(found.bundle.contents) == [str(file)]


def test_a_path_is_written_as_this_system_writes_it(tmp_path: Path) -> None:
    whole = str(tmp_path / "a" / "b")

    assert expand.under((str(tmp_path),), "a/./b") == (whole,)
    assert expand.under(("elsewhere",), whole) == (whole,)
    assert expand.under((expand.PROJECT,), "../a") == (f"{expand.PROJECT}/../a",)
    assert os.path.isabs(whole)  # noqa: PTH117
