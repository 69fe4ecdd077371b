"""`hooktray test`: sends a synthetic event through the whole real path, or runs one approved hook on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from tray import relay_program
from tray.agents.protocol import is_known_event, spec
from tray.agents.registry import AGENTS, CANONICAL
from tray.cli.command_line import Argument, Json, Option, UsageError
from tray.cli.hook_trial import run_trial
from tray.doctor.agent_sites import working_folder
from tray.doctor.relay_problems import obstacle
from tray.engine.trial import sample
from tray.errors import HooktrayError
from tray.model.event import PAYLOAD_LIMIT, TEST_VARIABLE
from tray.paths import Paths
from tray.strict.document import suggest


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
    body = _body(payload) if payload else _sample(agent, name)
    if show:
        sys.stdout.buffer.write(body)
        sys.stdout.flush()
        return 0
    paths.prepare()
    if hook:
        return run_trial(paths, agent, name, body, hook=hook, expect=expect, as_json=as_json)
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


def _sample(agent: str, name: str) -> bytes:
    return sample(agent, name, str(working_folder()))


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
