"""A whole session of a stand-in: it starts the hooks that stand in the agent's own file, and does what they say.

No real agent is run here. What each one sends, and what it makes of an answer, is in its module of this folder.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hosts.process import Report

LOOPS = 5  # ends of a turn that may be refused
Payload = tuple[str, Mapping[str, Any]]  # the event, and what the agent sends of it


@dataclass(frozen=True, kw_only=True)
class Moments:
    """What one agent sends of each moment of a session; an empty list where it has no event.

    `before` and `after` get a tool's canonical name and input, `end` how often the end was refused.
    """

    start: Callable[[Path], Sequence[Payload]]
    prompt: Callable[[Path, str], Sequence[Payload]]
    before: Callable[[Path, str, Mapping[str, str]], Sequence[Payload]]
    after: Callable[[Path, str, Mapping[str, str]], Sequence[Payload]]
    end: Callable[[Path, int], Sequence[Payload]]
    close: Callable[[Path], Sequence[Payload]]


@dataclass
class StandIn:
    """One agent in one project. It records what it ran, what was refused and why, and what its user was asked."""

    config: Path  # the file that the agent finds its hooks in
    project: Path
    run: Callable[[str, str, bytes], Report]
    moments: Moments
    commands: Mapping[str, str]  # the key of a rewritten input that holds the command, or the file, by tool
    ran: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)  # that reached the model, follow-ups among them
    reports: list[tuple[str, Report]] = field(default_factory=list)

    def turn(self, prompt: str, *calls: tuple[str, Mapping[str, str]]) -> None:
        """One session of one turn, in which the model makes these calls."""
        self._tell(self.moments.start(self.project))
        if self._tell(self.moments.prompt(self.project, prompt)).verdict != "deny":
            self.prompts.append(prompt)
            for name, input in calls:
                self._call(name, input)
            self._end()
        self._tell(self.moments.close(self.project))

    def _call(self, name: str, input: Mapping[str, str]) -> None:
        report = self._tell(self.moments.before(self.project, name, input))
        if report.verdict == "deny":
            self.refused.append(report.reason)
            return
        if report.verdict == "ask":  # nobody is there who would say yes
            self.asked.append(report.reason)
            return
        value = report.changes.get("input", {}).get(self.commands[name]) or next(iter(input.values()))
        if name == "Bash":
            subprocess.run(["/bin/sh", "-c", value], cwd=self.project, check=False)
        else:
            (self.project / Path(value).name).touch()
        self.ran.append(value)
        self._tell(self.moments.after(self.project, name, input))

    def _end(self) -> None:
        for count in range(LOOPS + 1):
            report = self._tell(self.moments.end(self.project, count))
            if report.verdict != "deny":
                return
            self.prompts.append(report.reason)

    def _tell(self, payloads: Sequence[Payload]) -> Report:
        """One moment may be several events; the first that refuses or asks ends it."""
        last = Report()
        for event, payload in payloads:
            body = json.dumps(payload, separators=(",", ":")).encode()
            last = self.run(str(self.config), event, body) if self.config.exists() else Report()
            self.reports.append((event, last))
            if last.verdict in ("ask", "deny"):
                return last
        return last

    @property
    def warnings(self) -> list[str]:
        return [f"{event}: {warning}" for event, report in self.reports for warning in report.warnings]
