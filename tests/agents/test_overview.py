"""What every event needs of all agents is what the agents' own modules have."""

from __future__ import annotations

from tray.agents import overview
from tray.agents.registry import BUILT_IN, RECOGNISED, agents_without, known_agent
from tray.protection import protected_paths

AGENTS = [known_agent(id) for id in (*BUILT_IN, *RECOGNISED)]
HINT = "write the new values into tray/agents/overview.py"


def test_the_overview_has_every_agent() -> None:
    assert {*BUILT_IN, *RECOGNISED} == overview.AGENT_IDS, HINT


def test_the_overview_has_the_marks_of_each_agent() -> None:
    by_key = {key: tuple(sorted(ids)) for key, ids in overview.senders_by_key(AGENTS).items()}

    assert by_key == overview.SENDERS_BY_KEY, HINT
    assert overview.senders_by_transcript(AGENTS) == overview.SENDERS_BY_TRANSCRIPT, HINT


def test_the_overview_has_what_is_protected_of_each_agent() -> None:
    assert overview.home_variables(AGENTS) == overview.HOME_VARIABLES, HINT
    assert overview.protected_words(AGENTS) == set(overview.PROTECTED_WORDS), HINT
    assert {*overview.PROTECTED_WORDS} <= {*protected_paths.hook_words()}


def test_an_agent_that_the_overview_does_not_have_is_asked_itself() -> None:
    left = overview.AGENT_IDS - {"codex", "windsurf"}

    found = list(agents_without(left))

    assert [agent.id for agent in found] == ["codex", "windsurf"]
    assert overview.home_variables(found) == {"CODEX_HOME": "codex"}
    assert overview.protected_words(found) == {"codex", "hook", "config.toml"}
    assert overview.senders_by_key(found)["agent_action_name"] == ("windsurf",)
