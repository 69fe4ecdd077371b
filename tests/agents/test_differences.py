"""The differences between agents that are easiest to get wrong, one by one, each with its tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from agents.hook_outputs import inner, ran
from agents.recordings import recorded, request_for, sampled
from agents.test_protocol_hosts import heard
from every import every
from hosts import claude_code, shelley

from tray.agents.protocol import fit, neutral, parse, render, spec
from tray.agents.registry import AGENTS
from tray.engine.plan import EventSearch, matches
from tray.model.decision import Answer, Decision, Rewrite, Target, Verdict
from tray.model.event import EventKind
from tray.model.hook import Failure
from tray.reading.entries import SourceHooks

TESTS = Path(__file__).parents[1]
PERMITS = {
    "claude-code": ("PreToolUse", "deny"),
    "copilot-cli": ("PreToolUse", "deny"),
    "shelley": ("chat-message", "deny"),
    "starchild": ("pre_tool_call", "deny"),
    "x-code": ("PreToolUse", "deny"),
}


def source(folder: Path, agent: str, hook: dict[str, object]) -> SourceHooks:
    """One hook in a format's own file, with the hook's keys as that format spells them."""
    event = PERMITS[agent][0]
    if agent == "claude-code":
        path = folder / "settings.json"
        matcher = {"matcher": hook.pop("matcher")} if "matcher" in hook else {}
        path.write_text(json.dumps({"hooks": {event: [matcher | {"hooks": [{"type": "command"} | hook]}]}}))
    elif agent == "starchild":
        path = folder / "shell_hooks.yaml"
        path.write_text(json.dumps({"hooks": [{"event": event} | hook]}))
    else:
        path = folder / "hooks.json"
        path.write_text(json.dumps({event: [hook]}))
    return hooks_of(agent, path)


def hooks_of(agent: str, path: Path) -> SourceHooks:
    reader = AGENTS[agent].reader
    assert reader
    return reader().read(path, (), {})


def asked(found: SourceHooks, tool: str, agent: str) -> bool:
    payload = {"tool_name": tool, "tool_input": {}} if agent != "x-code" else {"tool": {"name": tool, "args": {}}}
    event = parse(request_for(agent, PERMITS[agent][0], json.dumps(payload).encode()))
    (hook,) = found.hooks
    return not hook.inactive and matches(hook.match, event, EventSearch(event))


# ---- 1 and 2: what failing means, and the neutral answer


def test_a_failure_aborts_on_shelley_alone_and_its_neutral_answer_never_fails() -> None:
    for agent, known in AGENTS.items():
        for name in known.events:
            event = sampled(agent, name)
            answer = neutral(known, name, event.body)
            assert (answer.code, answer.stderr, heard(event, answer).verdict) == (0, b"", "none"), name


def test_silence_changes_nothing_except_a_system_prompt_which_is_said_again() -> None:
    event = sampled("shelley", "system-prompt")

    assert render(event, Decision()) == Answer(stdout=event.body)
    assert heard(event, Answer()).verdict == "deny"
    assert all(
        neutral(known, name, b"x") == Answer()
        for agent, known in AGENTS.items()
        for name in known.events
        if name != "system-prompt" and agent not in ("antigravity", "cursor")  # which want an answer
    )


# ---- 3 and 4: exit codes

EXITS = [  # exit 2 silent, with stderr, with both; exit 1 with a refusal in JSON
    ("claude-code", "PreToolUse", ("deny", "deny", "deny", "deny")),
    ("copilot-cli", "PreToolUse", ("deny", "deny", "deny", "failed")),
    ("antigravity", "PreToolUse", ("failed", "failed", "failed", "failed")),
    ("cursor", "preToolUse", ("deny", "deny", "deny", "failed")),
    ("gemini-cli", "BeforeTool", ("failed", "deny", "deny", "deny")),
    ("kimi-code", "PreToolUse", ("deny", "deny", "deny", "failed")),
    ("qwen-code", "PreToolUse", ("failed", "deny", "deny", "deny")),
    ("starchild", "pre_tool_call", ("failed", "deny", "failed", "failed")),
    ("shelley", "chat-message", ("failed", "failed", "failed", "failed")),
    ("x-code", "PreToolUse", ("failed", "failed", "failed", "failed")),
]


@pytest.mark.parametrize(("agent", "name", "means"), EXITS)
def test_exit_2_and_json_beside_a_failure_mean_what_the_agent_says(
    agent: str, name: str, means: Sequence[str]
) -> None:
    refusal = '{"decision":"block","reason":"no"}'
    results = (ran(2), ran(2, err="no"), ran(2, "hello", "no"), ran(1, refusal))
    outputs = [AGENTS[agent].protocol.read(sampled(agent, name), result) for result in results]

    assert tuple("failed" if output.problem else output.verdict.word for output in outputs) == tuple(means)


# ---- 5, 6 and 7: units and matchers


@pytest.mark.parametrize(
    ("agent", "written", "seconds"), [("claude-code", 5, 5), ("starchild", 5, 5), ("x-code", 5000, 5)]
)
def test_only_x_code_counts_in_milliseconds(tmp_path: Path, agent: str, written: int, seconds: int) -> None:
    (hook,) = source(tmp_path, agent, {"command": "./x.sh", "timeout": written}).hooks

    assert hook.timeout == seconds


MATCHERS = [  # matcher, tool, asked on Claude Code, asked on X-Code
    ("Edit|Write", "NotebookEdit", False, True),
    ("Edit|Write", "Edit", True, True),
    ("Edit.*", "NotebookEdit", True, True),
    ("EDIT", "Edit", False, False),
    ("mcp__web", "mcp__web__get", False, True),
    ("Bash, Read", "Read", True, False),
    ("a(b", "Edit", False, True),
]


@pytest.mark.parametrize(("matcher", "tool", "claude", "x_code"), MATCHERS)
def test_a_matcher_is_a_list_of_names_there_and_a_pattern_here(
    tmp_path: Path, matcher: str, tool: str, claude: bool, x_code: bool
) -> None:
    for agent, wanted in (("claude-code", claude), ("x-code", x_code)):
        found = source(tmp_path, agent, {"matcher": matcher, "command": "./x.sh"})
        assert asked(found, tool, agent) is wanted, agent


# ---- 8, 9 and 10: answers


@pytest.mark.parametrize(
    ("agent", "name", "said", "kept"),
    [
        ("claude-code", "PreToolUse-Bash", inner('"updatedInput":{"command":"true"}'), False),
        ("claude-code", "PreToolUse-Bash", '{"updatedInput":{"command":"true"}}', True),
        ("x-code", "PreToolUse", '{"decision":"modify","args":{"path":"/x"}}', False),
        ("starchild", "pre_tool_call", '{"tool_input":{"command":"true"}}', True),
    ],
)
def test_a_new_input_replaces_the_whole_or_is_merged_into_it(agent: str, name: str, said: str, kept: bool) -> None:
    event = recorded(agent, name)
    assert event.tool is not None

    rewrite = AGENTS[agent].protocol.read(event, ran(0, said)).rewrite

    assert rewrite is not None
    assert isinstance(rewrite.value, dict)
    assert (rewrite.value.keys() >= event.tool.input.keys()) is kept


def test_no_answer_says_more_than_it_means() -> None:
    keys = {
        agent: sorted(json.loads(render(sampled(agent, name), Decision(verdict=Verdict.DENY, reason="no")).stdout))
        for agent, (name, _) in PERMITS.items()
        if agent != "shelley"
    }

    assert keys == {
        "claude-code": ["hookSpecificOutput"],
        "copilot-cli": ["permissionDecision", "permissionDecisionReason"],
        "starchild": ["decision", "reason"],
        "x-code": ["decision", "reason"],
    }


PLAIN = [
    ("claude-code", "UserPromptSubmit", "context"),
    ("claude-code", "SessionStart", "context"),
    ("claude-code", "PreToolUse", ""),
    ("shelley", "slash/files", "rewrite"),
    ("shelley", "system-prompt", "rewrite"),
    ("shelley", "chat-message", "problem"),
    ("starchild", "pre_tool_call", "warning"),
    ("x-code", "PreToolUse", "warning"),
    ("x-code", "TurnComplete", ""),
]


@every(("agent", "name", "becomes"), PLAIN)
def test_plain_text_becomes_what_the_agent_makes_of_it(agent: str, name: str, becomes: str) -> None:
    hook_output = AGENTS[agent].protocol.read(sampled(agent, name), ran(0, "hello"))

    said = [field for field in ("context", "rewrite", "problem", "warning") if getattr(hook_output, field)]
    assert said == ([becomes] if becomes else [])


# ---- 11, 12, 13 and 14: who and what it is


def test_the_events_name_comes_with_the_address_where_the_payload_has_none() -> None:
    body = b'{"message":"hi","readonly":{"conversation_id":"c"}}'

    assert parse(request_for("shelley", "chat-message", body)).kind is EventKind.PROMPT
    named = [("claude-code", "hook_event_name", "Stop"), ("starchild", "event", "on_stop"),
             ("x-code", "event", "PreCompact"), ("shelley", "type", "end_of_turn")]  # fmt: skip
    for agent, key, value in named:
        event = parse(request_for(agent, "elsewhere", json.dumps({key: value}).encode()))
        assert event.name == ("end-of-turn" if agent == "shelley" else value)


SESSIONS = [
    ("claude-code", "Stop", "8599f3e0-cb9f-4fa4-8e7e-c6bbde88efdc"),
    ("shelley", "end-of-turn", None),
    ("starchild", "on_stop", "sess-1"),
    ("x-code", "PreToolUse", "40:/abs/path/to/project"),  # it tells none: the agent's process and its folder
]


@pytest.mark.parametrize(("agent", "name", "session"), SESSIONS)
def test_every_agents_session_has_a_name(agent: str, name: str, session: str | None) -> None:
    found = recorded(agent, name)

    assert found.session == (session or json.loads(found.body)["conversation_id"])


def test_a_guard_on_bash_sees_x_codes_shell_and_its_rewrite_comes_back_as_such() -> None:
    event = sampled("x-code", "PreToolUse")
    read = json.loads(AGENTS["claude-code"].protocol.stdin(event))
    rewrite = AGENTS["claude-code"].protocol.read(event, ran(0, inner('"updatedInput":{"command":"true"}'))).rewrite

    assert (read["tool_name"], read["tool_input"]) == ("Bash", {"command": "ls -la"})
    assert json.loads(render(event, Decision(rewrite=rewrite)).stdout)["args"] == {"command": "true"}


@pytest.mark.parametrize("sign", ["CURSOR_VERSION", "COPILOT_CLI", "GEMINI_SESSION_ID"])
def test_another_host_that_runs_an_agents_hooks_does_not_change_the_dialect(sign: str) -> None:
    body = AGENTS["claude-code"].protocol.sample("PreToolUse")
    plain = request_for("claude-code", "PreToolUse", body)

    event = parse(type(plain)(agent=plain.agent, event=plain.event, id="1", body=body, environment={sign: "1"}))

    assert (event.agent, event.kind) == ("claude-code", EventKind.TOOL_BEFORE)


# ---- 16, 18, 19 and 20: what ends, what cannot be, and for how long


def test_only_x_codes_rounds_are_no_ends_of_turns() -> None:
    ends = {agent: [n for n, s in d.events.items() if s.kind is EventKind.TURN_END] for agent, d in AGENTS.items()}

    assert ends == {
        "antigravity": ["Stop"],
        "claude-code": ["Stop"],
        "cline": ["TaskComplete"],
        "codex": ["Stop"],
        "copilot-cli": ["Stop"],
        "cursor": ["stop"],
        "gemini-cli": ["AfterAgent"],
        "devin": ["Stop"],
        "droid": ["Stop"],
        "grok": ["Stop"],
        "kimi-code": ["Stop"],
        "kiro": ["stop"],
        "opencode": ["RunStop", "Stop"],
        "qwen-code": ["Stop"],
        "shelley": ["end-of-turn"],
        "starchild": ["on_stop"],
        "x-code": [],
    }
    assert spec("x-code", "TurnComplete").kind is EventKind.ROUND_END


def test_a_malformed_handler_takes_its_group_with_it_in_the_agent_and_alone_with_us(tmp_path: Path) -> None:
    good = {"type": "command", "command": "./good.sh"}
    groups = [{"hooks": [{"type": "nonsense"}, good]}, {"hooks": [good]}]
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))

    assert len(list(claude_code.configured(path, "PreToolUse", {"tool_name": "Bash"}))) == 1
    assert len(hooks_of("claude-code", path).hooks) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_script_without_its_first_line_aborts_on_shelley(tmp_path: Path) -> None:
    (tmp_path / "chat-message").write_text("echo hi\n")
    (tmp_path / "chat-message").chmod(0o755)
    body = AGENTS["shelley"].protocol.sample("chat-message")

    assert shelley.run(str(tmp_path), "chat-message", body, None).verdict == "deny"
    assert hooks_of("shelley", tmp_path).hooks[0].failure is Failure.BLOCK


DEADLINES = [
    ("claude-code", "PermissionRequest", 600, 598),
    ("claude-code", "UserPromptSubmit", 30, 28),
    ("claude-code", "MessageDisplay", 10, 9),
    ("shelley", "chat-message", 30, 28),
    ("starchild", "pre_tool_call", 120, 118),
    ("x-code", "PreToolUse", 30, 28),
]


@pytest.mark.parametrize(("agent", "name", "limit", "deadline"), DEADLINES)
def test_a_person_has_as_long_as_the_agent_waits_less_what_the_answer_needs(
    agent: str, name: str, limit: float, deadline: float
) -> None:
    assert (spec(agent, name).timeout, spec(agent, name).deadline) == (limit, deadline)


def test_what_cannot_be_asked_or_rewritten_there_is_refused_there() -> None:
    ask = Decision(verdict=Verdict.ASK, reason="sure?")
    prompt = Decision(rewrite=Rewrite(target=Target.PROMPT, value="other"))

    for agent, name in (("x-code", "PreToolUse"), ("starchild", "pre_tool_call"), ("shelley", "chat-message")):
        assert fit(sampled(agent, name), ask).verdict is Verdict.DENY
    assert fit(sampled("claude-code", "UserPromptSubmit"), prompt).verdict is Verdict.DENY
    assert fit(sampled("shelley", "chat-message"), prompt) == prompt


# ---- The table

HERE = "agents/test_differences.py"
DIFFERENCES: dict[int, tuple[str, tuple[str, ...]]] = {
    1: (
        "who fails open and who aborts",
        (
            f"{HERE}::test_a_failure_aborts_on_shelley_alone_and_its_neutral_answer_never_fails",
            "engine/test_failure_policies.py::test_shelleys_hooks_block_but_for_the_end_of_a_turn",
            "relay/test_relay_neutral.py::test_the_agent_gets_its_neutral_answer",
        ),
    ),
    2: (
        "the neutral answer",
        (f"{HERE}::test_silence_changes_nothing_except_a_system_prompt_which_is_said_again",),
    ),
    3: ("exit 2", (f"{HERE}::test_exit_2_and_json_beside_a_failure_mean_what_the_agent_says",)),
    4: ("JSON beside another exit", (f"{HERE}::test_exit_2_and_json_beside_a_failure_mean_what_the_agent_says",)),
    5: (
        "seconds and milliseconds",
        (
            f"{HERE}::test_only_x_code_counts_in_milliseconds",
            "agents/claude_code/test_claude_code_settings_hooks.py::test_time_is_in_seconds_unless_that_cannot_be_meant",
        ),
    ),
    6: (
        "lists, patterns, and patterns that are none",
        (
            f"{HERE}::test_a_matcher_is_a_list_of_names_there_and_a_pattern_here",
            "agents/x_code/test_x_code_source.py::test_an_invalid_pattern_matches_every_tool_and_is_told",
        ),
    ),
    7: ("`Edit|Write`", (f"{HERE}::test_a_matcher_is_a_list_of_names_there_and_a_pattern_here",)),
    8: ("the whole input or a part", (f"{HERE}::test_a_new_input_replaces_the_whole_or_is_merged_into_it",)),
    9: (
        "never a superset",
        (
            f"{HERE}::test_no_answer_says_more_than_it_means",
            "agents/test_protocol_hosts.py::test_whatever_is_decided_the_agent_has_nothing_to_complain_of",
        ),
    ),
    10: ("plain text", (f"{HERE}::test_plain_text_becomes_what_the_agent_makes_of_it",)),
    11: (
        "where the event's name stands",
        (f"{HERE}::test_the_events_name_comes_with_the_address_where_the_payload_has_none",),
    ),
    12: ("the session's name", (f"{HERE}::test_every_agents_session_has_a_name",)),
    13: (
        "tools and their arguments",
        (f"{HERE}::test_a_guard_on_bash_sees_x_codes_shell_and_its_rewrite_comes_back_as_such",),
    ),
    14: (
        "one hook, several hosts",
        (
            f"{HERE}::test_another_host_that_runs_an_agents_hooks_does_not_change_the_dialect",
            "sources/test_sources_external.py::test_the_same_handler_in_two_settings_files_runs_once",
        ),
    ),
    15: (
        "a permission answered elsewhere",
        ("notify/test_service.py::test_what_needed_you_is_taken_back_when_the_session_goes_on",),
    ),
    16: (
        "the end of a turn",
        (
            f"{HERE}::test_only_x_codes_rounds_are_no_ends_of_turns",
            "engine/test_turn_end.py::test_several_rounds_are_one_turn",
        ),
    ),
    17: (
        "no word of an interrupt",
        (
            "engine/test_scopes.py::test_a_turn_that_the_user_interrupted_ends_with_the_next_one",
            "engine/test_turns_of_hooks.py::test_a_prompt_begins_the_count_anew",
        ),
    ),
    18: (
        "what a configuration must not hold",
        (
            f"{HERE}::test_a_malformed_handler_takes_its_group_with_it_in_the_agent_and_alone_with_us",
            "agents/claude_code/test_claude_code_settings_hooks.py::test_a_malformed_entry_is_told_with_its_place_and_takes_no_sibling_down",
        ),
    ),
    19: (
        "one slot, no shell",
        (
            f"{HERE}::test_a_script_without_its_first_line_aborts_on_shelley",
            "execution/test_command_broken.py::test_a_broken_hook_is_told_with_its_cause_and_never_with_a_code",
        ),
    ),
    20: (
        "how long a person has",
        (f"{HERE}::test_a_person_has_as_long_as_the_agent_waits_less_what_the_answer_needs",),
    ),
    21: ("loops", ("engine/test_turns_of_hooks.py::test_after_eight_refusals_in_a_row_the_agent_may_end",)),
    22: (
        "`if` on tools alone",
        (
            "agents/claude_code/test_claude_code_settings_hooks.py::test_a_condition_can_only_be_met_on_a_tools_events",
        ),
    ),
}


@every("number", range(1, 23))
def test_each_difference_has_its_tests(number: int) -> None:
    _, names = DIFFERENCES[number]

    assert names
    for name in names:
        file, _, function = name.partition("::")
        assert f"\ndef {function}(" in (TESTS / file).read_text(encoding="utf-8"), name
