"""The requirements of all documents, and the page that lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from seeds.required_by_claude_code import CLAUDE_CODE
from seeds.required_by_shelley import SHELLEY
from seeds.required_by_starchild import STARCHILD
from seeds.required_by_x_code import X_CODE
from seeds.requirement import Requirement

REQUIREMENTS: tuple[Requirement, ...] = (*CLAUDE_CODE, *SHELLEY, *STARCHILD, *X_CODE)
HEAD = """\
# What the hook formats' documents require

Written by `python -m seeds.test_requirements` in `tests/` from `tests/seeds/required_by_*.py`; a test compares them.
Each row is one requirement of the documents that Hooktray's formats come from, with the test that shows it. What is
*open* or *ruled out* has its reason. Each case of `test_a_requirement_holds` also runs through the installed relay
and a real tray (`tests/seeds/test_requirements_live.py`), that of `system-prompt` in `tests/seeds/test_effects.py`.

"""
CASES = "tests/seeds/test_requirements.py::test_a_requirement_holds"


def page(place: Callable[[str], str]) -> str:
    """The table; `place` returns where a test is."""
    counts = Counter(one.state for one in REQUIREMENTS)
    summary = ", ".join(f"{counts[state]} {state}" for state in ("works", "open", "ruled out"))
    rows = "".join(_rows(place))
    head = "| | requirement | state | shown by |\n| --- | --- | --- | --- |\n"
    return f"{HEAD}{len(REQUIREMENTS)} requirements: {summary}.\n\n{head}{rows}"


def _rows(place: Callable[[str], str]) -> Iterator[str]:
    for one in REQUIREMENTS:
        shown = [f"`{CASES}[{one.number}]`"] if one.case else []
        shown += [f"`{place(name)}`" for name in one.tests]
        state = f"{one.state}: {one.why}" if one.why else one.state
        text = one.text.replace("|", "\\|")
        yield f"| {one.number} | {text} | {state} | {' '.join(shown)} |\n"
