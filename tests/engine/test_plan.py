from __future__ import annotations

import json
import re
import time
from typing import Any

import regex
from agents.recordings import built
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.engine.plan import PATTERN_LIMIT, EventSearch
from tray.engine.plan import matches as _matches
from tray.model.event import Event, EventKind, RelayRequest, Tool
from tray.model.hook import Match, plain_texts


def matches(match: Match, event: Event) -> bool:
    return _matches(match, event, EventSearch(event))


def tool_event(agent: str = "claude-code", tool: str = "Bash", **more: Any) -> Event:
    fields: dict[str, Any] = {"name": "PreToolUse", "kind": EventKind.TOOL_BEFORE, "cwd": "/secret/place"}
    tool_input = more.pop("input", {"command": "rm -rf build", "description": "clean"})
    return built(id="1", agent=agent, tool=Tool(name=tool, input=tool_input), **{**fields, **more})


@every(
    ("match", "fits"),
    [
        (Match(event="tool_before"), True),
        (Match(event="turn_end"), False),
        (Match(event="PreToolUse"), False),
        (Match(event="PreToolUse", agents=("claude-code",)), True),
        (Match(event="PreToolUse", agents=("x-code",)), False),
        (Match(event="tool_before", agents=("shelley", "claude-code")), True),
        (Match(event="tool_before", tool="Bash"), True),
        (Match(event="tool_before", tool="*"), True),
        (Match(event="tool_before", tool="Read|Bash"), True),
        (Match(event="tool_before", tool="Read, Bash"), True),
        (Match(event="tool_before", tool="Bas"), False),
        (Match(event="tool_before", tool="BASH"), False),
        (Match(event="tool_before", tool="Ba.*"), True),
        (Match(event="tool_before", tool="^a"), False),
        (Match(event="tool_before", pattern="rm -rf"), True),
        (Match(event="tool_before", pattern="^rm"), True),
        (Match(event="tool_before", pattern="secret"), False),
        (Match(event="tool_before", tool="Bash", pattern="mkfs"), False),
        (Match(event="tool_before", pattern="rm(?= -rf)"), True),
        (Match(event="tool_before", pattern="password"), True),  # however deep it lies
    ],
)
def test_a_match_goes_by_agent_event_tool_and_text(match: Match, fits: bool) -> None:
    input = {"command": "rm -rf build", "description": "clean", "edits": [{"new": "password = 1"}]}

    assert matches(match, tool_event(input=input)) is fits


def test_an_event_without_a_tool_is_searched_whole_and_runs_no_hook_for_a_tool() -> None:
    stop = built(id="1", agent="claude-code", name="Stop", kind=EventKind.TURN_END)
    other = built(
        id="1", agent="claude-code", name="X", kind=EventKind.OTHER, payload={"error": "rate_limit", "n": 3}
    )

    assert not matches(Match(event="turn_end", tool="Bash"), stop)
    assert matches(Match(event="other", pattern="rate"), other)


CLAIM = {"goal": "publish", "summary": "Done.", "response": "I sent sk-123", "tool_names": ["bash"]}


@every(
    ("agent", "name", "more", "pattern"),
    [
        ("starchild", "on_completion_claim", CLAIM, "sk-123"),
        ("starchild", "on_completion_claim", CLAIM, "publish"),
        ("starchild", "on_completion_claim", CLAIM, "^Done.$"),
        ("starchild", "pre_llm_call", {"system": "no rules", "last_user_message": "Go."}, "no rules"),
        ("claude-code", "TaskCreated", {"task_subject": "drop it", "task_description": "Soon."}, "drop it"),
        ("claude-code", "Elicitation", {"message": "Log in", "url": "https://evil.example"}, "evil"),
        ("claude-code", "StopFailure", {"error": "rate_limit", "last_assistant_message": "Busy."}, "rate_limit"),
        ("claude-code", "Notification", {"message": "Look.", "title": "Deploy"}, "Deploy"),
        ("claude-code", "FileChanged", {"file_path": "/p/.env", "event": "change"}, "change"),
        ("shelley", "end-of-turn", {"final_response": "Done.", "slug": "fix-it"}, "fix-it"),
        ("x-code", "SubagentStart", {"agent": {"name": "a", "description": "of prod", "prompt": "Go."}}, "of prod"),
    ],
)
def test_a_matcher_searches_every_text(agent: str, name: str, more: dict[str, Any], pattern: str) -> None:
    event = parsed(agent, name, more)

    assert matches(Match(event=event.kind.value, pattern=pattern), event)


SAY_NOTHING_ELSE = {
    *(("cline", name) for name in ("SessionShutdown", "TaskStart")),
    *(("opencode", name) for name in ("Interrupt", "PostCompact", "PreCompact")),
    *(("x-code", name) for name in ("SessionEnd", "SessionStart", "TurnComplete")),
}


@every("agent", list(AGENTS))
def test_what_an_agent_says_with_every_event_is_no_text_of_it(agent: str) -> None:
    for name in AGENTS[agent].events:
        if (agent, name) in SAY_NOTHING_ELSE:
            continue
        event = parse(RelayRequest(agent=agent, event=name, id="1", body=AGENTS[agent].protocol.sample(name)))
        frame = r"sess-1|agent-1|/\.claude/projects|default|cMT7MTV|curl/8|anthropic:|hooktray@local|end.of.turn"
        own = "|".join(map(re.escape, {name, event.session} - {""}))

        assert not matches(Match(event=event.kind.value, pattern=f"{frame}|^({own})$|\n({own})(\n|$)"), event), name


