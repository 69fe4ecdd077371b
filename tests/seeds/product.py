"""The whole product as the seeds' hooks get it: a real tray, the installed relay, hooks that a person approved."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from connect.trays import approve_all, installed
from desk import wait

from tray.agents.registry import AGENTS
from tray.engine.stores import open_stores
from tray.model.decision import Record
from tray.model.hook import ApprovalState
from tray.paths import locate

SCRIPTS = Path(__file__).parent / "scripts"  # as the seeds print them


class Product:
    """One home with agents' files in it. `start` approves what is declared then."""

    def __init__(self, folder: Path) -> None:
        self.live = installed(folder)
        self.home = folder
        self.paths = locate(str(self.live.home))
        self._entries: list[dict[str, Any]] = []
        self._sources: list[dict[str, Any]] = []
        self._settings: dict[str, Any] = {}
        self.before: set[Path] = set()  # files outside of the home that were there before

    def write(self, name: str, text: str, mode: int = 0o755) -> Path:
        """A file below the home; `text` goes in as it is."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def script(self, name: str, *, seed: str) -> Path:
        """A script that a seed prints, verbatim."""
        return self.write(name, (SCRIPTS / seed).read_text())

    def source(self, agent: str, path: Path | str, *, only: Sequence[str] = ()) -> Self:
        """`only`: the agents whose events it is for."""
        self._sources.append({agent: str(path), **({"agent": list(only)} if only else {})})
        return self._configured()

    def hook(self, **keys: Any) -> Self:
        self._entries.append(keys)
        return self._configured()

    def set(self, **settings: Any) -> Self:
        self._settings |= settings
        return self._configured()

    def _configured(self) -> Self:
        self.live.configure({"hooks": self._entries, "sources": self._sources, **self._settings})
        return self

    def claude(self, event: str, *handlers: Mapping[str, Any], matcher: str = "", **settings: Any) -> Self:
        """The user's settings of Claude Code with these handlers, as a source."""
        group = {"hooks": [{"type": "command", **one} for one in handlers]}
        document = {"hooks": {event: [group | ({"matcher": matcher} if matcher else {})]}, **settings}
        path = self.write(".claude/settings.json", json.dumps(document), 0o644)
        return (
            self
            if any(one.get("claude-code") == str(path) for one in self._sources)
            else self.source("claude-code", path)
        )

    def starchild(self, *entries: Mapping[str, Any]) -> Self:
        """A workspace whose shell_hooks.yaml has these entries, as a source."""
        return self.source(
            "starchild",
            self.write("workspace/config/shell_hooks.yaml", json.dumps({"hooks": list(entries)}), 0o644),
        )

    def start(self, *, approve: bool = True, grants: Sequence[str] = ()) -> Self:
        """`grants`: variables that a person lets through to each hook."""
        if approve:
            approve_all(self.live, grants=grants)
        stores = open_stores(self.paths, create=True)
        stores.switch.mute(True)
        stores.journal.close()
        self.live.start("--headless")
        return self

    def approve(self) -> None:
        """Approve what is new, as a person would while no tray runs."""
        self.live.quit()
        approve_all(self.live, lambda one: one.state is ApprovalState.PENDING)
        self.live.start("--headless")

    def ask(
        self,
        agent: str,
        event: str,
        payload: Mapping[str, Any] | None = None,
        *,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """What the agent's relay does with a payload: the sample of the event with these keys in it."""
        return self.send(
            agent, event, json.loads(AGENTS[agent].protocol.sample(event)) | dict(payload or {}), env=env
        )

    def send(
        self, agent: str, event: str, body: Mapping[str, Any], *, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """What the agent's relay does with this payload and nothing beside it."""
        words = () if AGENTS[agent].unnamed_event else (event,)  # as its entries have it
        argv: Sequence[str] = [str(self.paths.relay), agent, *words]
        return self.live.place.run(argv, env, input=json.dumps(body).encode(), timeout=200)

    def answer(self, agent: str, event: str, payload: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """The JSON object of the answer; {} for silence."""
        done = self.ask(agent, event, payload, **more)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout)) if done.stdout.strip() else {}

    def row(self, text: str) -> Record:
        """The newest row of the journal whose payload has this text, once it is there."""

        def find() -> Record | None:
            rows = open_stores(self.paths, create=False).journal.recent(100)
            return next((row for row in rows if text in row.payload), None)

        return wait(find, 60, f"the row of {text}")

    def close(self) -> None:
        if hasattr(self.live, "process"):
            self.live.quit()
        self.live.place.close()
