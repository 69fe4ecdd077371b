"""The quick form of every torture program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torture import table
from torture.frame import Program, programs


@pytest.mark.parametrize("program", programs(), ids=lambda program: str(program.id))
def test_everything_holds_and_every_control_falls(program: Program) -> None:
    argv = [sys.executable, str(Path(__file__).parent), "--quick", program.id]

    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_in_the_docs_is_made_of_the_results() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page()
    assert table.line() in table.README.read_text(encoding="utf-8")


def test_nothing_that_was_kept_fell() -> None:
    assert [row["id"] for row in table.kept() if row["lost"] or row["wrong"]] == []


def test_every_program_has_a_result_and_every_result_its_program() -> None:
    assert [row["id"] for row in table.kept()] == [program.id for program in programs()]
