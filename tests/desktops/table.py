"""Keeps one desktop's results, and writes the table of all: `python tests/desktops/table.py NAME COMMIT JUNIT_XML`.

Without arguments it prints the table of what is kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
RESULTS = ROOT / ".ci" / "results" / "desktops"
PAGE = ROOT / "docs" / "generated" / "desktops.md"
SECOND = "passed the second time"
ENDINGS = ("passed", SECOND, "skipped", "failed")  # from the best to the worst
HEAD = """# Results on desktops

Written by `tests/desktops/all --long --write`; do not edit. Each row is a test of
`tests/desktops/contract.py` or of one desktop, done with the real pointer; on Wayland with one that the compositor
lends. mako draws no buttons, so a click on sway opens them as a menu.

"""


class Results(TypedDict):
    """Of one desktop."""

    commit: str  # the one that was tested
    starts: int  # how often the tray was started, to see its icon each time
    tests: dict[str, str]  # name -> how it ended


def last_results(path: Path) -> dict[tuple[str, str], tuple[str, ElementTree.Element]]:
    """(module, test with its parameters) -> how it ended and its element, of its second run if there was one."""
    from rerun import SECOND_RESULTS

    found: dict[tuple[str, str], tuple[str, ElementTree.Element]] = {}
    for file in (path, *sorted(path.parent.glob(f"{path.name}{SECOND_RESULTS}*"))):
        for case in ElementTree.parse(file).iter("testcase"):
            bad = any(case.find(kind) is not None for kind in ("failure", "error"))
            good = "passed" if file == path else SECOND
            ended = "failed" if bad else "skipped" if case.find("skipped") is not None else good
            found[case.get("classname", "").split(".")[-1], case.get("name", "")] = ended, case
    return found


def read(path: Path) -> dict[str, str]:
    """Test -> how it ended; the cases of one test are one row, which has the worst of them."""
    found: dict[str, str] = {}
    for (_, case), (ended, _) in last_results(path).items():
        name = case.partition("[")[0]
        found[name] = max(found.get(name, "passed"), ended, key=ENDINGS.index)
    return found


def render(results: dict[str, Results]) -> str:
    """The page."""
    found = [results[name] for name in sorted(results)]
    tests = list(dict.fromkeys(test for one in found for test in one["tests"]))
    lines = [_row("", (name.replace("_", " ") for name in sorted(results))), "| --- |" + " --- |" * len(found)]
    lines.append(_row("commit", (one["commit"] for one in found)))
    lines.append(_row("starts of the tray", (str(one["starts"]) for one in found)))
    for test in tests:
        words = test.removeprefix("test_").replace("_", " ")
        lines.append(_row(words, (one["tests"].get(test, "") for one in found)))
    return HEAD + "\n".join(lines) + "\n"


def _row(title: str, cells: Iterable[str]) -> str:
    return f"| {' | '.join((title, *cells))} |"


def stored() -> dict[str, Results]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


def main(words: list[str]) -> None:
    if not words:
        print(render(stored()), end="")
        return
    from desktops.contract import STARTS

    desktop, commit, junit = words
    found: Results = {"commit": commit, "starts": STARTS, "tests": read(Path(junit))}
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{desktop}.json").write_text(json.dumps(found, indent=2) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(stored()))


if __name__ == "__main__":
    main(sys.argv[1:])
