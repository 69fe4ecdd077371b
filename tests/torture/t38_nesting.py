"""T38: agents that hooks start, in every way to get away from their parents: all other guards hold."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from desk import wait
from e2e.test_nested import LONG, WAYS, Nest
from house import PRE_TOOL_USE, House
from plain import Plain

from torture.frame import Tally
from tray.execution.process import RUN_VARIABLE

TITLE = "agents that hooks start"


def torture(tally: Tally) -> None:
    with ThreadPoolExecutor(2) as pool:  # each with a tray of its own, which knows of no other hook's children
        runs = [
            pool.submit(_below, tally, tally.folder / f"{number}-{index}", way, line)
            for number in range(tally.many(1, 40))
            for index, (way, line) in enumerate(WAYS.items())
        ]
        runs.append(pool.submit(_forged, tally, tally.folder / "forged"))
        for done in runs:
            done.result()


def _below(tally: Tally, folder: Path, way: str, line: str) -> None:
    """The agent's tool call meets every guard but the hook that started it; that one is not started again."""
    folder.mkdir()
    plain, house = Plain(folder), House(folder)
    try:
        nest = Nest(house, plain, folder)
        inner = nest.agent("inner", "start it; rm -rf x; mkfs y")
        inner.write_text(f"env >{folder}/environment\n{inner.read_text()}")
        nest.starter("start it", line.format(inner=inner))
        nest.guards()
        nest.live.start()
        nest.live.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "start it"}})
        answer = nest.answer("inner")
        reason = answer.get("permissionDecisionReason", "")
        tally.attack(f"{way}: the guard, {answer}", "the guard says no" in reason)
        tally.attack(f"{way}: the rule, {answer}", "the rule" in reason)
        tally.attack(f"{way}: started again", nest.count("starter") == 1)
        if "env -i" not in line:
            marked = RUN_VARIABLE in (folder / "environment").read_text()
            tally.control("an engine that asks no hook about what carries a hook's mark", marked)
    finally:
        plain.close()
        house.close()


def _forged(tally: Tally, folder: Path) -> None:
    """An agent that no hook started, and says that one did."""
    folder.mkdir()
    plain, house = Plain(folder), House(folder)
    try:
        nest = Nest(house, plain, folder)
        agent = nest.agent("outside", "rm -rf x")
        nest.guards()
        nest.live.start()
        subprocess.run(["sh", str(agent)], env={**plain.environment, RUN_VARIABLE: os.urandom(8).hex()}, check=False)
        wait((folder / "outside").exists, LONG, "the answer")
        tally.attack("a forged mark", nest.answer("outside").get("permissionDecision") == "deny")
    finally:
        plain.close()
        house.close()
