"""Which tests count as a module's own, and what the table of coverage says."""

from __future__ import annotations

from pathlib import Path

import covered
import pytest


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("engine/merge.py", "tests/engine/test_merge.py"),
        ("once.py", "tests/test_once.py"),
        ("dialects/shelley.py", "tests/dialects/test_shelley.py"),
        ("sources/x_code.py", "tests/sources/test_sources_x_code.py"),
        ("relay.py", "tests/relay/test_relay_failures.py"),
    ],
)
def test_a_modules_own_tests_bear_its_name(module: str, test: str) -> None:
    assert test in covered.own_tests(Path(module))


def test_a_module_without_tests_of_its_own_has_none() -> None:
    assert covered.own_tests(Path("desktop/no_such_module.py")) == ()


def test_the_table_tells_no_tests_from_tests_that_reach_nothing() -> None:
    rows = [
        covered.Row(module="tray/a.py", statements=4, own=None, everyone=75),
        covered.Row(module="tray/b.py", statements=2, own=0, everyone=50),
    ]

    assert covered.page(rows).endswith("| `tray/a.py` | 4 | none | 75 % |\n| `tray/b.py` | 2 | 0 % | 50 % |\n")
