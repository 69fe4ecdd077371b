"""Keeps the results of tests/installed, and writes their tables: `python tests/installed/table.py COMMIT JUNIT_XML`.

What a part of the tests found replaces what was kept of that part. Without arguments it prints the tables.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
RESULTS = ROOT / ".ci" / "results" / "installed.json"
PAGE = ROOT / "docs" / "generated" / "installed.md"
HEAD = """# Results of installations

Written by `tests/installed/all --write`; do not edit. Each row is a test below `tests/installed/`. The releases are
clean roots from debootstrap, one in which the package was built and another one in which it was installed; pip, pipx
and uv had the wheel and an empty home.

"""
TITLES = {
    "test_installations": "Each way of installing",
    "test_readme": "The README's commands, typed as they stand",
    "test_wheels": "What a release builds for Python's own tools",
}
TOOLS = ("pip", "pipx", "uv")  # their columns come last
WHOLE = "result"  # the column of a test without parameters

Rows = dict[str, dict[str, str]]  # test or fact -> column -> what was found


def read(path: Path) -> dict[str, Rows]:
    """By module; a column has the first parameter of its tests, and the worst of what they found at last."""
    from desktops.table import ENDINGS, last_results
    from rerun import NAME

    found: dict[str, Rows] = {}
    for (module, test), (ended, case) in last_results(path).items():
        rows = found.setdefault(module, {})
        name, _, parameters = test.rstrip("]").partition("[")
        column = re.split(r"-(?=pipx$|uv$)", parameters)[0] or WHOLE
        words = name.removeprefix("test_").replace("_", " ")
        earlier = rows.setdefault(words, {}).get(column, "passed")
        rows[words][column] = max(earlier, ended, key=ENDINGS.index)
        for one in case.iter("property"):
            if one.get("name") not in (None, "marked_test", NAME):
                rows.setdefault(str(one.get("name")), {})[column] = str(one.get("value"))
    return found


def render(results: dict[str, Rows]) -> str:
    """The page."""
    tables = []
    for module, title in TITLES.items():
        rows = results.get(module, {})
        if not rows:
            tables.append(f"## {title}\n\nNo results yet.\n")
            continue
        columns = sorted({column for row in rows.values() for column in row}, key=lambda one: (one in TOOLS, one))
        lines = [f"| | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
        lines += [
            f"| {name} | {' | '.join(row.get(column, '') for column in columns)} |" for name, row in rows.items()
        ]
        tables.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return HEAD + "\n".join(tables)


def stored() -> dict[str, Rows]:
    return dict(json.loads(RESULTS.read_text()))


def main(words: list[str]) -> None:
    if not words:
        print(render(stored()), end="")
        return
    commit, junit = words
    kept = stored() if RESULTS.exists() else {}
    for module, rows in read(Path(junit)).items():
        columns = {column for row in rows.values() for column in row}
        rows["commit"] = dict.fromkeys(columns, commit)
        for name, row in rows.items():
            kept.setdefault(module, {}).setdefault(name, {}).update(row)
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n")
    PAGE.write_text(render(stored()))


if __name__ == "__main__":
    main(sys.argv[1:])
