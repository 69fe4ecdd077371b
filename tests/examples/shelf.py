"""Every example, declared as in examples/hooktray.yaml, approved, and asked through the real engine."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from agents import recordings as recorder
from house import House

from tray.agents.protocol import parse
from tray.engine import trial
from tray.engine.trial import Trial
from tray.model.event import RelayRequest

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Shelf:
    """A house with all examples in it, and an agent's environment."""

    house: House
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.folder), "WEBHOOK_URL": "http://127.0.0.1:9/"}

    def ask(
        self,
        hook: str,
        agent: str,
        recording: str,
        changes: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
    ) -> Trial:
        """One hook's answer to a recorded payload, with some of its fields changed."""
        body = json.loads(recorder.wire(agent, recording))
        body = json.dumps(changed(body, {"cwd": str(self.folder)} | dict(changes))).encode()
        event = parse(
            RelayRequest(
                agent=agent,
                event=recorder.address(agent, recording),
                id="01",
                body=body,
                cwd=str(self.folder),
                environment=self.environment | dict(env or {}),
            )
        )
        state = next(one for one in self.house.catalog.states if one.hook.name == hook)
        approved = self.house.stores.ledger.state.approved[state.key]
        if not trial.is_matched(approved, event):
            return trial.unmatched(approved, event)
        return trial.run(self.house.engine, approved, event)


def changed(value: Any, changes: Mapping[str, Any]) -> Any:
    """The payload with these fields; a field in a field is written `tool.args`, and None takes one away."""
    for name, new in changes.items():
        place, *floors = name.split(".")[::-1]
        inner = value
        for floor in reversed(floors):
            inner = inner.setdefault(floor, {})
        inner[place] = new
        if new is None:
            del inner[place]
    return value


def speaks(hook: Mapping[str, Any], dialect: str) -> bool:
    """Whether the head of the hook's script claims this dialect besides the one that it is declared in."""
    text = (EXAMPLES / hook["command"].split()[0]).read_text()
    claimed = next(line for line in text.splitlines() if "Answers in: " in line)
    return "unchanged" in claimed and dialect in claimed and "dialect" not in hook


def shelf(folder: Path, *names: str, old: str = "\n", new: str = "\n", dialect: str = "") -> Shelf:
    """All examples, or those with these words; `new` stands in their configuration for `old`.

    With a dialect: those whose heads say that they speak it too, declared as such.
    """
    house = House(folder)
    place = house.paths.config.parent
    for path in EXAMPLES.iterdir():
        if path.is_file():
            shutil.copy(path, place / path.name)
    declared = yaml.safe_load((EXAMPLES / "hooktray.yaml").read_text().replace(old, new))
    if names:
        declared["hooks"] = [hook for hook in declared["hooks"] if any(name in json.dumps(hook) for name in names)]
    if dialect:
        declared["hooks"] = [hook | {"dialect": dialect} for hook in declared["hooks"] if speaks(hook, dialect)]
    if names or dialect:
        house.configure(declared)
    house.catalog.refresh()
    for one in house.catalog.states:
        if one.waiting:
            assert one.digest, one.health
            house.consent.approve(one.key, one.digest, "test")
    house.catalog.refresh()
    (folder / "work").mkdir()
    return Shelf(house, folder / "work")
