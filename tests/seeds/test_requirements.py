"""Each requirement of the formats' documents has a case that holds or a test that is there, and a row on the page."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from seeds.inputs import PRINTED
from seeds.requirement import Requirement, parsed
from seeds.requirements import REQUIREMENTS, page

from tray.agents.registry import AGENTS

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "generated" / "requirements.md"
TEST = re.compile(r"^ *def test_(\w+)\(", re.MULTILINE)
WITH_CASES = [one for one in REQUIREMENTS if one.case]


@pytest.mark.parametrize("requirement", WITH_CASES, ids=[one.number for one in WITH_CASES])
def test_a_requirement_holds(requirement: Requirement) -> None:
    assert requirement.case is not None
    requirement.case.check()


@pytest.mark.parametrize(("agent", "event"), PRINTED, ids="-".join)
def test_a_printed_payload_reaches_a_hook_of_its_own_format_with_every_value(agent: str, event: str) -> None:
    printed = PRINTED[agent, event]

    found = json.loads(AGENTS[agent].protocol.stdin(parsed(agent, event, json.dumps(printed).encode())))

    assert {key: found[key] for key in printed} == printed


def test_every_row_has_a_test_that_is_there_and_one_that_does_not_work_its_reason() -> None:
    numbers = [one.number for one in REQUIREMENTS]
    without = [one.number for one in REQUIREMENTS if not (one.case or one.tests)]
    missing = [(one.number, name) for one in REQUIREMENTS for name in one.tests if len(places(name)) != 1]

    assert (len(set(numbers)), without, missing) == (len(numbers), [], [])
    assert {one.state for one in REQUIREMENTS} <= {"works", "open", "ruled out"}
    assert all(one.why for one in REQUIREMENTS if one.state != "works")


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(place)


def places(name: str) -> list[str]:
    """Where there is a test function of this name, below a folder that it may name: `starchild/::…`."""
    folder, _, function = name.rpartition("::")
    return [f"{path}::test_{function}" for path in functions()[function] if folder in path]


def place(name: str) -> str:
    return places(name)[0]


@cache
def functions() -> dict[str, list[str]]:
    """The files of each test function, by its name without `test_`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        for name in TEST.findall(path.read_text(encoding="utf-8")):
            found[name].append(f"tests/{path.relative_to(TESTS).as_posix()}")
    return found


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(place), encoding="utf-8")
