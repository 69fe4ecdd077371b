"""The scorecard is what the tables and the recorded runs say, and each test that it relies on is there."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest
from agents import scorecard
from clients.claude_code import CLAUDE_CODE
from clients.client import Can, Client
from clients.cline import CLINE
from clients.codex import CODEX
from clients.copilot_cli import COPILOT_CLI
from clients.droid import DROID
from clients.gemini_cli import GEMINI_CLI
from clients.grok import GROK
from clients.kimi_code import KIMI_CODE
from clients.opencode import OPENCODE
from clients.qwen_code import QWEN_CODE
from every import every

from tray.agents.registry import AGENTS

CLIENTS = Path(__file__).parents[1] / "clients"
ROWS = {row["client"]: row for row in json.loads((CLIENTS / "packages.json").read_text(encoding="utf-8"))}
NAMED = [(agent, ability) for agent in scorecard.OWN for ability in {**scorecard.SCENES, **scorecard.OWN[agent]}]
NAMED = [(agent, ability) for agent, ability in NAMED if scorecard.client_test(agent, ability)]
CLIENTS_RUN = (CLAUDE_CODE, CLINE, CODEX, COPILOT_CLI, DROID, GEMINI_CLI, GROK, KIMI_CODE, OPENCODE, QWEN_CODE)


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((CLIENTS / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_is_what_the_tables_and_the_runs_say() -> None:
    assert scorecard.PAGE.read_text(encoding="utf-8") == scorecard.page()


@every(("agent", "ability"), NAMED)
def test_each_ability_that_a_client_has_shown_has_its_test(agent: str, ability: str) -> None:
    found = functions("scenes.py") | functions(f"test_{agent.replace('-', '_')}.py")

    assert scorecard.client_test(agent, ability) in found
    assert ability in scorecard.ABILITIES


def test_every_client_is_on_it_in_the_version_that_is_pinned() -> None:
    assert scorecard.OWN.keys() == ROWS.keys() & AGENTS.keys()
    for client, run in scorecard.RUNS.items():
        assert (run["agent"] in AGENTS, run["version"]) == (True, ROWS[client]["version"])


@every("client", CLIENTS_RUN, ids=[one.agent for one in CLIENTS_RUN])
def test_a_cell_says_what_the_scene_expects_of_its_client(client: Client) -> None:
    for ability, flag in (("ask", Can.ASK), ("rewrite input", Can.REWRITE)):
        assert scorecard.value(client.agent, ability) == ("yes" if flag in client.can else "no"), ability


def test_nothing_counts_that_did_not_pass_with_the_real_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word comes from the record of what ran: without it no cell says `run`."""
    monkeypatch.setattr(scorecard, "RUNS", {})

    assert ", run" not in scorecard.page().replace(scorecard.HEAD, "")
