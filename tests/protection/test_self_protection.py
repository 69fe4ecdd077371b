"""What agents may do about Hooktray through their tools, and what they may only talk about."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st
from protection.calls import PLACES, event, lines, shell, verdict

from tray.agents.agent import NativeTool
from tray.agents.registry import AGENTS
from tray.model.decision import Verdict
from tray.model.event import Event, EventKind, Tool
from tray.protection.protected_paths import ProtectedPaths, with_drive
from tray.protection.self_protection import Protection

SHORTEST = 20  # seconds: Starchild's limit for a tool call, the shortest of all agents

CLAUDE = "~/.claude/settings.json"


@every(
    ("line", "expected"),
    [
        *((line, Verdict.DENY) for line in lines("denied")),
        *((line, Verdict.ASK) for line in lines("unclear")),
        *((line, Verdict.ABSTAIN) for line in lines("free")),
    ],
)
def test_a_command_is_judged_by_what_it_does(line: str, expected: Verdict) -> None:
    assert shell(line).word == expected.word


@every(
    ("agent", "tool", "key"),
    [
        ("claude-code", "Write", "file_path"),
        ("claude-code", "MultiEdit", "file_path"),
        ("starchild", "write_file", "path"),
        ("starchild", "edit_file", "filename"),
        ("x-code", "writeFile", "filePath"),
        ("x-code", "edit", "path"),
    ],
)
@every(
    "path",
    [
        "/home/u/p/.claude/settings.json",
        ".claude/settings.local.json",
        "../.config/hooktray/hooktray.yaml",
        "~/.claude/hooks/guard.sh",
        "/home/u/p/x/../.claude/settings.json",
        "/w/config/shell_hooks.yaml",
        "/w/config/agent.yml",
        "/home/u/.Claude/Settings.json",
    ],
)
def test_no_agent_writes_what_declares_its_hooks(agent: str, tool: str, key: str, path: str) -> None:
    assert verdict(event(tool, {key: path, "content": "{}"}, agent)) is Verdict.DENY


@every(
    ("agent", "tool", "key"),
    [
        ("cline", "apply_patch", "input"),
        ("codex", "apply_patch", "command"),
        ("copilot-cli", "apply_patch", "input"),
        ("droid", "ApplyPatch", "input"),
        ("opencode", "apply_patch", "patchText"),
    ],
)
def test_no_agent_writes_them_by_a_patch(agent: str, tool: str, key: str) -> None:
    files = "*** Add File: a.txt\n+x\n*** Update File: .claude/settings.json\n@@\n-a\n+b\n"

    assert verdict(event(tool, {key: f"*** Begin Patch\n{files}*** End Patch"}, agent)) is Verdict.DENY


@pytest.mark.parametrize("tool", ["Read", "Grep", "mcp__fs__read_file"])
def test_every_agent_may_read_them(tool: str) -> None:
    assert verdict(event(tool, {"path": "/home/u/.claude/settings.json"})) is Verdict.ABSTAIN


def test_a_tool_that_nobody_knows_is_asked_about() -> None:
    assert verdict(event("mcp__fs__write_file", {"path": "/home/u/.claude/settings.json"})) is Verdict.ASK
    assert verdict(event("mcp__term__run", {"command": "hooktray off"})) is Verdict.DENY
    assert verdict(event("mcp__web__fetch", {"url": "http://localhost:8123/x"})) is Verdict.DENY


@pytest.mark.parametrize(
    ("path", "with_its_drive"),
    [
        ("/c/Users/me/x", "c:/Users/me/x"),
        ("/c", "c:/"),
        ("/cd/x", "/cd/x"),
        ("C:/x", "C:/x"),
        ("/é/x", "/é/x"),
        ("", ""),
    ],
)
def test_a_path_of_git_bash_gets_its_drive(path: str, with_its_drive: str) -> None:
    assert with_drive(path) == with_its_drive


def test_writing_about_hooks_in_a_file_of_ones_own_is_free() -> None:
    text = "Run `hooktray off`, then edit ~/.claude/settings.json"

    assert verdict(event("Write", {"file_path": "/home/u/p/README.md", "content": text})) is Verdict.ABSTAIN


def test_an_agent_without_hooks_goes_by_its_name_however_it_is_started() -> None:
    line = "npx @anthropic-ai/claude-code --settings '{\"disableAllHooks\": true}'"

    assert shell(line) is Verdict.ASK
    assert shell(line, "claude") is Verdict.ABSTAIN


@pytest.mark.parametrize("word", ["a/tray{}.txt", "a/setting{}.txt"])
def test_code_that_names_many_other_files_hides_no_file_of_ours(word: str) -> None:
    names = ", ".join(f"'{word.format(number)}'" for number in range(250))

    code = f"[open(one) for one in ({names}, '/w/.claude/settings.json')]"

    assert verdict(event("mcp__python__run", {"code": code})) is Verdict.ASK


@pytest.mark.parametrize("allow", ["hooktray pause", "hooktray p*"])
def test_an_exception_lets_just_that_pass(allow: str) -> None:
    assert shell("hooktray pause 1h", allow) is Verdict.ABSTAIN
    assert shell("hooktray pause 1h; hooktray off", allow) is Verdict.DENY
    assert verdict(event("Write", {"file_path": CLAUDE}), "~/.claude/*.json") is Verdict.ABSTAIN


def test_an_ordinary_call_costs_next_to_nothing() -> None:
    protection = Protection(protected_paths=PLACES)
    ordinary = event("Bash", {"command": "cd src && pytest -q tests/unit | tail -5", "description": "Run the tests"})

    protection.judge(ordinary)
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        protection.judge(ordinary)
    finally:
        sys.setprofile(None)

    assert "judge" in calls
    assert len(calls) <= 10, calls  # a call that is looked at more closely takes hundreds


@every("unit", ["<<a ", "hooktray;", "a ", "$(", "sudo ", "a$b", "((", "|a=b", "{a,b}"])
def test_a_line_that_takes_long_to_read_is_asked_about_before_the_agent_stops_waiting(unit: str) -> None:
    started = time.process_time()
    said = shell("hooktray " + unit * (300_000 // len(unit)))

    assert said >= Verdict.ASK
    assert time.process_time() - started < SHORTEST


def test_no_path_takes_long_to_look_at() -> None:
    started = time.process_time()
    verdict(event("Write", {"file_path": "/.claude/plugins/hooks" * 20_000}))

    assert time.process_time() - started < SHORTEST


def test_a_long_text_that_is_only_written_somewhere_is_nobodys_business() -> None:
    line = "cat > notes.md <<'EOF'\n" + "hooks are run by the tray\n" * 40_000 + "EOF"

    assert shell(line) is Verdict.ABSTAIN


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_our_files_are_ours_by_whatever_links_they_are_reached(tmp_path: Path) -> None:
    own = tmp_path / "config" / "hooktray"
    own.mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(own)
    protection = Protection(protected_paths=ProtectedPaths(own=(own.as_posix(),)))

    said = protection.judge(event("Write", {"file_path": str(tmp_path / "elsewhere" / "hooktray.yaml")}))

    assert said is not None
    assert said.output.verdict is Verdict.DENY


def test_a_call_that_cannot_be_judged_is_asked_about() -> None:
    class Broken:
        @property
        def exceptions(self) -> list[str]:
            raise RuntimeError

    outcome = Protection(protected_paths=PLACES, settings=Broken()).judge(event("Bash", {"command": "hooktray off"}))

    assert outcome is not None
    assert outcome.output.verdict is Verdict.ASK


@pytest.mark.skipif(sys.platform == "win32", reason="its clock of processes ticks 64 times a second")
@every("piece", ["|/", "|a= ", "|a=a ", "a=a ", "'  ", "sh -a ", '" [[', "eval *", "/../|/"])
def test_no_line_takes_longer_than_its_length_explains(piece: str) -> None:
    def seconds(size: int) -> float:
        heard, times = event("Bash", {"command": f"echo 'hook {piece * (size // len(piece))}'"}), []
        for _ in range(2):
            began = time.process_time()
            Protection(protected_paths=PLACES).judge(heard)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(64_000) < 100 * max(seconds(4_000), 0.0005)  # sixteen times as long


ATTEMPTS = [
    "hooktray off",
    "hooktray pause 30m",
    "rm -rf ~/.config/hooktray",
    "echo {} >~/.claude/settings.json",
    "ls",
]
NOISE = ["", "'", '"', "\\\n", "+", "''", " ", "\N{KELVIN SIGN}"]


@st.composite
def hidden(draw: st.DrawFn) -> str:
    """An attempt with a sign put in somewhere, which a shell may or may not take away again."""
    text = draw(st.sampled_from(ATTEMPTS))
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(NOISE)) + text[place:]


KEYS = st.sampled_from(["command", "file_path", "path", "code", "args"])
inputs = st.dictionaries(KEYS, hidden() | st.lists(hidden(), max_size=2) | st.integers(), min_size=1, max_size=2)
TOOLS = st.sampled_from(["Bash", "Read", "Write", "Edit", "Skill", "mcp__shell__run", "bash", "write_file", "Task"])


OWN_FILE = "/home/u/.config/hooktray/hooktray.yaml"
SPELLINGS = [
    (agent, tool.name, key, spelling)
    for agent, known in AGENTS.items()
    for title, key in (("Bash", "command"), ("Edit", "file_path"), ("Write", "file_path"))
    for tool in [known.tools.get(title) or NativeTool(title)]
    for spelling in tool.keys.get(key, (key,))
]


@every(("agent", "tool", "key", "spelling"), SPELLINGS)
def test_no_argument_hides_one_that_the_agent_looks_at(agent: str, tool: str, key: str, spelling: str) -> None:
    """A model may add arguments that its agent passes over."""
    wrong, right = ("hooktray off", "ls") if key == "command" else (OWN_FILE, "/tmp/x")

    for other in {"command", "file_path", "filePath", "path"} - {spelling}:
        for input in ({other: right, spelling: wrong}, {spelling: wrong, other: right}):
            assert verdict(event(tool, input, agent)) is Verdict.DENY, input


@every("first", ["echo 'a", "cd /tmp", "HOME=/tmp", "cat <<X", "echo \\"])
def test_no_command_of_a_call_hides_the_next_one(first: str) -> None:
    """Where each runs in a shell of its own."""
    call = Tool(name="run_commands", input={"command": ""}, lines=(first, "rm -rf ../.local/state/hooktray", "x'"))
    one = Event(id="1", agent="cline", name="x", kind=EventKind.TOOL_BEFORE, cwd="/home/u/p", tool=call)

    assert verdict(one) is Verdict.DENY


@given(agent=st.sampled_from(["claude-code", "starchild"]), tool=TOOLS, input=inputs)
def test_no_call_is_passed_over_that_deserves_a_word(agent: str, tool: str, input: dict[str, Any]) -> None:
    protection = Protection(protected_paths=ProtectedPaths(own=("/home/u/.config/hooktray",), home="/home/u"))
    call = Tool(name=tool, input=input)
    one = Event(id="0", agent=agent, name="", kind=EventKind.TOOL_BEFORE, cwd="/home/u", tool=call)

    if not protection.applies(agent, call, one.cwd):
        assert protection._findings(one, call) == []


def test_of_a_shells_call_only_its_command_is_searched() -> None:
    """However large its other arguments are, they cost nothing."""
    protection = Protection(protected_paths=PLACES)

    assert not protection.applies("claude-code", Tool(name="Bash", input={"command": "make", "content": "hooktray"}))
    assert protection.applies("claude-code", Tool(name="Bash", input={"command": "hooktray", "content": ""}))
    assert protection.applies("claude-code", Tool(name="mcp__a__b", input={"command": "make", "content": "hooktray"}))
