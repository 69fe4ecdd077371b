"""Each requirement of docs/requirements.md has a case that passes, or names a test that exists."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from every import every
from seeds.inputs import PRINTED
from seeds.requirement import parsed
from seeds.requirements import CASES

from tray.agents.registry import AGENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+) \| .+ \| (?:works|(?:open|ruled out): .+) \| (.+) \|$", PAGE, re.MULTILINE)
CASE = "tests/seeds/test_requirements.py::test_a_requirement_holds[{}]"


@every("number", CASES)
def test_a_requirement_holds(number: str) -> None:
    CASES[number].check()


@every(("agent", "event"), PRINTED)
def test_a_printed_payload_reaches_a_hook_of_its_own_format_with_every_value(agent: str, event: str) -> None:
    printed = PRINTED[agent, event]

    found = json.loads(AGENTS[agent].protocol.stdin(parsed(agent, event, json.dumps(printed).encode())))

    assert {key: found[key] for key in printed} == printed


def test_every_row_of_the_page_names_tests_and_cases_that_are_there() -> None:
    numbers = [number for number, _ in ROWS]
    named = {number: re.findall(r"`(.+?)`", shown) for number, shown in ROWS}

    assert len(ROWS) == PAGE.count("\n| ") - 2
    assert len(set(numbers)) == len(numbers)
    assert {number for number in named if CASE.format(number) in named[number]} == set(CASES)
    others = {name for number in named for name in named[number] if name != CASE.format(number)}
    assert [name for name in sorted(others) if not is_there(name)] == []
    assert all(named.values())


def is_there(name: str) -> bool:
    path, _, function = name.partition("::")
    return f"def {function}(" in text(path)


@cache
def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
