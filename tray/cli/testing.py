"""`hooktray test`: sends a synthetic event through the whole real path, or runs one approved hook on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from tray import relay_program
from tray.agents.protocol import is_known_event, spec
from tray.agents.registry import AGENTS, CANONICAL
from tray.approvals.catalog import HookCatalog, HookState
from tray.cli.command_line import Argument, Json, Option, UsageError
from tray.doctor.agent_sites import working_folder
from tray.doctor.relay_problems import obstacle
from tray.engine import trial
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.ports import EngineOptions
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError
from tray.execution.process import RUN_VARIABLE
from tray.model.event import PAYLOAD_LIMIT, TEST_VARIABLE
from tray.paths import Paths
from tray.store.ledger import ApprovedHook
from tray.strict.document import suggest
from tray.text import printable

APPROVE = "approve it first: the tray's menu, Approvals, or `hooktray open`; only approved bytes run, also in a test"
SKIPPED_REMEDY = "`hooktray status` and `hooktray list` say what keeps hooks from running"


def test(
    paths: Paths,
    event: Annotated[
        str, Argument(metavar="EVENT", help="The event, as the agent calls it or by its canonical name.")
    ],
    agent: Annotated[str, Option("--agent", metavar="AGENT", help="Whose event.")] = CANONICAL,
    show: Annotated[bool, Option("--print", help="Print the payload, and do nothing else.")] = False,
    payload: Annotated[str, Option("--payload", metavar="FILE", help="Send this file; - is stdin.")] = "",
    hook: Annotated[str, Option("--hook", metavar="HOOK", help="Ask this approved hook alone.")] = "",
    expect: Annotated[
        str, Option("--expect", metavar="VERDICT", help="allow, ask, deny, abstain or failed; else exit 1.")
    ] = "",
    as_json: Json = False,
) -> int:
    if expect and not hook:
        raise UsageError("--expect says what one hook shall answer: name it with --hook")
    name = _event_name(agent, event)
    body = _body(payload) if payload else trial.sample(agent, name, str(working_folder()))
    if show:
        sys.stdout.buffer.write(body)
        sys.stdout.flush()
        return 0
    paths.prepare()
    if hook:
        return _run_hook(paths, agent, name, body, hook=hook, expect=expect, as_json=as_json)
    _relay(paths, agent, name, body, as_json=as_json)
    return 0


def _relay(paths: Paths, agent: str, name: str, body: bytes, *, as_json: bool) -> None:
    """The agent's part: start a relay, give it the payload, take the answer."""
    done = subprocess.run(
        [*_relay_argv(paths), agent, name],
        input=body,
        env={**os.environ, TEST_VARIABLE: "1"},
        capture_output=True,
        timeout=spec(agent, name).timeout + 5,
        check=False,
    )
    if not paths.relay_conf.exists() and not paths.relay_table.exists():  # what a tray or `connect` writes
        print("No tray has ever run here, so nobody judged the event; `hooktray run` starts one.", file=sys.stderr)
    stdout, stderr = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
    if as_json:
        row = {"agent": agent, "event": name, "stdout": stdout, "stderr": stderr, "code": done.returncode}
        print(json.dumps(row, ensure_ascii=False))
        return
    sys.stdout.write(stdout)
    sys.stdout.flush()  # before the line about it
    sys.stderr.write(stderr)
    output = "nothing" if not stdout.strip() else "the line above"
    print(f"{agent} {name}: the agent was told {output}, exit {done.returncode}.", file=sys.stderr)


def _relay_argv(paths: Paths) -> list[str]:
    """The relay that agents run; that of this installation where none is installed yet."""
    if paths.relay_table.exists():
        if problem := obstacle(paths.relay):
            raise HooktrayError(f"{problem.message}: no agent gets an answer", hint=problem.remedy)
        return [str(paths.relay)]
    return relay_program.argv(paths.relay_options)


