"""The scorecard is what the tables and the recorded runs say, and each test that it relies on is there."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from agents import scorecard
from every import every

from tray.agents.registry import AGENTS

CLIENTS = Path(__file__).parents[1] / "clients"
ROWS = {row["client"]: row for row in json.loads((CLIENTS / "packages.json").read_text(encoding="utf-8"))}
NAMED = [(agent, ability) for agent in scorecard.OWN for ability in {**scorecard.SCENES, **scorecard.OWN[agent]}]


def functions(*files: str) -> set[str]:
    trees = [ast.parse((CLIENTS / file).read_text(encoding="utf-8")) for file in files]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_is_what_the_tables_and_the_runs_say() -> None:
    assert scorecard.PAGE.read_text(encoding="utf-8") == scorecard.page()


@every(("agent", "ability"), NAMED)
def test_each_ability_that_a_client_has_shown_has_its_test(agent: str, ability: str) -> None:
    found = functions("scenes.py", f"test_{agent.replace('-', '_')}.py")

    assert scorecard.client_test(agent, ability) in found
    assert ability in scorecard.ABILITIES


def test_every_client_is_on_it_in_the_version_that_is_pinned() -> None:
    assert scorecard.OWN.keys() == ROWS.keys() & AGENTS.keys()
    for client, run in scorecard.RUNS.items():
        assert (run["agent"] in AGENTS, run["version"]) == (True, ROWS[client]["version"])


@every("agent", [agent for agent in scorecard.OWN if agent in scorecard.RUNS])
def test_a_client_that_was_run_has_shown_what_it_refuses(agent: str) -> None:
    assert scorecard.evidence(agent, "deny") == "run"


def test_what_no_program_has_shown_is_called_documented() -> None:
    assert scorecard.evidence("shelley", "session end") == "documented"
    assert scorecard.evidence("shelley", "deny") == "stand-in"
