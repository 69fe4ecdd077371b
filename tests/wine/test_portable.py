"""The tests for Windows pass under wine, from this checkout."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from wine import prepare
from wine.windows import Windows

LIMIT = 3600  # seconds on a busy machine; a quiet one needs five minutes


@pytest.mark.timeout(LIMIT + 300)
def test_the_tests_for_windows_pass_from_the_checkout(windows: Windows) -> None:
    python = windows.inside(prepare.for_tests(windows.drive / "python for tests"))
    script = PureWindowsPath("Z:", prepare.ROOT / "tests" / "portable.py")

    done = windows.run([python, "-B", script, "-p", "no:cacheprovider"], timeout=LIMIT)

    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-6000:]
    assert " passed" in said.splitlines()[-1]
