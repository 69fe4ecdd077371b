"""A stand-in of Shelley's hook loop: it runs the one executable that a hooks folder has for an event.

Shelley's only refusal is a hook that fails.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hosts.process import Exit, Hook, Report, kind, parsed, spawn

TIMEOUT = 30.0
FIELDS = {"chat-message": ("message",), "new-conversation": ("prompt", "model", "cwd", "slug")}
VARIABLES = {
    "SHELLEY_SLASH_COMMAND": "command",
    "SHELLEY_SLASH_ARGS": "args",
    "SHELLEY_CONVERSATION_ID": "conversation_id",
    "SHELLEY_CWD": "cwd",
    "SHELLEY_MODEL": "model",
    "SHELLEY_USER_EMAIL": "user_email",
}


def judge(event: str, body: bytes, ended: Exit) -> Report:
    """What the hook's end means for its event."""
    failed = "timed out" if ended.timed_out else "signal" if ended.code is None else f"exit {ended.code}"
    if event == "end-of-turn":
        said = ["stdout is ignored"] if ended.stdout else []
        return Report(warnings=said + ([f"hook failed: {failed}"] if ended.code != 0 else []))
    if ended.code != 0:
        reason = ended.stderr.decode(errors="replace").strip()
        return Report(verdict="deny", reason=reason, warnings=[] if reason else [f"failed without a word: {failed}"])
    if event == "system-prompt":
        return _system(body, ended.stdout)
    if event.startswith("slash/"):
        text = ended.stdout.decode(errors="replace")
        return Report(changes={"prompt": text} if text else {})
    return _fields(event, body, ended.stdout)


def _system(body: bytes, stdout: bytes) -> Report:
    if not stdout:
        return Report(verdict="deny", warnings=["an empty system prompt aborts the conversation"])
    return Report(changes={} if stdout == body else {"prompt": stdout.decode(errors="replace")})


def _fields(event: str, body: bytes, stdout: bytes) -> Report:
    """A JSON object into a struct of strings: keys in any case, null is nothing, other types abort."""
    if not stdout.strip():
        return Report()
    try:
        answer = parsed(stdout.strip())
    except ValueError:
        return Report(verdict="deny", warnings=["not JSON: aborted"])
    if answer is None:
        return Report()
    if not isinstance(answer, dict):
        return Report(verdict="deny", warnings=[f"a JSON {kind(answer)}: aborted"])
    known = FIELDS[event]
    report = Report(warnings=[f"{key} is ignored" for key in answer if key.lower() not in known])
    now: dict[str, Any] = parsed(body)
    for key, value in answer.items():
        name = key.lower()
        if name not in known or value in (None, "", now.get(name)):
            continue
        if not isinstance(value, str):
            return Report(verdict="deny", warnings=[f"{key} is a {kind(value)}: aborted"])
        report.changes["prompt" if name == "message" else name] = value
    return report


def run(config: str, event: str, body: bytes) -> Report:
    """The one executable of this name; without one, or without its executable bit, there is no hook."""
    env = _variables(body) if event.startswith("slash/") else {}
    path = Path(config) / event
    if not path.is_file() or not path.stat().st_mode & 0o111:
        return Report()
    try:
        ended = spawn(Hook(command=[str(path)], timeout=TIMEOUT), body, env=env)
    except OSError as error:  # no shebang: nothing that could be started
        ended = Exit(code=126, stderr=os.fsencode(str(error)))
    return judge(event, body, ended)


def _variables(body: bytes) -> dict[str, str]:
    payload = parsed(body)
    return {name: str(payload.get(key) or "") for name, key in VARIABLES.items()}
