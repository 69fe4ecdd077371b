"""Cline's command line, the binary of its npm package for Linux, with a model of its user's own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from clients import packages
from clients.client import Can, Client, Session
from clients.model import MODEL
from clients.wires import Call

FOLDER = ".cline"
PROVIDER = "openai-compatible"
# What its user has in the folder before: a hook that leaves a trace.
OWN_HOOK = "#!/bin/sh\ncat >/dev/null; touch ~/own-hook-ran\n"


def program() -> Sequence[str]:
    row = packages.ROWS["cline"]
    return (str(packages.fetched("cline") / "node_modules" / row["package"] / "bin" / "cline"),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    settings = {"provider": PROVIDER, "apiKey": "dummy", "model": MODEL, "baseUrl": f"{url}/v1"}
    known = {PROVIDER: {"settings": settings, "updatedAt": "2026-11-23T18:40:39.270Z", "tokenSource": "manual"}}
    providers = {"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": known}
    for name, text in (("data/settings/providers.json", json.dumps(providers)), ("hooks/TaskComplete", OWN_HOOK)):
        path = home / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {}


def end_daemons(one: Session) -> None:
    """Cline starts a copy of itself that outlives it."""
    binary = str(Path(program()[0]).resolve())  # the cache may be a link
    for process in psutil.process_iter(["environ", "exe"]):
        if process.info["exe"] == binary and (process.info["environ"] or {}).get("HOME") == str(one.home):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


CLINE = Client(
    agent="cline",
    package="cline",
    program=program,
    # A prompt of one word is taken for a command.
    printed=lambda prompt: ("-P", PROVIDER, "-m", MODEL, f"please do {prompt}"),
    shell_call=lambda line: Call("run_commands", {"commands": [line]}),
    settings=f"{FOLDER}/hooks/PreToolUse.bash",
    existing={},
    can=Can.REWRITE | Can.SESSION_START | Can.REFUSAL_ENDS_TURN,
    prepare=prepare,
    end=end_daemons,
)
