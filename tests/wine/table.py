"""Keeps the results under wine, and writes their table: `python tests/wine/table.py COMMIT JUNIT_XML`.

Without arguments it prints the table of what is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
RESULTS = ROOT / ".ci" / "results" / "wine.json"
PAGE = ROOT / "docs" / "generated" / "wine.md"
HEAD = """# Results under wine

Written by `tests/wine/all --write`; do not edit. Each row is a test of `tests/wine/`: Hooktray for Windows with
a CPython for Windows, run under wine 8 on Linux, not on Windows. The tests for Windows are those that
`tests/portable.py` does not leave out.

| | |
| --- | --- |
"""


def render(commit: str, tests: dict[str, str]) -> str:
    """The page: `tests` has how each ended."""
    rows = [f"| {name.removeprefix('test_').replace('_', ' ')} | {ended} |" for name, ended in tests.items()]
    return HEAD + "\n".join([f"| commit | {commit} |", *rows]) + "\n"


def main(words: list[str]) -> None:
    from desktops.table import read

    if not words:
        print(render(**json.loads(RESULTS.read_text())), end="")
        return
    commit, junit = words
    tests = read(Path(junit))
    RESULTS.write_text(json.dumps({"commit": commit, "tests": tests}, indent=2) + "\n")
    PAGE.write_text(render(commit, tests))


if __name__ == "__main__":
    main(sys.argv[1:])