def _body(name: str) -> bytes:
    """The payload's exact bytes. Raises HooktrayError when they cannot be had or are too many."""
    try:
        if name == "-":
            body = sys.stdin.buffer.read(PAYLOAD_LIMIT + 1)
        else:
            with Path(name).open("rb") as file:
                body = file.read(PAYLOAD_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise HooktrayError(
            f"--payload {name}: {reason}", hint="name a file that holds the payload; `--print` shows one"
        ) from error
    if len(body) > PAYLOAD_LIMIT:
        raise HooktrayError(
            f"--payload {name}: more than {PAYLOAD_LIMIT} bytes", hint="no agent's event may be that large"
        )
    return body


def _event_name(agent: str, event: str) -> str:
    if agent not in AGENTS:
        raise HooktrayError(f"unknown agent `{agent}`", hint=suggest(agent, AGENTS))
    events = AGENTS[agent].events
    if is_known_event(agent, event):
        return event
    by_kind = [name for name, spec in events.items() if spec.kind.value == event]
    if by_kind:
        return by_kind[0]
    words = [*events, *sorted({spec.kind.value for spec in events.values()})]
    raise HooktrayError(f"{agent} has no event `{event}`", hint=suggest(event, words))


def _run_hook(paths: Paths, agent: str, name: str, body: bytes, *, hook: str, expect: str, as_json: bool) -> int:
    """Run one approved hook and show its output; exit 1 when something else was expected."""
    if expect and expect not in trial.RESULTS:
        raise HooktrayError(f"unknown verdict `{expect}`", hint=suggest(expect, trial.RESULTS))
    if RUN_VARIABLE in os.environ:
        raise HooktrayError("a hook cannot try hooks", hint="run this in a terminal of your own")
    stores = open_stores(paths)
    approved = approved_hook(paths, stores, hook)
    event = trial.synthetic_event(agent, name, body, environment=dict(os.environ), cwd=str(working_folder()))
    if trial.is_matched(approved, event):
        engine = trial.silent_engine(stores, EngineOptions(settings=ConfirmedSettings(paths, stores)))
        tried = trial.run(engine, approved, event)
    else:
        tried = trial.unmatched(approved, event)
    row = _row(tried, agent, name)
    if expect:
        row |= {"expected": expect, "met": expect == tried.result}
    for key in ("cause", "stderr"):
        row[key] = stores.copies.with_originals(approved.digest, str(row[key]))
    if as_json:
        print(json.dumps(row, ensure_ascii=False, default=str))
    else:
        print(printable(_report(tried, row, trial.advice(tried, approved.hook))))
    if tried.result == "skipped":
        print(f"hooktray: {row['cause']}: the hook did not run\n  {SKIPPED_REMEDY}", file=sys.stderr)
    if expect and expect != tried.result:
        print(f"hooktray: expected {expect}, got {tried.result}", file=sys.stderr)
        return 1
    return 0


def approved_hook(paths: Paths, stores: Stores, word: str) -> ApprovedHook:
    """The hook in force that this word means. Raises HooktrayError, with what to do first."""
    one = hook_state(paths, stores, word)
    approved = stores.ledger.state.approved.get(one.key)
    if approved is None:
        raise HooktrayError(f"{one.hook.name} is {one.state.value}, not approved", hint=one.problem or APPROVE)
    return approved


def hook_state(paths: Paths, stores: Stores, word: str) -> HookState:
    """The declared hook that this word means. Raises HooktrayError."""
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    catalog.refresh()
    matches = catalog.find(word)
    if not matches:
        names = [one.hook.name for one in catalog.states]
        hint = suggest(word, names) if names else "no hook is declared yet: `hooktray paths` says where"
        raise HooktrayError(f"no hook is called `{word}`", hint=hint)
    if len(matches) > 1:
        raise HooktrayError(f"`{word}` may mean: {', '.join(one.key for one in matches)}", hint="write one of these")
    return matches[0]


def _row(tried: trial.Trial, agent: str, name: str) -> dict[str, object]:
    """What `hooktray test --hook --json` shows."""
    outcome, output = tried.outcome, tried.outcome.output
    return {
        "agent": agent,
        "event": name,
        "hook": tried.hook,
        "verdict": tried.result,
        "status": outcome.status.value,
        "ms": round(outcome.ms, 3),
        "reason": output.reason,
        "rewrites": output.rewrite.target.value if output.rewrite else None,
        "rewrite": output.rewrite.value if output.rewrite else None,
        "context": output.context,
        "notes": list(output.notes),
        "stop": output.stop,
        "cause": outcome.cause,
        "stderr": outcome.stderr,
        "adjustments": list(tried.decision.adjustments),
        "stdout": tried.answer.stdout.decode("utf-8", "replace"),
        "code": tried.answer.code,
    }


def _report(tried: trial.Trial, row: Mapping[str, object], advice: str) -> str:
    lines = [f"{row['hook']} on {row['event']} of {row['agent']}: {row['verdict']}, {row['ms']:.1f} ms"]
    for label in ("reason", "cause", "context", "stop", "stderr"):
        lines += [f"  {label}: {str(row[label]).strip()}"] if row[label] else []
    if row["rewrites"]:
        lines.append(f"  rewrites the {row['rewrites']}: {json.dumps(row['rewrite'], ensure_ascii=False)}")
    lines += [f"  note for you: {note}" for note in tried.outcome.output.notes]
    lines += [f"  made to fit: {adjustment}" for adjustment in tried.decision.adjustments]
    lines += [f"  {advice}"] if advice else []
    lines.append(f"  the agent would be told: {str(row['stdout']).strip() or 'nothing'} (exit {row['code']})")
    lines += ["  as expected"] if row.get("met") else []
    return "\n".join(lines)