@every("pattern", [".", r"[\s\S]", "drop_all"])
@every("given", [{}, {"amount": 100_000}, {"names": []}])
def test_of_a_tool_that_is_given_no_text_all_of_the_event_is_searched(given: dict[str, Any], pattern: str) -> None:
    event = parsed("claude-code", "PreToolUse", {"tool_name": "mcp__db__drop_all", "tool_input": given})

    assert matches(Match(event="tool_before", pattern=pattern), event)


@every("agent", list(AGENTS))
def test_a_pattern_for_anything_matches_each_event(agent: str) -> None:
    for name in AGENTS[agent].events:
        event = parse(RelayRequest(agent=agent, event=name, id="1", body=AGENTS[agent].protocol.sample(name)))

        assert matches(Match(event=event.kind.value, pattern="."), event), name


@every(
    ("name", "more", "wanted", "fits"),
    [
        ("FileChanged", {"file_path": "/p/package-lock.json"}, "package-lock", True),
        ("FileChanged", {"file_path": "/p/package-lock.json"}, "package", False),
        ("FileChanged", {"file_path": "/p/Makefile"}, "README|Makefile", True),
        ("FileChanged", {"file_path": "/p/.env"}, ".envrc|.env", True),
        ("StopFailure", {"error": "rate_limit"}, "rate_limit, overloaded", False),
        ("StopFailure", {"error": "rate_limit"}, "rate_limit|overloaded", True),
        ("StopFailure", {"error": "rate_limit"}, "rate", False),
        ("Notification", {"notification_type": "idle_prompt"}, "auth_success, idle_prompt", True),
    ],
)
def test_matchers_of_file_changed_stop_failure_and_notification(
    name: str, more: dict[str, Any], wanted: str, fits: bool
) -> None:
    event = parsed("claude-code", name, more)
    match = Match(event=event.kind.value, tool=wanted, format="claude-code", native=name)

    assert matches(match, event) is fits


def test_of_a_tool_event_its_input_and_output_are_searched() -> None:
    event = parsed("claude-code", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "note": "rm"})

    assert not matches(Match(event="tool_before", pattern="Bash|rm"), event)


def parsed(agent: str, name: str, more: dict[str, Any]) -> Event:
    sample = json.loads(AGENTS[agent].protocol.sample(name))
    kept = {key: sample[key] for key in ("session_id", "cwd", "event", "hook_event_name", "type") if key in sample}
    return parse(RelayRequest(agent=agent, event=name, id="1", body=json.dumps(kept | more).encode()))


def test_an_evil_pattern_runs_out_of_time_and_counts_as_matching() -> None:
    event = tool_event(input={"command": "a" * 40 + "!"})
    started = time.process_time()

    assert matches(Match(event="tool_before", pattern="(a|aa)+$"), event)
    assert time.process_time() - started < 100 * PATTERN_LIMIT  # without the limit it would take hours


def test_an_event_we_could_not_read_asks_by_its_name_alone() -> None:
    event = built(
        id="1", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, problem="payload is not JSON"
    )

    assert matches(Match(event="tool_before", tool="Bash", pattern="rm"), event)


@every(("tool", "fits"), [("", True), ("Bash", True), ("Read|Ba.*", True), ("Read", False), ("*", True)])
def test_an_event_that_failed_by_a_fault_of_ours_asks_by_its_tool_too(tool: str, fits: bool) -> None:
    """Its text is not looked at: that may be where the fault is."""
    event = tool_event(problem="internal error: RuntimeError")

    assert matches(Match(event="tool_before", tool=tool, pattern="mkfs"), event) is fits


def test_all_patterns_of_an_event_share_one_budget_of_time() -> None:
    event = tool_event(input={"command": "a" * 40 + "!"})
    search, started = EventSearch(event), time.process_time()

    for number in range(60):
        assert _matches(Match(event="tool_before", pattern=f"(a|aa)+{number}$"), event, search)

    assert time.process_time() - started < 60 * PATTERN_LIMIT / 2  # with the whole limit for each: twice as long


@given(st.text("ab|\\.-/ (^$[{?", max_size=8), st.text("ab|\\.-/ ", max_size=8))
def test_a_pattern_that_is_plain_text_finds_what_the_pattern_finds(pattern: str, text: str) -> None:
    plain = plain_texts(pattern)

    assert plain is None or any(map(text.__contains__, plain)) == bool(regex.search(pattern, text))


@every(
    ("pattern", "texts"),
    [
        ("rm -rf", ("rm -rf",)),
        (r"mkfs\.|dd if=", ("mkfs.", "dd if=")),
        (r"a\|b", ("a|b",)),
        ("a|", None),
        ("a.b", None),
        ("^a", None),
        (r"\bgit", None),
    ],
)
def test_plain_text_and_alternatives_of_it_need_no_library(pattern: str, texts: tuple[str, ...] | None) -> None:
    assert plain_texts(pattern) == texts
