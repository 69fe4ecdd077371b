"""What a hook is given of a patch, and what it may change of one."""

from __future__ import annotations

import json
from typing import Any

from agents.recordings import built
from every import every

from tray.agents.claude_code.conditions import is_met
from tray.agents.patches import arguments, lost, write
from tray.agents.protocol import fit
from tray.agents.registry import AGENTS
from tray.agents.tools import further_files, hook_call, translate_back, translate_input
from tray.engine.plan import EventSearch
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.hook import Match

ADD = "*** Begin Patch\n*** Add File: notes.txt\n+one\n+two\n*** End Patch"
TWO = (
    "*** Begin Patch\n*** Update File: src/main.py\n*** Move to: src/app.py\n@@ def main\n keep\n-old\n+new\n"
    "*** Delete File: .env\n*** End Patch\n"
)
ADDED = {"file_path": "notes.txt", "file_paths": ["notes.txt"], "content": "one\ntwo"}
EDITED = {
    "file_path": "src/main.py",
    "file_paths": ["src/main.py", "src/app.py", ".env"],
    "old_string": "keep\nold",
    "new_string": "keep\nnew",
}


def patched(agent: str, name: str, input: dict[str, Any]) -> Event:
    tool = Tool(name=name, input=input)
    return built(id="1", agent=agent, name="PreToolUse", kind=EventKind.TOOL_BEFORE, cwd="/p", tool=tool)


CALLS = [
    ("codex", "apply_patch", "command"),
    ("cline", "apply_patch", "input"),
    ("copilot-cli", "apply_patch", "input"),
    ("droid", "ApplyPatch", "input"),
    ("opencode", "apply_patch", "patchText"),
]


@every(("agent", "name", "key"), CALLS)
@every(("text", "given", "title"), [(ADD, ADDED, "Write"), (TWO, EDITED, "Edit")])
def test_a_guard_in_claude_codes_format_is_given_the_files_of_a_patch(
    agent: str, name: str, key: str, text: str, given: dict[str, Any], title: str
) -> None:
    payload = json.loads(AGENTS["claude-code"].protocol.stdin(patched(agent, name, {key: text})))

    assert payload["tool_name"] == title
    assert payload["tool_input"] == {key: text, **given}


def test_another_format_is_given_them_under_its_own_keys() -> None:
    assert hook_call("codex", "starchild", Tool(name="apply_patch", input={"command": ADD})) == (
        "write_file",
        {"command": ADD, "path": "notes.txt", "filename": "notes.txt", **ADDED},
    )


@every(
    "input",
    [
        {},
        {"command": "ls"},
        {"command": "*** Begin Patch\n*** End Patch"},
        {"command": 7},
        {"command": "Begin Patch"},
    ],
)
def test_what_is_no_patch_has_no_files(input: dict[str, Any]) -> None:
    assert arguments(input) == {}


EDITS = [
    (
        {"file_path": "a.py", "old_string": "x\ny", "new_string": "z"},
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n-y\n+z\n*** End Patch",
    ),
    ({"file_path": "a.py", "content": "x\n"}, "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"),
]


@every(("input", "text"), EDITS)
def test_a_guard_of_codex_is_given_an_edit_as_a_patch(input: dict[str, Any], text: str) -> None:
    assert translate_input("claude-code", "codex", "Edit", input) == {**input, "command": text}
    assert arguments({"command": text})["file_path"] == "a.py"
    assert write({"content": "x"}) == ""


def test_what_a_hook_was_only_given_is_not_sent_to_the_agent() -> None:
    given = translate_input("codex", "claude-code", "apply_patch", {"command": TWO})

    assert translate_back("codex", "claude-code", "apply_patch", {"command": TWO}, given) == {"command": TWO}
    assert translate_back("codex", "claude-code", "apply_patch", {"command": TWO}, given | {"command": ADD}) == {
        "command": ADD
    }


def test_a_new_path_that_a_patch_cannot_take_is_a_refusal() -> None:
    event = patched("codex", "apply_patch", {"command": ADD})
    answer = translate_back("codex", "claude-code", "apply_patch", {"command": ADD}, {**ADDED, "file_path": "b.txt"})

    decision = fit(event, Decision(rewrite=Rewrite(target=Target.INPUT, value=answer)))

    assert decision.verdict is Verdict.DENY
    assert "changes one file of a patch" in decision.reason
    assert not lost({"command": ADD}, {"command": TWO})


@every(("rule", "met"), [("Edit(.env)", True), ("Edit(src/**)", True), ("Write(docs/**)", False)])
def test_a_condition_looks_at_each_file_of_a_patch(rule: str, met: bool) -> None:
    event = patched("codex", "apply_patch", {"command": TWO})

    match = Match(event="tool_before", format="claude-code", condition=rule)
    assert is_met(match, event, EventSearch(event)) is met


def test_a_patch_has_a_call_for_each_further_file_and_for_where_one_is_moved_to() -> None:
    tool = Tool(name="apply_patch", input={"command": TWO, "why": "x"})

    calls = further_files("codex", "claude-code", tool)

    assert [arguments(one.input) for one in calls] == [
        {**EDITED, "file_path": "src/app.py", "file_paths": ["src/app.py"]},
        {"file_path": ".env", "file_paths": [".env"], "old_string": "", "new_string": ""},
    ]
    assert [one.input["why"] for one in calls] == ["x", "x"]
    assert further_files("codex", "codex", tool) == further_files("opencode", "codex", tool) == []
    assert further_files("claude-code", "starchild", Tool(name="Write", input={"file_path": "a"})) == []
