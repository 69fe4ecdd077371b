"""`hooktray test`: a synthetic event through the whole real path, from the relay to the answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from tray.cli import app, places
from tray.errors import HooktrayError
from tray.strict import nearest


@app.command()
def test(
    context: typer.Context,
    event: Annotated[str, typer.Argument(help="The event, as the agent calls it or by its canonical name.")],
    agent: Annotated[str, typer.Option("--agent", help="Whose event.")] = "claude-code",
) -> None:
    """Send a synthetic event through relay, tray and hooks, and show what the agent would be told."""
    from tray import relay
    from tray.dialects import DIALECTS, spec

    paths = places(context)
    if agent not in DIALECTS:
        raise HooktrayError(f"unknown agent `{agent}`", hint=_did_you_mean(agent, list(DIALECTS)))
    name = _native(agent, event)
    home = ["--home", str(paths.home)] if paths.home else []
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(Path(relay.__file__)), *home, agent, name],
        input=DIALECTS[agent].sample(name),
        capture_output=True,
        timeout=spec(agent, name).timeout + 5,
        check=False,
    )
    sys.stdout.write(done.stdout.decode("utf-8", "replace"))
    sys.stderr.write(done.stderr.decode("utf-8", "replace"))
    told = "nothing" if not done.stdout.strip() else "the line above"
    print(f"{agent} {name}: the agent was told {told}, exit {done.returncode}.", file=sys.stderr)


def _native(agent: str, event: str) -> str:
    from tray.dialects import DIALECTS, known

    events = DIALECTS[agent].EVENTS
    if known(agent, event):
        return event
    by_kind = [name for name, spec in events.items() if spec.kind.value == event]
    if by_kind:
        return by_kind[0]
    words = [*events, *sorted({spec.kind.value for spec in events.values()})]
    raise HooktrayError(f"{agent} has no event `{event}`", hint=_did_you_mean(event, words))


def _did_you_mean(word: str, known: list[str]) -> str:
    likely = nearest(word, known)
    return f"did you mean `{likely}`?" if likely else "known here: " + ", ".join(known)
