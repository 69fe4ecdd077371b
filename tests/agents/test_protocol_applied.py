"""Every row of what an agent applies: its stand-in does it, and the same hook through us has the same effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from agents.hosts import JUDGES, heard
from agents.recordings import request_for
from every import every
from hosts import x_code
from hosts.process import Exit, Report
from msgspec.structs import replace

from tray.agents.protocol import fit, parse, render
from tray.agents.registry import AGENTS
from tray.engine.merge import make_outcome, merge
from tray.model.decision import Result
from tray.model.event import Event
from tray.model.hook import Command, Failure, Hook, Match, Source

TABLE: dict[str, list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parent / "applied.yaml").read_text(), Loader=yaml.CSafeLoader
)
ROWS = [(agent, row) for agent, rows in TABLE.items() for row in rows]
IDS = [f"{agent}-{row['events'][0]}-{json.dumps(row['says'])[:60]}" for agent, row in ROWS]


def asked(agent: str, name: str, row: dict[str, Any]) -> Event:
    body = AGENTS[agent].protocol.sample(name)
    if "payload" in row:
        body = json.dumps({**json.loads(body), **row["payload"]}).encode()
    return parse(request_for(agent, name, body))


def said(event: str, row: dict[str, Any]) -> Exit:
    says = row["says"]
    out = says.get("out", "")
    if "specific" in says:
        out = {"hookSpecificOutput": {"hookEventName": event, **says["specific"]}}
    text = out if isinstance(out, str) else json.dumps(out)
    return Exit(code=says.get("code", 0), stdout=text.encode(), stderr=says.get("err", "").encode())


def effect(report: Report, wanted: dict[str, Any]) -> dict[str, Any]:
    """What of the report the row speaks of; a reason only where it names one."""
    found = {"verdict": report.verdict, "stop": report.stop, "changes": report.changes}
    return found | ({"reason": report.reason} if "reason" in wanted else {})


SIGNATURE = "hook (Hooktray): "  # an agent's own words have none


def whole(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": "none", "stop": False, "changes": {}} | wanted


def through_us(event: Event, ended: Exit, failure: Failure) -> Report:
    """The hook as one of a source of this format: read, settled by its failure policy, merged, fitted, rendered."""
    action = Command(line="./hook.sh", folder="/")
    source = Source(kind=event.agent, path="/s")
    hook = Hook(
        name="hook", source=source, match=Match(event="any"), action=action, failure=failure, dialect="starchild"
    )
    result = Result(code=ended.code, stdout=ended.stdout, stderr=ended.stderr)
    outcome = make_outcome(event, hook, AGENTS[event.agent].protocol.read(event, result), timed_out=False, ms=1.0)
    decision = merge([outcome])
    stop = decision.stop.removeprefix(SIGNATURE) if decision.stop else decision.stop
    unsigned = replace(decision, stop=stop, reason=decision.reason.removeprefix(SIGNATURE))
    return heard(event, render(event, fit(event, unsigned)))


@every(("agent", "row"), ROWS, ids=IDS)
def test_the_agent_applies_this_and_through_us_it_has_the_same_effect(agent: str, row: dict[str, Any]) -> None:
    for name in row["events"]:
        event, ended = asked(agent, name, row), said(name, row)
        wanted, ours = row.get("does", {}), row.get("ours", row.get("does", {}))
        native = JUDGES[agent](name, event.body, ended)
        if "failure" in row and agent == "x-code":
            native = x_code.judge(name, event.body, ended, blocks=row["failure"] == "block")
        policy = Failure.BLOCK if agent == "shelley" and name != "end-of-turn" else Failure.ALLOW

        report = through_us(event, ended, Failure(row.get("failure", policy.value)))

        assert effect(native, wanted) == whole(wanted), name
        assert effect(report, ours) == whole(ours), name
        assert report.warnings == [], name


def test_every_event_has_its_rows_and_every_exception_its_reason() -> None:
    covered = {
        (agent, name.replace("slash/files", "slash/<command>")) for agent, row in ROWS for name in row["events"]
    }

    assert covered == {(agent, name) for agent, known in AGENTS.items() for name in known.events}
    assert all(("ours" in row) == ("why" in row) for _, row in ROWS)
