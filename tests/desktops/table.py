"""Keeps the results of one desktop, and writes the table of all: `python tests/desktops/table.py NAME JUNIT_XML`.

Without arguments it prints the table of what is kept.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
RESULTS = ROOT / ".ci" / "results" / "desktops"
PAGE = ROOT / "docs" / "generated" / "desktops.md"
SECOND = "passed the second time"
HEAD = """# Results on desktops

Written by `tests/desktops/all --long --write`; do not edit. Each row is a test of
`tests/desktops/contract.py`, done with the real pointer; on Wayland with one that the compositor lends.

"""


def read(path: Path) -> dict[str, str]:
    """Test -> how it ended, of both runs when some ran again (`tests/rerun.py`)."""
    from rerun import SECOND_RESULTS

    found = _read_run(path)
    second = path.with_name(f"{path.name}{SECOND_RESULTS}")
    if second.exists():
        found |= {name: SECOND if ended == "passed" else ended for name, ended in _read_run(second).items()}
    return found


def _read_run(path: Path) -> dict[str, str]:
    """The cases of one test are one row, which has the worst of them."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = re.sub(r"\[.*", "", case.get("name", ""))
        bad = any(case.find(kind) is not None for kind in ("failure", "error"))
        ended = "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        found[name] = max(found.get(name, "passed"), ended, key=["passed", "skipped", "failed"].index)
    return found


def render(results: dict[str, dict[str, str]]) -> str:
    """The page."""
    names = sorted(results)
    tests = list(dict.fromkeys(test for one in results.values() for test in one))
    lines = [f"| | {' | '.join(names).replace('_', ' ')} |", "| --- |" + " --- |" * len(names)]
    for test in tests:
        words = test.removeprefix("test_").replace("_", " ")
        lines.append(f"| {words} | {' | '.join(results[name].get(test, '') for name in names)} |")
    return HEAD + "\n".join(lines) + "\n"


def stored() -> dict[str, dict[str, str]]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


def main(words: list[str]) -> None:
    if not words:
        print(render(stored()), end="")
        return
    desktop, junit = words
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{desktop}.json").write_text(json.dumps(read(Path(junit)), indent=2) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(stored()))


if __name__ == "__main__":
    main(sys.argv[1:])
