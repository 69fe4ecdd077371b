"""A whole engine on real files: a configuration, real scripts, a ledger, a journal, and a listener that remembers."""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from user_controls import user_controls

from tray.approvals.catalog import HookCatalog, HookState
from tray.approvals.controls import Controls, DecisionAnnouncer, HookTrials
from tray.approvals.passphrase import Passphrase
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions, Execution
from tray.engine.stores import Stores, open_stores
from tray.engine.user_questions import PendingQuestion, QuestionResult, UserQuestion, UserQuestions
from tray.execution.command import BackgroundProcesses
from tray.model.decision import Answer, Decision, Record
from tray.model.event import Event, RelayRequest
from tray.paths import Paths, locate
from tray.store.db import open_db
from tray.threads import ShutdownState

PRE_TOOL_USE = {
    "session_id": "s-1",
    "transcript_path": "/t.jsonl",
    "cwd": "/",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls", "description": "look"},
    "tool_use_id": "toolu_1",
}


def skip_without_posix_shell() -> None:
    """Leaves a test out where its hooks, written for a POSIX shell, cannot run."""
    if sys.platform == "win32":
        pytest.skip("a hook for a POSIX shell")


@dataclass
class House:
    """Everything the engine needs, below one folder."""

    root: Path
    arrivals: list[tuple[Event, bool]] = field(default_factory=list)  # events with whether they were answered already
    decisions: list[tuple[Event, Decision, Record]] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)  # turns with the texts shown for them, "" at their end
    background: BackgroundProcesses = field(default_factory=BackgroundProcesses)
    listener_fails: bool = False  # the listener fails on decisions
    asked: list[UserQuestion] = field(default_factory=list)
    endings: list[QuestionResult] = field(default_factory=list)
    resumed: list[PendingQuestion] = field(default_factory=list)  # that have an answer
    asks: tuple[str, ...] = ()  # agents whose questions are put to the user
    user: Callable[[PendingQuestion], object] = PendingQuestion.expired
    quit: ShutdownState = field(default_factory=ShutdownState)
    full: bool = False  # no more hooks can run after their agent was let go

    def __post_init__(self) -> None:
        self.paths: Paths = locate(str(self.root / "home"))
        is_new = not self.paths.state.exists()
        self.paths.prepare()
        if is_new:
            put_database(self.paths)
        self.stores: Stores = open_stores(self.paths, create=True)
        self.catalog: HookCatalog = HookCatalog(self.paths, self.stores.ledger, self.stores.copies)
        self.consent = self.controls()
        self.questions = UserQuestions(self)
        self.engine: Engine = Engine(
            self.stores,
            self,
            self,
            EngineOptions(
                settings=ConfirmedSettings(self.paths, self.stores),
                background=self.background,
                questions=self.questions,
                shutdown_state=self.quit,
            ),
        )
        self._threads: list[threading.Thread] = []
        self._yaml: list[dict[str, Any]] = []

    def arrived(self, event: Event, *, answered: bool) -> None:
        self.arrivals.append((event, answered))

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if self.listener_fails:
            raise RuntimeError("deaf")
        self.decisions.append((event, decision, record))

    def status_shown(self, turn: str, text: str) -> None:
        self.shown.append((turn, text))

    def status_hidden(self, turn: str) -> None:
        self.shown.append((turn, ""))

    def asking_agents(self) -> tuple[str, ...]:
        return self.asks

    def question_seconds(self) -> float:
        return 60.0

    def question_opened(self, question: UserQuestion) -> None:
        self.asked.append(question)

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        self.endings.append(result)

    def script(self, name: str, text: str) -> Path:
        skip_without_posix_shell()
        path = self.paths.config.parent / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    @functools.cached_property
    def passphrase(self) -> Passphrase:
        """Hashed cheaply: with the real cost each try takes half a second."""
        return Passphrase(self.stores.ledger, cost=2**10)

    def controls(self, announcer: DecisionAnnouncer | None = None, trials: HookTrials | None = None) -> Controls:
        """What a person can do here."""
        return user_controls(
            self.stores, self.catalog, announcer=announcer, trials=trials, passphrase=self.passphrase
        )

    def hook(self, name: str, *, on: str, script: str = "", approved: bool = True, **keys: Any) -> HookState:
        """Declare a hook (with its script), and approve it unless `approved` is false."""
        if script:
            self.script(f"{name}.sh", script)
            keys.setdefault("command", f"./{name}.sh")
        elif "command" in keys:
            skip_without_posix_shell()
        self._yaml.append({"name": name, "event": on, **keys})
        self.configure({"hooks": self._yaml})
        state = self.state(name)
        if approved:
            self.consent.approve(state.key, state.digest, "test")
        return self.state(name)

    def configure(self, document: Mapping[str, Any] | str) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.paths.config.write_text(text)
        self.catalog.refresh()

    def state(self, name: str) -> HookState:
        self.catalog.refresh()
        return next(one for one in self.catalog.states if one.hook.name == name)

    def relay(self, agent: str, event: str, payload: Mapping[str, Any] | bytes, **more: Any) -> Answer:
        request = self.relay_request(agent, payload, event=event, **more)
        self.catalog.search.saw_event(request.environment.get("PATH", ""))
        begun = self.engine.begin(request)
        response = begun.run(None) if isinstance(begun, Execution) else begun
        self.join()
        response = self._wait_for_user(response) if isinstance(response, PendingQuestion) else response
        assert response is not None, "only a tray that quits gives no answer"
        return response

    def relay_request(
        self, agent: str, payload: Mapping[str, Any] | bytes, *, event: str = "", id: str = "", **more: Any
    ) -> RelayRequest:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        number = id or f"{len(self.decisions):032x}"
        return RelayRequest(agent=agent, event=event, id=number, body=body, cwd=str(self.root), **more)

    def _wait_for_user(self, pending: PendingQuestion) -> Answer | None:
        """As the server does it, but in this thread: `user` answers at once."""
        pending.open(self)
        if pending not in self.resumed:
            self.user(pending)
        assert self.resumed == [pending]
        self.resumed.clear()
        return pending.answer()

    def resume(self, answer: PendingQuestion) -> None:
        self.resumed.append(answer)

    def join(self) -> None:
        """Wait for the hooks of events that were answered at once."""
        while self._threads:
            thread = self._threads.pop()
            thread.join(60)
            assert not thread.is_alive(), "a hook that nobody waits for has not ended"

    def tool(self, command: str = "ls", **more: Any) -> dict[str, Any]:
        """What Claude Code gets before it runs a command."""
        payload = {**PRE_TOOL_USE, "tool_input": {"command": command, "description": "look"}}
        answer = self.relay("claude-code", "PreToolUse", payload, **more)
        return dict(json.loads(answer.stdout)) if answer.stdout else {}

    @property
    def last(self) -> Record:
        return self.decisions[-1][2]

    def close(self) -> None:
        self.background.close()
        self.stores.journal.close()

    def spawn(self, work: Callable[[], object]) -> bool:
        if self.full:
            return False
        thread = threading.Thread(target=work)
        self._threads.append(thread)
        thread.start()
        return True


def put_database(paths: Paths) -> None:
    """A new database, copied: SQLite takes more than half of a house's time to make each table anew."""
    paths.database.write_bytes(_new_database())


@functools.cache
def _new_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return open_db(Path(folder, "new.db"), create=True).path.read_bytes()
