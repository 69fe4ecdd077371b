"""Every law and decision of docs/decisions.md names its tests; test_references.py looks whether they exist."""

from __future__ import annotations

import re
from pathlib import Path

ROW = re.compile(r"^\| (L?\d+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)


def test_every_law_and_decision_has_its_row_and_its_tests() -> None:
    rows = ROW.findall((Path(__file__).parents[1] / "docs" / "decisions.md").read_text(encoding="utf-8"))
    first = [*(f"L{number}" for number in range(1, 13)), *map(str, range(1, 34))]

    assert list(dict(rows))[: len(first)] == first
    assert [number for number, tests in rows if not re.search(r"`tests/[\w/]+\.py::\w+`", tests)] == []
