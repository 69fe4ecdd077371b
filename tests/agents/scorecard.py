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

from agents.hosts import JUDGES
from hosts.documented import Documented

from tray.agents.registry import AGENTS
from tray.model.event import Capability, EventKind, EventSpec

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "generated" / "agents.md"
RUNS: Mapping[str, Mapping[str, Any]] = json.loads((ROOT / "tests" / "clients" / "runs.json").read_text("utf-8"))
ABILITIES = (
    *("deny", "ask", "rewrite input", "rewrite output", "context", "stop", "needs you", "questions", "session end"),
    *("trust", "timeouts"),
)
# What a stand-in judges; it knows nothing of the others.
JUDGED = ("deny", "ask", "rewrite input", "rewrite output", "context", "stop")
# Those that are made from documentation only prove no more than that documentation.
STAND_INS = {agent for agent, judge in JUDGES.items() if not isinstance(getattr(judge, "__self__", None), Documented)}
TERMINAL = "test_a_session_in_a_terminal"
TURN = "test_a_turn_in_a_terminal"
ANSWERED = "test_the_user_answers_its_questions_on_the_desktop_and_on_the_page"
# The test of each ability with a real client, by the client's row in tests/clients/packages.json.
SCENES = {
    "deny": "test_a_refused_call_does_not_run_and_the_model_reads_why",
    "ask": "test_an_ask_without_a_user_is_a_refusal",
    "rewrite input": "test_a_rewritten_call_runs_as_rewritten_or_not_at_all",
    "rewrite output": "test_an_output_is_replaced_or_withheld_where_the_client_can",
    "context": "test_contexts_reach_the_model",
    "stop": "test_a_hook_that_stops_the_agent_at_the_prompt",
    "timeouts": "test_it_waits_no_longer_than_its_settings_say",
}
# A client that asks for no trust ran our entries in every scene.
TRUSTS_ALL = SCENES["deny"]
OWN: Mapping[str, Mapping[str, str]] = {
    "claude-code": {
        "needs you": TURN,
        "questions": ANSWERED,
        "session end": TURN,
        "trust": "test_it_runs_hooks_in_a_terminal_only_in_a_folder_that_its_user_trusts",
    },
    "cline": {
        "trust": TRUSTS_ALL,
        "timeouts": "",  # its limit is fixed, and longer than a test may take
    },
    "codex": {
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_it_runs_only_what_its_user_trusts_and_hooktray_says_so",
    },
    "copilot-cli": {
        "stop": TURN,
        "needs you": TURN,
        "session end": TURN,
        "trust": "test_a_projects_hooks_run_only_in_a_folder_that_its_user_trusts",
    },
    "droid": {
        "stop": "test_a_hook_stops_the_agent_before_a_tool",
        "session end": "test_the_end_of_a_session_arrives",
        "trust": TRUSTS_ALL,
    },
    "gemini-cli": {
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_it_runs_hooks_only_in_a_folder_that_its_user_trusts",
    },
    "grok": {
        "stop": "",  # at ends of turns only
        "session end": "test_the_end_of_a_session_arrives",
        "trust": TRUSTS_ALL,
    },
    "kimi-code": {
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": "test_one_hook_with_a_key_that_it_does_not_know_switches_all_off",
    },
    "opencode": {
        "needs you": TERMINAL,
        "questions": ANSWERED,
        "session end": TERMINAL,
        "trust": TRUSTS_ALL,
    },
    "qwen-code": {
        "needs you": TERMINAL,
        "session end": TERMINAL,
        "trust": TRUSTS_ALL,
    },
}
# What its user has to trust in the agent before it runs our entries.
TRUSTED = {
    "claude-code": "folder in a terminal",
    "cline": "none",
    "codex": "each entry",
    "copilot-cli": "a project's folder",
    "cursor": "none",
    "droid": "none",
    "gemini-cli": "folder",
    "grok": "none",
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
- **documented**: the agent's documentation or code says so; no program was run, but a stand-in made from just that.

*deny*, *ask* and *rewrite input* are of the event before a tool, *rewrite output* of the one after it, *context* and
*stop* of any event. What is "no" is refused instead, where the agent takes a refusal ([fidelity](fidelity.md)).
*needs you*: an event when the agent waits for its user. *questions*: the agent's own, answered from Hooktray.
*trust*: what its user has to trust before it runs our entries. *timeouts*: how long it waits before a tool. Where
that was run, a call whose hook takes longer goes on, and the journal has no verdict for it.

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
    passed = {name.partition("[")[0] for name in RUNS.get(agent, {}).get("passed", ())}
    if test and test in passed:
        return "run"
    return "stand-in" if ability in JUDGED and agent in STAND_INS else "documented"


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
        "questions": AGENTS[agent].forms is not None,
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
