"""One agent's real client: how to start it offline, in a home of the test's own, against a model of ours."""

from __future__ import annotations

import enum
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clients.model import Model
from clients.wires import Call
from connect.trays import started
from desk import wait
from live import Live
from plain import Plain

from tray.agents.protocol import parse
from tray.engine.stores import open_stores
from tray.model.decision import Record
from tray.model.event import RelayRequest
from tray.paths import locate

LONG = 60.0  # seconds


class Can(enum.Flag):
    """What this client does with the answers of hooks, and which of its moments it sends as events."""

    NOTHING = 0
    ALLOW = enum.auto()  # can be told that a tool may run; else silence says so
    ASK = enum.auto()  # can be told to ask its user
    REWRITE = enum.auto()  # runs a tool with another input
    SESSION_START = enum.auto()  # has an event when a printed session begins
    SESSION_END = enum.auto()  # has an event when it ends
    CONTINUE = enum.auto()  # goes on when a hook refuses the end of its turn
    BLOCK_PROMPT = enum.auto()
    REFUSAL_ENDS_TURN = enum.auto()  # gives its model no reason: a refused call is the last of the turn


@dataclass(frozen=True, kw_only=True)
class Client:
    """The values that the scenes need of one client."""

    agent: str  # as `hooktray connect` calls it
    package: str  # its row in packages.json
    program: Callable[[], Sequence[str]]  # argv up to its options; fetches it
    printed: Callable[[str], Sequence[str]]  # the options for one turn with this prompt, without a terminal
    shell_call: Callable[[str], Call]  # its tool call for this shell line
    settings: str  # the file that `connect` edits, below the home
    existing: Mapping[str, Any]  # what its user has in there before
    can: Can
    # Writes what it needs to reach the model, given home, project and address; returns its variables.
    prepare: Callable[[Path, Path, str], Mapping[str, str]]
    trust: Callable[[Session], None] = field(default=lambda session: None)  # what its user does after `connect`
    end: Callable[[Session], None] = field(default=lambda session: None)  # ends what outlives the client
    refused_prompt: str | None = (
        ""  # what stdout or stderr shows of a refused prompt; "" = the reason, None = nothing
    )
    complaint: re.Pattern[str] = re.compile(r"(?i)hook (error|failed|reported)")  # of an answer that it cannot take


def call_id(row: Record) -> str:
    event = parse(RelayRequest(agent=row.agent, event=row.event, id=row.id, body=row.payload.encode()))
    return event.tool.call if event.tool else ""


@dataclass(frozen=True)
class Turn:
    """The results of one turn in print mode."""

    code: int
    stdout: str
    stderr: str
    made: set[str]  # the files that the client's tools made in the project
    told: str  # all text that the model received
    requests: int
    results: Mapping[str, str]  # what the model received for each call
    rows: list[Mapping[str, Any]]  # of the journal, oldest first

    def verdicts(self, kind: str) -> list[str]:
        return [row["verdict"] for row in self.rows if row["kind"] == kind]

    def row(self, kind: str, call: str) -> Mapping[str, Any]:
        """Returns the row of this event for this call."""
        return next(row for row in self.rows if row["kind"] == kind and call in row["subject"])


