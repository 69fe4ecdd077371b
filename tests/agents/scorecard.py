"""Writes docs/generated/agents.md: what each agent can do, and which test has seen it.

    PYTHONPATH=tests python -m agents.scorecard

`run`: a test with the real client passed, which tests/clients/runs.json records. `stand-in`: the answers are judged
by the agent's stand-in in tests/hosts. `documented`: its documentation or code says so, and its tables follow it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.test_protocol_hosts import JUDGES

from tray.agents.registry import AGENTS
from tray.model.event import Capability, EventKind, EventSpec

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "generated" / "agents.md"
RUNS: Mapping[str, Mapping[str, Any]] = json.loads((ROOT / "tests" / "clients" / "runs.json").read_text("utf-8"))
ABILITIES = (
    *("deny", "ask", "rewrite input", "rewrite output", "context", "stop", "needs you", "session end", "trust"),
    "timeouts",
)
# What a stand-in judges; it knows nothing of the others.
JUDGED = ("deny", "ask", "rewrite input", "rewrite output", "context", "stop")
TERMINAL = "test_a_session_in_a_terminal"
TURN = "test_a_turn_in_a_terminal"
# The test of each ability with a real client, by the client's row in tests/clients/packages.json.
SCENES = {
    "deny": "test_a_refused_call_does_not_run_and_the_model_reads_why",
    "ask": "test_an_ask_without_anybody_to_ask_is_a_refusal",
    "rewrite input": "test_a_rewritten_call_runs_as_rewritten_or_not_at_all",
}
OWN: Mapping[str, Mapping[str, str]] = {
    "claude-code": {"context": "test_contexts_reach_the_model", "needs you": TURN, "session end": TURN},
    "codex": {
        "context": "test_contexts_reach_the_model_and_notes_are_taken",
        "stop": "test_a_hook_that_stops_the_agent_at_the_prompt",
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_it_runs_only_what_its_user_trusts_and_hooktray_says_so",
    },
    "copilot-cli": {"context": "test_contexts_reach_the_model", "needs you": TURN, "session end": TURN},
    "gemini-cli": {
        "rewrite output": "test_a_refused_output_never_reaches_the_model",
        "context": "test_contexts_reach_the_model_and_notes_its_user",
        "stop": "test_a_hook_that_stops_the_agent_ends_the_turn",
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_entries_that_its_user_disabled_are_reported",
    },
    "kimi-code": {
        "rewrite output": "test_an_output_cannot_be_withheld",
        "context": "test_a_context_reaches_the_model_and_nothing_else_is_added_to_the_prompt",
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_one_hook_with_a_key_that_it_does_not_know_switches_all_off",
    },
    "opencode": {
        "rewrite output": "test_an_output_can_be_replaced_and_withheld",
        "context": "test_contexts_reach_the_model",
        "needs you": TERMINAL,
        "timeouts": "test_a_relay_that_never_answers_holds_nothing_up",
    },
    "qwen-code": {
        "rewrite output": "test_contexts_reach_the_model_and_a_refused_output_does_not",
        "context": "test_contexts_reach_the_model_and_a_refused_output_does_not",
        "needs you": TERMINAL,
        "session end": TERMINAL,
    },
}
# What its user has to trust in the agent before it runs our entries.
TRUSTED = {
    "claude-code": "folder",
    "codex": "each entry",
    "copilot-cli": "a project's folder",
    "cursor": "none",
    "gemini-cli": "folder",
    "kimi-code": "none",
    "opencode": "none",
    "qwen-code": "none",
    "shelley": "none",
    "starchild": "each entry",
    "x-code": "plugin",
}
HEAD = """\
# What each agent can do

Written by `PYTHONPATH=tests python -m agents.scorecard`, from the agents' tables and from
`tests/clients/runs.json`, which `CLIENTS_RECORD=1 tests/clients/all` writes. Each cell says how it is known:

- **run**: a test with the real client, in this version, passed on this day;
- **stand-in**: a stand-in of the agent judges the answers (`tests/hosts`); no real client was run for it;
- **documented**: the agent's documentation or code says so; no program was run.

*deny*, *ask* and *rewrite input* are of the event before a tool, *rewrite output* of the one after it, *context* and
*stop* of any event. What is "no" is refused instead, where the agent takes a refusal ([fidelity](fidelity.md)).
*needs you*: an event when the agent waits for its user. *trust*: what its user has to trust before it runs our
entries. *timeouts*: how long it waits before a tool.

"""


def page() -> str:
    lines = [f"| agent | version | day | {' | '.join(ABILITIES)} |", "| --- " * (len(ABILITIES) + 3) + "|"]
    lines += [_line(agent) for agent in AGENTS]
    return HEAD + "\n".join(lines) + "\n"


def _line(agent: str) -> str:
    run = RUNS.get(agent, {})
    cells = [f"{value(agent, ability)}, {evidence(agent, ability)}" for ability in ABILITIES]
    first = [AGENTS[agent].name, run.get("version", "-"), run.get("date", "-")]
    return f"| {' | '.join([*first, *cells])} |"


def client_test(agent: str, ability: str) -> str:
    """The test with the real client; "" when there is none."""
    own = OWN.get(agent)
    return {**SCENES, **own}.get(ability, "") if own is not None else ""


def evidence(agent: str, ability: str) -> str:
    test = client_test(agent, ability)
    if test and test in RUNS.get(agent, {}).get("passed", ()):
        return "run"
    return "stand-in" if ability in JUDGED and agent in JUDGES else "documented"


def value(agent: str, ability: str) -> str:
    events = AGENTS[agent].events.values()
    before, after = _of_kind(events, EventKind.TOOL_BEFORE), _of_kind(events, EventKind.TOOL_AFTER)
    is_able = {
        "deny": _can(before, Capability.DENY),
        "ask": _can(before, Capability.ASK),
        "rewrite input": _can(before, Capability.REWRITE_INPUT),
        "rewrite output": _can(after, Capability.REWRITE_OUTPUT),
        "context": _can(events, Capability.CONTEXT),
        "stop": _can(events, Capability.STOP),
        "needs you": any(spec.needs_you or spec.kind is EventKind.NOTIFICATION for spec in events),
        "session end": bool(_of_kind(events, EventKind.SESSION_END)),
    }
    if ability == "trust":
        return TRUSTED.get(agent, "not known")
    if ability == "timeouts":
        return f"{before[0].timeout:g} s" if before else "none"
    return "yes" if is_able[ability] else "no"


def _of_kind(events: Any, kind: EventKind) -> Sequence[EventSpec]:
    return [spec for spec in events if spec.kind is kind]


def _can(events: Any, ability: Capability) -> bool:
    return any(ability in spec.can for spec in events)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
