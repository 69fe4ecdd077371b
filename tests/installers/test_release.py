"""The check-list of a release: its dry form runs nothing, and says what is not ready and what would be run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RELEASE = ROOT / "installers" / "release"


@pytest.fixture(scope="module")
def dry() -> subprocess.CompletedProcess[str]:
    return subprocess.run([RELEASE, "--dry", "99.0.0"], capture_output=True, text=True, timeout=60, check=False)


def test_what_is_not_ready_is_named_without_stopping_at_the_first(dry: subprocess.CompletedProcess[str]) -> None:
    said = dry.stderr.splitlines()

    assert dry.returncode == 1
    assert said[0] == "not ready: tray/__init__.py has another version"
    assert said[1].startswith("not ready: CHANGELOG.md has no section '## 99.0.0'")
    assert re.fullmatch(r"\d+ not ready", said[-1])


def test_every_program_that_it_would_run_is_there(dry: subprocess.CompletedProcess[str]) -> None:
    ours = re.findall(r"^would run: (?:\.venv/bin/python )?((?:installers|tests|\.ci)/\S+)", dry.stdout, re.MULTILINE)

    assert len(ours) >= 6
    assert [name for name in ours if not (ROOT / name).exists()] == []
