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
        ("agents/shelley/protocol.py", "tests/agents/shelley/test_shelley_protocol.py"),
        ("agents/x_code/source.py", "tests/agents/x_code/test_x_code_source.py"),
        ("relay.py", "tests/relay/test_relay_failures.py"),
    ],
)
def test_a_modules_own_tests_bear_its_name(module: str, test: str) -> None:
    assert test in covered.own_tests(Path(module))


def test_a_module_without_tests_of_its_name_has_those_of_its_package() -> None:
    found = ("tests/doctor/test_checks.py", "tests/doctor/test_checks_live.py")
    assert covered.own_tests(Path("doctor/finding.py")) == found
    assert "tests/execution/test_http_client.py" in covered.own_tests(Path("execution/http_client.py"))
    assert "tests/notify/test_policy.py" in covered.own_tests(Path("notify/no_such_module.py"))


def test_a_file_with_another_modules_name_is_not_a_modules_own() -> None:
    assert covered.own_tests(Path("desktop/menu/items.py")) == ("tests/desktop/test_menu.py",)
    assert "tests/test_relay_program.py" not in covered.own_tests(Path("relay.py"))


def test_every_exception_names_a_module_and_its_test_files() -> None:
    modules = [module for module in covered.ELSEWHERE if not (covered.ROOT / "tray" / module).exists()]
    tests = [test for module in covered.ELSEWHERE for test in covered.own_tests(Path(module))]

    assert modules == []
    assert [test for test in tests if not (covered.ROOT / test).exists()] == []


def test_the_table_says_how_many_modules_are_low() -> None:
    few, many = ("tests/test_a.py",), tuple(f"tests/engine/test_{name}.py" for name in "abcd")
    rows = [
        covered.Row(module="tray/a.py", tests=covered.named(few), statements=4, own=75, everyone=75),
        covered.Row(module="tray/b.py", tests=covered.named(many), statements=4, own=25, everyone=50),
    ]

    page = covered.page(rows)

    assert "2 modules; their own tests run 50 % of all statements; below 70 %: 1." in page
    assert page.endswith(
        "| `tray/a.py` | `test_a.py` | 4 | 75 % | 75 % |\n| `tray/b.py` | `tests/engine/` | 4 | 25 % | 50 % |\n"
    )
