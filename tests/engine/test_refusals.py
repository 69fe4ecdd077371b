"""What a person would read as a refusal is one, or a failure; what only looks like one changes nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from agents.hook_outputs import EVENTS, ran
from agents.recordings import request_for
from engine.declared import built_hook
from every import every
from house import House

from tray.agents.protocol import parse, render, spec
from tray.agents.registry import AGENTS
from tray.engine.hook_output import parse_output
from tray.model.decision import Decision, HookOutput, Verdict
from tray.model.event import Capability, Event, EventKind
from tray.model.hook import Failure, Hook, Match

BASH = EVENTS["bash"]
REASON = "ask first"
FORMATS = tuple(AGENTS)
ANSWERS = {id: agent.answers for id, agent in AGENTS.items()}
# Every refusal of every format: what its table has, and what Hooktray itself answers to its agent.
WORDS = {
    f"{id}: {key} {word}": {key: word, "reason": REASON}
    for id, answers in ANSWERS.items()
    for key, words in answers.verdicts.items()
    for word, verdict in words.items()
    if verdict is Verdict.DENY
}


def rendered(agent: str) -> Any:
    """What Hooktray answers to the agent when a tool call is refused; None for one that is told by its exit code."""
    before = (name for name, each in AGENTS[agent].events.items() if each.kind is EventKind.TOOL_BEFORE)
    name = next((name for name in before if Capability.DENY in spec(agent, name).can), "")
    if not name:
        return None
    event = parse(request_for(agent, name, AGENTS[agent].protocol.sample(name)))
    answer = render(event, Decision(verdict=Verdict.DENY, reason=REASON)).stdout
    return json.loads(answer) if answer else None


TOLD = {id: told for id in AGENTS if (told := rendered(id)) is not None}
REFUSALS: Mapping[str, Any] = {json.dumps(said): said for said in (WORDS | TOLD).values()}  # each once
ALLOWS = {
    f"{key} {word}": {key: word}
    for id, answers in ANSWERS.items()
    for key, words in answers.verdicts.items()
    for word, verdict in words.items()
    if verdict <= Verdict.ALLOW and word not in ("", "ask", "continue", "defer")
}
REWRITES: Mapping[str, Any] = {
    "antigravity": {"injectSteps": []},
    "claude-code": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "true"}}},
    "cline": {"overrideInput": {"command": "true"}},
    "copilot-cli": {"modifiedArgs": {"command": "true"}},
    "cursor": {"updated_input": {"command": "true"}},
    "older claude-code": {"updatedInput": {"command": "true"}},
    "starchild": {"tool_input": {"command": "true"}},
    "x-code": {"decision": "modify", "args": {"command": "true"}},
}


def shouted(value: Any) -> Any:
    """The same in capitals."""
    if isinstance(value, dict):
        return {key.upper(): shouted(each) for key, each in value.items()}
    return value.upper() if isinstance(value, str) and " " not in value else value


SHAPES: Mapping[str, Callable[[Any], str]] = {
    "bare": json.dumps,
    "pretty": lambda said: json.dumps(said, indent=2),
    "in capitals": lambda said: json.dumps(shouted(said)),
    "nested": lambda said: json.dumps({"result": said}),
    "nested twice": lambda said: json.dumps({"data": {"result": [said]}}),
    "in a list": lambda said: json.dumps([said]),
    "noise before": lambda said: f"Checking...\n{json.dumps(said)}",
    "noise on its line": lambda said: f"Checking... {json.dumps(said)} done",
    "noise before several lines": lambda said: f"Checking...\n{json.dumps(said, indent=4)}\n",
    "noise after": lambda said: f"{json.dumps(said)}\nall checked\n",
    "an object before": lambda said: f'{{"level": "info"}}\n{json.dumps(said)}',
    "an object after": lambda said: f'{json.dumps(said)}\n{{"decision": "allow"}}',
    "in a code fence": lambda said: f"```json\n{json.dumps(said, indent=2)}\n```",
    "behind a BOM": lambda said: f"\ufeff{json.dumps(said)}\n",
    "a comma too many": lambda said: json.dumps(said)[:-1] + ",}",
    "a comment": lambda said: json.dumps(said, indent=1)[:-1] + "// by the guard\n}",
    "as Python writes it": repr,
    "as a JSON text": lambda said: json.dumps(json.dumps(said)),
    "without its end": lambda said: json.dumps(said).rstrip("}"),
    "quotes in its reason": lambda said: json.dumps(said).replace(REASON, 'not "this" one'),
    "a line break in its reason": lambda said: json.dumps(said).replace(REASON, "not\nthis one"),
}
NATIVE_SHAPES = ("bare", "pretty")
# Hooks of these formats print every shape; those of the others print a few.
THOROUGH = ("claude-code", "cursor", "shelley", "starchild", "x-code")
FEW_SHAPES = (*NATIVE_SHAPES, "noise before", "as a JSON text", "without its end")
FORMATS_AND_SHAPES = [
    (format, shape) for format in FORMATS for shape in (SHAPES if format in THOROUGH else FEW_SHAPES)
]


def hook(dialect: str, failure: Failure = Failure.ALLOW, *, source: str = "hooktray") -> Hook:
    match = Match(event="tool_before", format="" if source == "hooktray" else source)
    return built_hook(match=match, source=source, dialect=dialect, failure=failure)


def printed(
    dialect: str, output: str | bytes, *, event: Event = BASH, failure: Failure = Failure.ALLOW
) -> HookOutput:
    return parse_output(event, hook(dialect, failure), ran(0, output))


def refuses(output: HookOutput) -> bool:
    return output.verdict is Verdict.DENY or output.stop is not None


@every("refusal", REFUSALS)
@every(("dialect", "shape"), FORMATS_AND_SHAPES)
def test_a_refusal_in_any_formats_words_is_a_refusal(dialect: str, refusal: str, shape: str) -> None:
    parsed = printed(dialect, SHAPES[shape](REFUSALS[refusal]))

    assert refuses(parsed), parsed
    assert not parsed.problem


@every("said", {**ALLOWS, **REWRITES})
@every(("dialect", "shape"), FORMATS_AND_SHAPES)
def test_an_allow_or_a_rewrite_counts_in_the_hooks_own_format_only_and_alone(
    dialect: str, said: str, shape: str
) -> None:
    output = SHAPES[shape]({**ALLOWS, **REWRITES}[said])
    native = AGENTS[dialect].protocol.read(BASH, ran(0, output))

    parsed = printed(dialect, output)

    if shape not in NATIVE_SHAPES:
        assert (parsed.verdict is Verdict.ALLOW, parsed.rewrite) == (native.verdict is Verdict.ALLOW, native.rewrite)
    assert parsed.verdict in (Verdict.ABSTAIN, native.verdict), parsed
    assert parsed.rewrite in (None, native.rewrite)


REFUSED = {
    '{"decision":"deny"}': "antigravity",
    '"BLOCK"': "starchild",
    "Block\n": "starchild",
    '{"Decision":"Block"}': "starchild",
    '{"result":{"decision":"block"}}': "starchild",
    '{"cancel":true}': "cline",
    '{"cancel":"True"}': "cline",
    '{"behavior":"deny"}': "claude-code",
    '{"permission":"deny"}': "cursor",
    '{"permissionDecision":"DENY"}': "starchild",
    '{"permission_decision": "deny"}': "starchild",
    '{decision: "block"}': "starchild",
    '{"continue":"false"}': "starchild",
    '{"decision": "block"; }': "starchild",
    '{"decision"="block"}': "starchild",
    "decision: deny\n": "antigravity",
    "permissionDecision=deny": "starchild",
    "decision: block\nreason: no force push\n": "starchild",
    "hookSpecificOutput:\n  hookEventName: PreToolUse\n  permissionDecision: deny\n": "starchild",
    '{"decision": "block", "decision": "approve"}': "starchild",
    '{"result": {"permission": "deny", "permission": "allow"}}': "cursor",
    '{"permissionDecision": {"decision": "deny"}}': "antigravity",
    '{"decision": "approve"}\n{"permission": "deny"}\ndone': "cursor",
    "{\u201cdecision\u201d: \u201cdeny\u201d}": "antigravity",
    '\x1b[1;39m{\n  \x1b[34;1m"decision"\x1b[0m: \x1b[0;32m"deny"\x1b[0m\n}\x1b[0m': "antigravity",
}
FAILED = (
    *('{"approve": false}', '{"blocked": true}', '{"decison":"block"}', '{"action":"block"}', '{"block":true}'),
    *('{"ok":false}', '{"decision":null}', '{"hookSpecificOutput":{"permissionDecison":"deny"}}', '{"allow":false}'),
    *('{"blocked": true, "reason": "no"}', '{"systemMessage": "no", "approved": false}', '{"verdict": "denied"}'),
    *('{"reason": "no"}', '{"decision": 1}', '{"foo": 1}', '{"status": "refused", "systemMessage": "no"}'),
    *("BLOCKED", "denied\n", "Refused."),
    *('Checking...\n{"decison":"block"}', '{"systemMessage": "no", "decison": "block"}'),
    *("BLOCKED: rm -rf deletes the build", "DENY: force push", "Denied - outside of the project", "[BLOCKED] rm -rf"),
    *(
        "\u274c Blocked: rm",
        "\x1b[31mBLOCKED:\x1b[0m rm",
        "**Not allowed:** rm",
        "[guard] deny: rm",
        "guard.sh: denied: curl",
    ),
    *("Command blocked by policy", "This command is blocked.", "Permission denied", "Refusing to run rm -rf /"),
    *("Checking...\nBLOCKED: rm\n", "BLOCKED\nrm deletes the build\n", '"DENY: no force push"', '["deny", "no rm"]'),
    *("allow: false", "approved: no\nreason: dangerous", "Checking...\ndecision: deny", "No", "Aborted"),
    *('{"message": "Blocked: rm"}', '{"response": "deny"}', '{"exit_code": 2, "reason": "no"}'),
    *('{"reason": "no rm", "is_safe": false}', '{"systemMessage": "x", "shouldBlock": true}'),
    *('{"systemMessage": "x", "error": "Blocked by policy"}', '{"systemMessage": "x", "result": ["deny"]}'),
    *('{"systemMessage": "x", "permission": false}', '{"systemMessage": "x", "action": "abort"}'),
)
NEUTRAL = (
    *("{}", '{"continue": true}', '{"suppressOutput": true}', '{"systemMessage": "checked"}', '{"ok": true}'),
    *('{"continue": true, "suppressOutput": true}', '{"decision": "approve", "reason": "fine"}'),
    *('{"context": "a hook that prints {\\"decision\\": \\"block\\"} refuses"}', '{"decision": ""}'),
    *("INFO 3 rules, decision: deny by default", "blocked 0 of 3 calls", '{"level":"info","msg":"not blocked"}\n{}'),
    *('[1, {"a": 2}]', "{{{{{", '{"tool_input": {"decision": "deny"}}'),
    *("blocked: 0", "Blocked: none", "denied: 0, allowed: 3", "blocked: 2 of 9", "deny rules: 4 loaded", "deny = []"),
    *("default: deny", "mode: block\nlevel: 3", "policy=deny", "denied by default: 3 rules", "stop: nothing to do"),
    *("Block list loaded", "Not blocked", "cancelled: false", "Stopped watching", "0", "false", "null", "no match"),
    *('{"systemMessage": "blocked: 0", "blocked": false}', '{"systemMessage": "x", "exitCode": 0}'),
    *('{"context": "Blocked: the server, see the log"}', '{"systemMessage": "x", "denied": []}'),
    *('{"systemMessage": "Blocked: rm, yesterday"}', '{"decision": "approve", "reason": "Blocked: rm, until today"}'),
    *('{"decision": "approve", "reason": "Blocked: nothing"}', '{"systemMessage": "x", "is_safe": true}'),
)
# What hooks of an end of a turn print of their event.
NAMES_OF_STOPS = ("Stop", "Stop\n", "Stop: session 12 has ended", '{"systemMessage": "x", "event": "Stop"}')


@every("failure", Failure)
@every(("output", "format"), REFUSED.items())
def test_a_refusal_in_other_words_says_whose_they_are(output: str, format: str, failure: Failure) -> None:
    parsed = printed("starchild", output, failure=failure)

    assert (parsed.verdict, parsed.adjustment) == (Verdict.DENY, f"read as a refusal in the format of {format}")


@every("failure", Failure)
@every("output", FAILED)
def test_a_near_miss_is_a_failure_whatever_the_policy(output: str, failure: Failure) -> None:
    parsed = printed("starchild", output, failure=failure)

    assert parsed.problem.startswith(("output has ", "output reads as a refusal")), parsed
    assert (parsed.verdict, parsed.rewrite, parsed.context) == (Verdict.ABSTAIN, None, "")


@every("output", NAMES_OF_STOPS)
def test_the_name_of_the_event_refuses_no_end(output: str) -> None:
    assert printed("starchild", output, event=EVENTS["stop"]).problem == ""
    assert printed("starchild", output).problem


@every("dialect", FORMATS)
def test_a_sentence_that_refuses_is_a_failure_in_each_format(dialect: str) -> None:
    parsed = printed(dialect, "BLOCKED: no force push")
    known = (f"output reads as a refusal that {dialect} does not know: ", "output is not JSON")

    assert (parsed.verdict, parsed.notes) == (Verdict.ABSTAIN, ())
    assert parsed.problem.startswith(known)


def test_a_text_that_the_format_takes_as_context_is_no_failure() -> None:
    sample = AGENTS["claude-code"].protocol.sample("UserPromptSubmit")
    event = parse(request_for("claude-code", "UserPromptSubmit", sample))

    assert printed("claude-code", "Blocked: the deploy, see #7", event=event).context == "Blocked: the deploy, see #7"


ON_STDERR = {
    '{"decision": "block"}': True,
    '{\n  "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}\n}': True,
    '{"decision": "block", "rule": 7, "mode": "audit"}': False,
    '{"decision": "approve"}': False,
    '{"level": "info", "msg": "deny rules loaded"}': False,
    '{"decision": "block"}\n{"decision": "block"}': False,
    "BLOCKED: no force push": False,
    "": False,
}


@every(("written", "refuses"), ON_STDERR.items())
def test_a_refusal_on_stderr_at_exit_0_is_a_failure_and_a_log_is_not(written: str, refuses: bool) -> None:
    result = ran(0, "", written)
    own = parse_output(BASH, hook("starchild"), result)
    other = parse_output(BASH, hook("claude-code", source="claude-code"), result)

    assert (bool(own.problem), own.verdict) == (refuses, Verdict.ABSTAIN)
    assert (bool(other.warning), other.problem) == (refuses, "")
    assert not parse_output(BASH, hook("starchild"), ran(0, "{}", written)).problem, "it has answered"


def near_misses(key: str) -> set[str]:
    """The key with a letter too few, a letter too many, and two letters exchanged."""
    fewer = {key[:n] + key[n + 1 :] for n in range(len(key))}
    more = {f"{key[:n]}x{key[n:]}" for n in range(len(key) + 1)}
    return fewer | more | {key[: n - 1] + key[n] + key[n - 1] + key[n + 1 :] for n in range(1, len(key))}


@every(
    ("dialect", "key"),
    [(id, key) for id, answers in ANSWERS.items() for key in answers.verdicts if key in (answers.keys or ())],
)
def test_a_misspelt_key_of_a_verdict_is_never_dropped_in_silence(dialect: str, key: str) -> None:
    word = next(word for word, verdict in ANSWERS[dialect].verdicts[key].items() if verdict >= Verdict.ASK)
    for near in near_misses(key) - (ANSWERS[dialect].keys or frozenset()):
        parsed = printed(dialect, json.dumps({near: word, "systemMessage": "x"}))

        assert parsed.problem or parsed.verdict >= Verdict.ASK, near


@every("output", NEUTRAL)
def test_what_refuses_nothing_is_no_refusal(output: str) -> None:
    parsed = printed("starchild", output)

    assert (parsed.verdict, parsed.adjustment, parsed.problem) == (Verdict.ABSTAIN, "", ""), parsed


@every(("dialect", "other"), [(one, other) for one in FORMATS for other in FORMATS if one != other])
def test_what_another_format_knows_is_no_near_miss(dialect: str, other: str) -> None:
    for key in ANSWERS[other].keys or ():
        assert ", for " not in printed(dialect, json.dumps({"systemMessage": "x", key: "x"})).problem, key


LINES = 'echo \'{"decision": "deny"}\' # {"permission": "deny"}\nprintf \'%s\' \'{"cancel": true}\''
CALL = json.loads(BASH.body) | {
    "tool_input": {"command": LINES, "rules": [{"permission": "deny"}, {"decison": "block"}], "blocked": True}
}
ECHOED = parse(request_for("claude-code", "PreToolUse", json.dumps(CALL).encode()))
ECHOES: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "as it came": json.dumps,
    "pretty": lambda event: json.dumps(event, indent=2),
    "behind a text": lambda event: f"got: {json.dumps(event)}\n",
    "as Python writes it": lambda event: f"event = {event}",
    "with a key more": lambda event: json.dumps(event | {"checked": 3}),
    "in a note": lambda event: json.dumps({"systemMessage": "checked", "event": event}),
    "its command": lambda event: f"checking {LINES}",
    "a line of its command": lambda event: "1: " + LINES.splitlines()[1],
    "its rules": lambda event: f"rules: {json.dumps(CALL['tool_input']['rules'])}",
}


@every("echo", ECHOES)
@every("dialect", FORMATS)
def test_a_copy_of_the_event_refuses_nothing(dialect: str, echo: str) -> None:
    event = json.loads(AGENTS[dialect].protocol.stdin(ECHOED))

    output = ECHOES[echo](event)
    native = AGENTS[dialect].protocol.read(ECHOED, ran(0, output))

    parsed = printed(dialect, output, event=ECHOED)
    assert (parsed.verdict, parsed.adjustment) == (Verdict.ABSTAIN, native.adjustment), parsed
    assert not parsed.problem or native.problem or echo == "in a note", parsed


def test_a_refusal_beside_a_copy_of_the_event_counts() -> None:
    output = json.dumps(CALL) + '\n{"permission": "deny", "agent_message": "no"}\ndone'

    parsed = printed("starchild", output, event=ECHOED)

    assert (parsed.verdict, parsed.reason) == (Verdict.DENY, "no")


def test_a_refusal_that_the_event_has_word_for_word_is_a_failure_and_not_dropped() -> None:
    said = '{"permission": "deny", "reason": "no"}'
    call = json.loads(BASH.body) | {"tool_input": {"command": "rm -rf /", "description": said}}
    event = parse(request_for("claude-code", "PreToolUse", json.dumps(call).encode()))

    assert "word for word" in printed("starchild", f"Checking...\n{said}\n", event=event).problem


def test_an_end_of_everything_in_another_format_makes_no_agent_go_on() -> None:
    assert printed("cursor", '{"continue": false}', event=EVENTS["stop"]) == HookOutput()
    assert printed("shelley", '{"systemMessage": "x", "continue": false}', event=EVENTS["stop"]).problem == ""
    assert printed("cursor", '{"continue": false}').verdict is Verdict.DENY


def test_a_question_beside_other_text_is_asked_under_failure_block_too() -> None:
    parsed = printed("starchild", '{"permissionDecision": "ask"}\ndone', failure=Failure.BLOCK)

    assert (parsed.verdict, parsed.problem) == (Verdict.ASK, "")


def test_a_reason_without_a_decision_is_a_failure_where_the_decision_is_null() -> None:
    said = '{"permissionDecision": null, "permissionDecisionReason": "no"}'

    assert printed("gemini-cli", said).problem == "output has a reason and no decision"


def test_a_text_of_ten_lines_is_read_whole_and_a_longer_one_at_its_ends() -> None:
    refusal, lines = "BLOCKED: no force push", ["checked"] * 4

    assert printed("starchild", "\n".join([*lines, refusal, *lines, "done"])).problem
    assert not printed("starchild", "\n".join([*lines, refusal, *lines, "done", "done"])).problem
    assert printed("starchild", "\n".join([*lines, *lines, *lines, refusal])).problem


LONG_OUTPUTS = {
    "at its beginning": '{"permission":"deny"}\n' + "{ " * 300_000,
    "at its end": "{ " * 300_000 + '\n{"permission":"deny"}\n',
    "in its middle": '{"level": "info"}\n' * 5_000 + '{"permission":"deny"}\n' + '{"level": "info"}\n' * 5_000,
    "behind a long reason": json.dumps({"reason": "z" * 300_000, "permission": "deny"}),
}


@every("output", LONG_OUTPUTS.values(), ids=LONG_OUTPUTS)
def test_a_refusal_in_a_long_output_counts(output: str) -> None:
    assert printed("starchild", output).verdict is Verdict.DENY


def test_brackets_without_an_end_are_read_a_bounded_number_of_times() -> None:
    shorter, longer = (calls_to_read('{"' * number) for number in (20_000, 40_000))

    assert longer < 1.5 * shorter


def calls_to_read(output: str) -> int:
    """How many functions are called to read it."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        printed("starchild", output)
    finally:
        sys.setprofile(None)
    return calls


