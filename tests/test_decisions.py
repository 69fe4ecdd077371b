"""Every decision of docs/decisions.md has its test, and that test is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from every import every

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| (L?\d+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
ROWS = dict(ROW.findall((ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")))


def test_every_law_and_every_decision_has_its_row() -> None:
    first = [*(f"L{number}" for number in range(1, 13)), *map(str, range(1, 34))]
    later = list(ROWS)[len(first) :]  # of the second round; each comes with the change that keeps it

    assert list(ROWS)[: len(first)] == first
    assert later == sorted(later, key=int)


@every("number", ROWS)
def test_the_tests_of_a_decision_are_there(number: str) -> None:
    named = re.findall(r"`([\w/.]+)::(\w+)`", ROWS[number])

    assert named
    assert [one for one in named if one[1] not in functions(one[0])] == []


@cache
def functions(path: str) -> frozenset[str]:
    """The names of the test functions in a file, also those of classes."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
