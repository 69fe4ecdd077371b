"""What every event needs of all agents is what the agents' own modules have."""

from __future__ import annotations

from tray.agents import overview, overview_build
from tray.agents.agent import agents_by_home_variable, protected_words, senders_by_key
from tray.agents.registry import BUILT_IN, RECOGNISED, agents_without
from tray.protection import protected_paths


def test_the_overview_is_what_the_agents_own_modules_have() -> None:
    written = overview_build.FILE.read_text(encoding="utf-8")

    assert written == overview_build.text(), "run: python -m tray.agents.overview_build"


def test_the_overview_has_every_agent_and_all_that_is_protected() -> None:
    assert {*BUILT_IN, *RECOGNISED} == overview.AGENT_IDS
    assert {*overview.PROTECTED_WORDS} <= {*protected_paths.hook_words()}


def test_an_agent_that_the_overview_does_not_have_is_asked_itself() -> None:
    left = overview.AGENT_IDS - {"codex", "windsurf"}

    found = list(agents_without(left))

    assert [agent.id for agent in found] == ["codex", "windsurf"]
    assert agents_by_home_variable(found) == {"CODEX_HOME": "codex"}
    assert protected_words(found) == {"codex", "hook", "config.toml"}
    assert senders_by_key(found)["agent_action_name"] == ("windsurf",)
