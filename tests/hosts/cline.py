"""A stand-in of Cline's hook loop, after its code and what the real command line (3.0.65) did.

No exit code counts, and output that is no JSON means nothing.
"""

from __future__ import annotations

import json

from hosts.process import Exit, Report

TOOLS = ("PostToolUse", "PreToolUse")
CONTEXTS = ("context", "contextModification")


def judge(event: str, body: bytes, ended: Exit) -> Report:
    stdout = ended.stdout.decode("utf-8", "replace").strip()
    if not stdout:
        return Report()
    try:
        answer = json.loads(stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or event not in TOOLS:
        return Report(warnings=[f"{event} ignores this output"])
    report = Report()
    reason = answer.pop("errorMessage", "")
    if answer.pop("cancel", None) is True:
        report.verdict, report.reason = "deny", reason
    context = [answer.pop(key) for key in CONTEXTS if key in answer]
    report.changes |= {"context": context[0]} if context else {}
    if event == "PreToolUse" and "overrideInput" in answer:
        report.changes["input"] = _one_command(answer.pop("overrideInput"))
    report.warnings += [f"{event} ignores {key}" for key in answer]
    return report


def _one_command(input: object) -> object:
    """As Hooktray's rewrites have it: the list of commands is one command."""
    if isinstance(input, dict) and isinstance(input.get("commands"), list):
        commands = input["commands"]
        return {**{key: value for key, value in input.items() if key != "commands"}, "command": commands[0]}
    return input
