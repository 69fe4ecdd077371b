"""An entry as it is written in its file, for people who are asked about it."""

from __future__ import annotations

import pytest

from tray.strict.json_reader import load_json
from tray.strict.yaml_reader import load_yaml

YAML = """
hooks:
  - event: a        # why
    prompt: |
      one

      two

    # of the next one
  - {event: b, command: ''}   # short
  - event: c
    tool:
  -
    event: d
    files:
      - a
      - b  # last
# end
other: 1
"""
JSON = """{"hooks": {"Pre": [{"matcher": "Bash",
   "hooks": [
     {"type": "command",
      "command": "x}"},
     {"type":"a"}]}], "Stop": [{"hooks":[{"command":"y"}]}]}}"""


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "- {event: b, command: ''}   # short"),
        (2, "- event: c\n  tool:"),
        (3, "event: d\nfiles:\n  - a\n  - b  # last"),
    ],
)
def test_an_entry_of_yaml_is_its_own_lines(number: int, text: str) -> None:
    assert load_yaml(YAML, "x").excerpt(("hooks", number)) == text


def test_a_text_block_is_whole() -> None:
    lines = load_yaml(YAML, "x").excerpt(("hooks", 0)).splitlines()

    assert lines[:5] == ["- event: a        # why", "  prompt: |", "    one", "", "    two"]


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (("hooks", "Pre", 0, "hooks", 0), '{"type": "command",\n "command": "x}"}'),
        (("hooks", "Pre", 0, "hooks", 1), '{"type":"a"}'),
        (("hooks", "Stop", 0, "hooks", 0), '{"command":"y"}'),
    ],
)
def test_an_entry_of_json_has_nothing_of_its_neighbours(at: tuple[str | int, ...], text: str) -> None:
    assert load_json(JSON, "x", limit=10_000).excerpt(at) == text


def test_what_is_no_mapping_or_not_there_has_no_text() -> None:
    document = load_yaml(YAML, "x")

    assert [document.excerpt(at) for at in (("hooks",), ("nothing",), ("hooks", 9))] == ["", "", ""]
