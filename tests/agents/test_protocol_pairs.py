"""All pairs of agent and hook dialect: what a hook says in its words reaches the agent in the agent's."""

from __future__ import annotations

import re

from agents.fidelity import FidelityRow, expressible, rows
from agents.hook_outputs import answered, ran
from agents.hosts import taken
from agents.recordings import sampled
from every import every
from msgspec.structs import replace

from tray.agents.protocol import neutral, spec
from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result, Target, Verdict
from tray.model.event import Capability

ROWS = list(rows())
PAIRS = [(dialect, row) for row in ROWS for dialect in AGENTS]
IDS = [f"{dialect}-hears-{row.agent}-{row.event}" for dialect, row in PAIRS]
ASKED = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}'
BLOCK = '{"decision":"block","reason":"no"}'
REFUSED_IN_COPILOT_CLI = {
    **dict.fromkeys(("PostToolUse", "Stop", "SubagentStop", "UserPromptSubmit"), BLOCK),
    "PermissionRequest": '{"behavior":"deny","message":"no"}',
    "PreToolUse": '{"permissionDecision":"deny","permissionDecisionReason":"no"}',
}
# A permission request carries a new input only beside an allow (tests/agents/test_protocol_fidelity.py).
REWRITTEN = [row for row in ROWS if "rewrite input" in row.carried and row.event != "PermissionRequest"]
HEARD_BY_X_CODE = ("PostToolUse", "PreToolUse", "UserPromptSubmit")


def refusal(dialect: str, row: FidelityRow) -> Result | None:
    """How a hook of this dialect refuses there; None when its dialect knows no way."""
    if dialect in ("gemini-cli", "kimi-code"):
        return ran(2, err="no")
    if dialect in ("claude-code", "codex", "devin", "droid", "grok", "opencode", "qwen-code"):
        return ran(0, ASKED) if row.hook_event_names[dialect] == "PermissionRequest" else ran(2, err="no")
    if dialect == "copilot-cli" and row.hook_event_names[dialect] in REFUSED_IN_COPILOT_CLI:
        return ran(0, REFUSED_IN_COPILOT_CLI[row.hook_event_names[dialect]])
    if dialect == "starchild":
        return ran(0, '{"decision":"block","reason":"no"}')
    if dialect == "antigravity":
        can = "deny" in expressible(dialect, row.hook_event_names[dialect])
        word = "continue" if row.hook_event_names[dialect] == "Stop" else "deny"
        return ran(0, f'{{"decision":"{word}","reason":"no"}}') if can else None
    if dialect == "cline":
        can = "deny" in expressible(dialect, row.hook_event_names[dialect])
        return ran(0, '{"cancel":true,"errorMessage":"no"}') if can else None
    if dialect in ("cursor", "kiro"):
        return ran(2, err="no") if "deny" in expressible(dialect, row.hook_event_names[dialect]) else None
    if dialect == "x-code" and row.hook_event_names[dialect] in HEARD_BY_X_CODE:
        return ran(0, '{"decision":"deny","reason":"no"}')
    return None


REFUSING = [(dialect, row, said) for dialect, row in PAIRS if (said := refusal(dialect, row)) is not None]


def test_a_hook_of_every_format_can_refuse_but_of_shelleys() -> None:
    assert {dialect for dialect, _, _ in REFUSING} == set(AGENTS) - {"shelley"}


@every(
    ("dialect", "row", "said"),
    REFUSING,
    ids=[f"{dialect}-hears-{row.agent}-{row.event}" for dialect, row, _ in REFUSING],
)
def test_a_refusal_arrives_wherever_the_agent_can_take_one(dialect: str, row: FidelityRow, said: Result) -> None:
    event = sampled(row.agent, row.event)
    answer = answered(event, AGENTS[dialect].protocol.read(event, said))

    if Capability.DENY in spec(row.agent, row.event).can:
        assert taken(event, answer) == (Verdict.DENY, False)
        assert b"no" in answer.stdout + answer.stderr or row.event.startswith("Elicitation")
    else:
        assert answer == neutral(event.sender, row.event, event.body)


@every(("dialect", "row"), PAIRS, ids=IDS)
@every("code", [None, 1, 3, 127])
def test_a_hook_that_broke_says_nothing_to_any_agent(dialect: str, row: FidelityRow, code: int | None) -> None:
    event = sampled(row.agent, row.event)
    hook_output = AGENTS[dialect].protocol.read(event, Result(code=code, stderr=b"Traceback"))

    if row.event == "WorktreeCreate" and dialect == "claude-code" and code in (1, 3):
        assert hook_output.verdict is Verdict.DENY  # any failure means that there is no worktree
        assert taken(event, answered(event, hook_output)) == (Verdict.DENY, False)
        return
    if dialect == "gemini-cli" and code == 3:
        assert hook_output.verdict is Verdict.DENY  # each code from 2 on with a text refuses
        return
    assert hook_output.problem
    assert answered(event, hook_output) == neutral(event.sender, row.event, event.body)


@every(("dialect", "row"), PAIRS, ids=IDS)
def test_a_hook_without_an_opinion_leaves_everything_as_it_was(dialect: str, row: FidelityRow) -> None:
    event = sampled(row.agent, row.event)
    same = event.body if row.hook_event_names[dialect] == "system-prompt" and dialect == "shelley" else b""
    hook_output = AGENTS[dialect].protocol.read(event, Result(code=0, stdout=same))

    assert replace(hook_output, plain=False) == HookOutput() or hook_output.problem == "printed no path"
    assert answered(event, hook_output) == neutral(event.sender, row.event, event.body)


@every("row", REWRITTEN, ids=lambda row: row.agent)
@every("dialect", ["claude-code", "cline", "copilot-cli", "cursor", "gemini-cli", "starchild", "x-code"])
def test_a_new_command_reaches_every_agents_shell(dialect: str, row: FidelityRow) -> None:
    event = sampled(row.agent, row.event)
    said = {
        "claude-code": '{"updatedInput":{"command":"true"}}',
        "cline": '{"overrideInput":{"commands":["true"]}}',
        "copilot-cli": '{"modifiedArgs":{"command":"true"}}',
        "cursor": '{"permission":"allow","updated_input":{"command":"true"}}',
        "gemini-cli": '{"hookSpecificOutput":{"tool_input":{"command":"true"}}}',
        "starchild": '{"tool_input":{"command":"true"}}',
        "x-code": '{"decision":"modify","args":{"command":"true"}}',
    }[dialect]

    hook_output = AGENTS[dialect].protocol.read(event, ran(0, said))

    assert hook_output.rewrite is not None
    assert hook_output.rewrite.target is Target.INPUT
    assert re.search(rb'"command":"true"|"commands":\["true"\]', answered(event, hook_output).stdout)
