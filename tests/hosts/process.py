"""What the stand-ins of agents share: a hook's process with a time limit, the report of what would be done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a hook's process ended; `code` is None after a signal or a time-out."""

    code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False


@dataclass(kw_only=True)
class Report:
    """What the agent would do. `warnings` is what it would complain of, or ignore without a word."""

    verdict: str = "none"  # none, allow, ask or deny; deny is whatever refusal the event knows
    stop: bool = False  # the agent stops altogether
    reason: str = ""
    changes: dict[str, Any] = field(default_factory=dict)  # what is put in the place of what, and what is added
    warnings: list[str] = field(default_factory=list)


VERDICTS = ("none", "allow", "ask", "deny")


def merged(reports: Iterable[Report]) -> Report:
    """One report of all hooks; a refusal wins, and the first reason counts."""
    whole = Report()
    for each in reports:
        whole.verdict = max(each.verdict, whole.verdict, key=VERDICTS.index)
        whole.reason = whole.reason or each.reason
        whole.stop |= each.stop
        whole.changes |= each.changes
        whole.warnings += each.warnings
    return whole


@dataclass(frozen=True, kw_only=True)
class Hook:
    """One configured hook: a line for a shell, or words for none."""

    command: str | Sequence[str]
    timeout: float = 30.0


def spawn(hook: Hook, body: bytes, *, cwd: str = "", env: Mapping[str, str] | None = None) -> Exit:
    """Run it as agents do: payload on stdin, its whole process group killed when the time is over."""
    process = subprocess.Popen(
        hook.command,
        shell=isinstance(hook.command, str),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd if cwd and Path(cwd).is_dir() else None,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(body, timeout=hook.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        return Exit(code=None, stdout=stdout, stderr=stderr, timed_out=True)
    code = process.returncode
    return Exit(code=code if code >= 0 else None, stdout=stdout, stderr=stderr)


def parsed(text: bytes) -> Any:
    """The value that a JSON text is; ValueError when it is none."""
    return json.loads(text.decode())


def kind(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    names = {bool: "boolean", dict: "object", list: "array", str: "string"}
    return names.get(type(value), "number")


def run_all(
    event: str,
    body: bytes,
    hooks: Iterable[Hook],
    judge: Callable[[str, bytes, Exit], Report],
    *,
    cwd: str = "",
    env: Mapping[str, str] | None = None,
) -> Report:
    """Runs all these hooks and returns what they make the agent do."""
    return merged(judge(event, body, spawn(each, body, cwd=cwd, env=env)) for each in hooks)
