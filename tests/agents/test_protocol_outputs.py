"""A tool's output as text, and another text in its place: nothing of the old one is left to be seen."""

from __future__ import annotations

from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.agents.outputs import as_text, from_text, same_shape, with_text

READ = {"type": "text", "file": {"filePath": "/a", "content": "old", "numLines": 1}}
BLOCKS = [{"type": "text", "text": "old"}, {"type": "text", "text": "older"}]
OUTPUTS: list[tuple[Any, str, Any]] = [
    (None, "", "new"),
    ("", "", "new"),
    ("old", "old", "new"),
    (
        {"stdout": "old", "stderr": "", "interrupted": False},
        "old",
        {"stdout": "new", "stderr": "", "interrupted": False},
    ),
    ({"stdout": "old", "stderr": "older"}, "old\nolder", {"stdout": "new", "stderr": ""}),
    ({"stdout": "old"}, "old", {"stdout": "new"}),
    (READ, "old", {"type": "text", "file": {"filePath": "/a", "content": "new", "numLines": 1}}),
    (BLOCKS, "old\nolder", [{"type": "text", "text": "new"}]),
    (
        {"status": "completed", "content": BLOCKS},
        "old\nolder",
        {"status": "completed", "content": [{"type": "text", "text": "new"}]},
    ),
    # Without a place for a text: seen whole, and not replaced.
    ({"content": "old", "originalFile": "older"}, '{"content":"old","originalFile":"older"}', None),
    ({"matches": 7}, '{"matches":7}', None),
    ({"stdout": 7}, '{"stdout":7}', None),
    (7, "7", None),
    ([], "[]", None),
    ([1, "a"], '[1,"a"]', None),
    ({"file": "old"}, '{"file":"old"}', None),
]


@every(("output", "text", "after"), OUTPUTS)
def test_an_output_is_seen_and_replaced_as_text(output: Any, text: str, after: Any) -> None:
    assert as_text(output) == text
    assert with_text(output, "new") == after


@pytest.mark.parametrize("tool", ["Bash", "Read", "Write", "mcp__a__b"])
@given(st.text(max_size=30))
def test_a_text_dressed_as_a_tools_own_output_still_says_the_same(tool: str, text: str) -> None:
    assert as_text(from_text(tool, {"file_path": "/a"}, text)) == text


SHAPES = [("a", "b", True), ({}, {"a": 1}, True), ([], [1], True), (None, 7, True), ("a", {}, False), ({}, [], False)]


@pytest.mark.parametrize(("output", "value", "same"), SHAPES)
def test_an_output_can_only_be_replaced_by_one_of_its_own_shape(output: Any, value: Any, same: bool) -> None:
    assert same_shape(output, value) is same