@dataclass(frozen=True)
class Session:
    """A connected client, a running tray with approved hooks, and the model, all on one home."""

    client: Client
    live: Live
    model: Model
    home: Path
    project: Path
    environment: Mapping[str, str]

    @property
    def settings(self) -> Path:
        return self.home / self.client.settings

    def connect(self) -> None:
        self.live.connect(self.client.agent, environment=self.environment)
        self.client.trust(self)

    def hooktray(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return self.live.place.run(self.live.argv(*words), self.environment, timeout=60)

    def trust(self) -> str:
        """What `hooktray agents` says in the project: whether the agent runs our entries, else what to do."""
        argv = self.live.argv("agents", "--json")
        done = subprocess.run(
            argv, cwd=self.project, env=dict(self.environment), capture_output=True, timeout=60, check=True
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return str(next(row["trust"] for row in rows if row["agent"] == self.client.agent))

    def turn(self, prompt: str = "hello", *, may_complain: bool = False) -> subprocess.CompletedProcess[bytes]:
        """The client runs one printed turn, and its session ends. It has no answer of ours to complain of."""
        done = subprocess.run(
            [*self.client.program(), *self.client.printed(prompt)],
            cwd=self.project,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        shown = (done.stdout + done.stderr).decode()
        assert may_complain or not self.client.complaint.search(shown), shown
        return done

    def ask(self, calls: Mapping[str, Call], prompt: str = "hello", *, reports_its_end: bool = True) -> Turn:
        """Runs one turn in print mode, with these calls, after deleting what earlier turns made in the project."""
        for name in self.made():
            (self.project / name).unlink()
        self.model.calls = list(calls.values())
        self.model.requests.clear()
        begun = time.time()
        done = self.turn(prompt)

        def rows() -> list[dict[str, Any]]:
            return [row for row in self.rows() if row["at"] >= begun]

        if reports_its_end and Can.SESSION_END in self.client.can:
            wait(lambda: any(row["kind"] == "session_end" for row in rows()), LONG, "the end of the session")
        return Turn(
            code=done.returncode,
            stdout=done.stdout.decode(),
            stderr=done.stderr.decode(),
            made=self.made(),
            told=self.model.told(),
            requests=len(self.model.requests),
            results=dict(zip(calls, self.model.results(), strict=False)),
            rows=[*rows()],
        )

    def made(self) -> set[str]:
        """The files that the client's tools made in the project."""
        return {path.name for path in self.project.iterdir() if not path.name.startswith(".")}

    def rows(self, kind: str = "") -> list[dict[str, Any]]:
        """The journal's rows of this agent, of one kind, oldest first."""
        rows = sorted(self.live.log(), key=lambda row: float(row["at"]))
        return [row for row in rows if row["agent"] == self.client.agent and kind in ("", row["kind"])]

    @contextmanager
    def edited(self, change: Callable[[str], str]) -> Iterator[None]:
        """Changes the client's settings, and restores them at the end."""
        text = self.settings.read_text()
        self.settings.write_text(change(text))
        try:
            assert self.settings.read_text() != text
            yield
        finally:
            self.settings.write_text(text)

    def unseen(self) -> list[str]:
        """What the calls of this agent did that have an event after them and none before them, by their ids."""
        journal = open_stores(locate(str(self.live.home)), create=False).journal
        try:
            rows = [row for row in reversed(journal.recent(1000)) if row.agent == self.client.agent and not row.test]
        finally:
            journal.close()
        calls = {
            kind: {call_id(row): row for row in rows if row.kind == kind} for kind in ("tool_before", "tool_after")
        }
        return [row.subject for id, row in calls["tool_after"].items() if id and id not in calls["tool_before"]]

    def wait_rows(self, kind: str, deadline: float = LONG) -> list[dict[str, Any]]:
        return wait(lambda: self.rows(kind), deadline, f"a row of {kind}")

    def wait_announced(self, kind: str, count: int = 1) -> None:
        """Until so many were to be notified, which nothing here shows: one that is answered at once never is."""
        wait(lambda: [row["alerted"] for row in self.rows(kind)] == ["failed"] * count, LONG, f"{kind} is announced")

    def close(self) -> None:
        self.client.end(self)
        assert isinstance(self.live.place, Plain)
        self.live.place.close()
        self.model.close()


def session(
    client: Client,
    folder: Path,
    calls: Sequence[Call] = (),
    hooks: Sequence[Mapping[str, Any]] = (),
    scripts: Mapping[str, str] | None = None,
    *,
    live: Live | None = None,
) -> Session:
    """Everything runs, and the client is not connected yet. `close` it. Without `live` nobody is at a desk."""
    live = live or started(folder, hooks, scripts or {})
    model = Model(calls)
    project = folder / "project"
    project.mkdir()
    settings = folder / client.settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    if client.existing:
        settings.write_text(json.dumps(client.existing, indent=4))
    usual = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment = {**usual, **client.prepare(folder, project, model.url)}
    return Session(client, live, model, folder, project, environment)
