"""Claude's `if`: which calls a permission rule means, on Claude Code and, through the table of tools, elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from every import every

from tray.engine.plan import EventSearch, matches
from tray.model.event import Event, EventKind, Tool
from tray.model.hook import Match


def met(
    condition: str, name: str, input: Mapping[str, Any], *, agent: str = "claude-code", project: str = ""
) -> bool:
    event = Event(
        id="", agent=agent, name="PreToolUse", kind=EventKind.TOOL_BEFORE, cwd="/home/dev/api",
        tool=Tool(name=name, input=input),
    )  # fmt: skip
    match = Match(
        event="tool_before", format="claude-code", native="PreToolUse", condition=condition, project=project
    )
    return matches(match, event, EventSearch(event))


COMMANDS = [
    ("Bash(git *)", "git push", True),
    ("Bash(git *)", "git", True),
    ("Bash(git *)", "gitk", False),
    ("Bash(git*)", "gitk", True),
    ("Bash(git:*)", "git push", True),
    ("Bash(git:*)", "gitk", False),
    ("Bash(git push)", "git push", True),
    ("Bash(git push)", "git push -f", False),
    ("Bash(git * main)", "git push origin main", True),
    ("Bash(* --version)", "node --version", True),
    ("Bash", "anything", True),
    ("Bash(*)", "anything", True),
    (r"Bash(echo \*)", "echo *", True),
    (r"Bash(echo \*)", "echo x", False),
    ("Bash(a.b *)", "axb c", False),
    # every command of a line, what stands before it, and what is inside of it
    ("Bash(git *)", "cd x && git push", True),
    ("Bash(git *)", "ls | git x; true", True),
    ("Bash(git *)", "A=1 B=2 git push", True),
    ("Bash(git *)", "echo $(git log)", True),
    ("Bash(git *)", 'echo "now: $(git log)"', True),
    ("Bash(git *)", "echo `git log`", True),
    ("Bash(git *)", "diff <(git show) x", True),
    ("Bash(git *)", "if true; then git push; fi", True),
    ("Bash(git *)", "( git push )", True),
    ("Bash(git *)", "timeout 5 git push", True),
    ("Bash(git *)", "sudo -u x git push", True),
    ("Bash(git *)", "'git' push >log 2>&1", True),
    ("Bash(git *)", "git   push", True),
    ("Bash(git *)", "echo git push", False),
    ("Bash(git *)", "ls && echo done", False),
    ("Bash(git *)", "cat git log", False),
    # what cannot be taken apart is met
    ("Bash(git *)", "echo 'open", True),
    ("Bash(git *)", "$TOOL push", True),
    ("Bash(git *)", "echo $(open", True),
    ("Bash(git *)", "cat <<X\nX", True),
    ("Bash(git *)", "$(" * 20 + ")" * 20, True),
]


@every(("rule", "command", "expected"), COMMANDS)
def test_a_rule_for_commands(rule: str, command: str, expected: bool) -> None:
    assert met(rule, "Bash", {"command": command}) is expected


PATHS = [
    ("Edit(*.ts)", "src/a/b.ts", True),
    ("Edit(*.ts)", "/home/dev/api/b.ts", True),
    ("Edit(*.ts)", "/elsewhere/b.ts", True),  # wherever it lies: the hook may judge
    ("Edit(*.ts)", "b.tsx", False),
    ("Edit(src/**)", "src/a/b.ts", True),
    ("Edit(src/**)", "lib/src/b.ts", False),
    ("Edit(src)", "src/a/b.ts", True),
    ("Edit(./src/*.ts)", "src/b.ts", True),
    ("Edit(./src/*.ts)", "src/a/b.ts", False),
    ("Edit(./.env)", "sub/.env", True),
    ("Edit(./.env)", "sub/.envrc", False),
    ("Edit(./.env*)", "sub/.env.local", True),
    ("Edit(./src)", "x/src/c.ts", True),
    ("Edit(./src/*.ts)", "x/src/b.ts", False),
    ("Edit(A.ts)", "a.ts", True),
    ("Edit(//ETC/**)", "/etc/passwd", True),
    ("Edit(Src/*.TS)", "src/B.ts", True),
    ("Edit(/src/*.ts)", "src/b.ts", True),
    ("Edit(**/b.ts)", "x/y/b.ts", True),
    ("Edit(b?.ts)", "bc.ts", True),
    ("Edit(//etc/**)", "/etc/passwd", True),
    ("Edit(//etc/**)", "/home/etc/passwd", False),
    ("Edit(src/**)", "other/../src/x.ts", True),
    ("Edit", "x", True),
    ("Write(*.ts)", "b.ts", True),
    ("Read(*.ts)", "b.ts", False),
    ("Edit(!*.ts)", "b.py", True),  # not understood
]


@every(("rule", "path", "expected"), PATHS)
def test_a_rule_for_files(rule: str, path: str, expected: bool) -> None:
    assert met(rule, "Write", {"file_path": path, "content": ""}) is expected


@every(
    ("rule", "name", "input", "expected"),
    [
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com/x"}, True),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://api.example.com"}, True),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://badexample.com"}, False),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": 3}, True),
        ("mcp__memory", "mcp__memory__store", {}, True),
        ("mcp__memory__*", "mcp__memory__store", {}, True),
        ("mcp__memory", "mcp__memories__store", {}, False),
        ("Task(Explore)", "Agent", {"subagent_type": "Plan"}, True),  # what it asks is not known here
        ("Bash(git *)", "Bash", {"command": 3}, True),
        ("Bash(git *)", "Read", {"file_path": "git x"}, False),
        ("Read(*.ts)", "Grep", {"pattern": "x", "path": "src/b.ts"}, True),
        ("Read(*.ts)", "Grep", {"pattern": "x"}, True),
        ("Bash(git", "Read", {}, True),
    ],
)
def test_a_rule_for_other_tools(rule: str, name: str, input: dict[str, Any], expected: bool) -> None:
    assert met(rule, name, input) is expected


def test_a_rule_is_about_the_same_tool_of_another_agent() -> None:
    assert met("Bash(git *)", "shell", {"command": "git push"}, agent="x-code")
    assert not met("Bash(git *)", "shell", {"command": "ls"}, agent="x-code")
    assert met("Edit(*.ts)", "writeFile", {"filePath": "a.ts", "content": ""}, agent="x-code")
    assert not met("Edit(*.ts)", "writeFile", {"filePath": "a.py", "content": ""}, agent="x-code")


def test_a_rule_of_a_project_counts_from_that_project() -> None:
    assert met("Edit(/src/**)", "Edit", {"file_path": "/home/dev/api/src/x"}, project="/home/dev")
    assert met("Edit(/api/src/**)", "Edit", {"file_path": "/home/dev/api/src/x"}, project="/home/dev")


def test_a_rule_that_would_take_for_ever_is_met() -> None:
    assert met("Bash(" + "*a" * 30 + "b)", "Bash", {"command": "a" * 200_000})


@pytest.mark.parametrize("path", ["/x/a\0b", "/x/\ud800", "/home/dev/api/src/\0"])
def test_a_name_that_no_file_can_have_is_judged_like_any_other(path: str) -> None:
    assert met("Write(src/**)", "Write", {"file_path": path}) is ("/src/" in path)


def test_every_command_of_a_call_is_looked_at_by_itself() -> None:
    call = Tool(name="run_commands", input={"command": ""}, lines=("echo 'a", "git push", "echo b'"))
    event = Event(id="", agent="cline", name="PreToolUse", kind=EventKind.TOOL_BEFORE, cwd="/p", tool=call)
    match = Match(event="tool_before", format="claude-code", native="PreToolUse", condition="Bash(git *)")

    assert matches(match, event, EventSearch(event))


def test_no_path_hides_one_that_the_agent_looks_at() -> None:
    assert met("Edit(*.env)", "writeFile", {"path": "a.txt", "filePath": "b.env"}, agent="x-code")
    assert met("Edit(*.env)", "writeFile", {"path": "b.env", "filePath": "a.txt"}, agent="x-code")