SOURCES = [
    ("x-code", '{"decision": "block"}', "claude-code"),
    ("claude-code", '{"permission": "deny"}', "cursor"),
    ("claude-code", 'Checking...\n{\n"decision": "block"\n}', "claude-code"),
    ("claude-code", '{"result": {"decision": "block"}}', "claude-code"),
    ("cursor", '{"decision": "block"}', "claude-code"),
    ("starchild", '{"permission": "deny"}', "cursor"),
    ("cursor", '{"permission": "deny", "permission": "allow"}', "cursor"),
]


@every(("agent", "output", "format"), SOURCES)
def test_a_hook_of_an_agents_own_file_keeps_its_agents_way_and_the_dropped_refusal_is_reported(
    agent: str, output: str, format: str
) -> None:
    native = AGENTS[agent].protocol.read(BASH, ran(0, output))

    parsed = parse_output(BASH, hook(agent, source=agent), ran(0, output))

    assert (parsed.verdict, parsed.problem, native.verdict) == (Verdict.ABSTAIN, "", Verdict.ABSTAIN)
    assert parsed.warning == (
        f"the call goes on, because {agent} does not read its answer: read as a refusal in the format of {format}"
    )


@every("word", ["ask", "deny"])
def test_what_an_agent_reads_in_its_own_format_is_not_reported_as_dropped(word: str) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word}}

    parsed = parse_output(BASH, hook("claude-code", source="claude-code"), ran(0, json.dumps(said)))

    assert (parsed.verdict.word, parsed.warning) == (word, "")


def test_a_near_miss_of_a_hook_of_an_agents_own_file_is_reported_too() -> None:
    parsed = parse_output(BASH, hook("claude-code", source="claude-code"), ran(0, '{"decison": "block"}'))

    assert (parsed.verdict, parsed.problem) == (Verdict.ABSTAIN, "")
    assert "decison, for decision?" in parsed.warning


@pytest.mark.parametrize("agent", ["claude-code", "codex", "starchild"])
def test_a_guard_in_the_words_of_another_format_stops_the_call(house: House, agent: str) -> None:
    script = """cat >/dev/null; echo '{"permission": "deny", "agent_message": "ask first"}'"""
    house.hook("guard", on="tool_before", script=script)
    name = "pre_tool_call" if agent == "starchild" else "PreToolUse"

    house.relay(agent, name, json.loads(AGENTS[agent].protocol.sample(name)))

    assert house.last.verdict is Verdict.DENY
    assert house.last.hooks[0]["reason"] == "ask first"
    assert house.last.adjustments == ("guard: read as a refusal in the format of cursor",)


@pytest.mark.parametrize(("failure", "verdict"), [("allow", "abstain"), ("block", "deny"), (None, "ask")])
def test_a_guard_with_a_slip_in_its_answer_has_failed(house: House, failure: str | None, verdict: str) -> None:
    keys: dict[str, Any] = {} if failure is None else {"failure": failure}
    house.hook("guard", on="tool_before", script="""cat >/dev/null; echo '{"decison": "block"}'""", **keys)

    house.tool("rm -rf /")

    assert (house.last.verdict.word, house.last.hooks[0]["status"]) == (verdict, "failed")
    assert "decison, for decision?" in str(house.last.hooks[0]["cause"])


def test_a_hook_that_copies_its_input_to_a_log_has_no_opinion(house: House) -> None:
    house.hook("log", on="tool_before", script='tee -a "$HOOK_SOURCE_DIR/calls"')

    assert house.tool('echo \'{"permission": "deny"}\'') == {}
    assert (house.last.hooks[0]["status"], house.last.verdict.word) == ("ok", "abstain")
