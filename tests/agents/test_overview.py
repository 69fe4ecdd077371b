"""What every event needs of all agents is what the agents' own modules have."""

from __future__ import annotations

import pytest

from tray.agents.overview import OVERVIEW, overview_of, whole_overview
from tray.agents.packages import PackagedAgents
from tray.agents.registry import AGENTS, UNSUPPORTED
from tray.protection import protected_paths


def test_the_overview_is_what_the_agents_own_modules_have() -> None:
    assert overview_of((*AGENTS.built_in.values(), *UNSUPPORTED.values())) == OVERVIEW


def test_the_overview_has_all_that_is_protected() -> None:
    assert {*OVERVIEW.protected_words} <= {*protected_paths.hook_words()}


def test_an_agent_of_a_package_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = PackagedAgents(agents={id: AGENTS[id] for id in ("codex", "cursor")})
    monkeypatch.setitem(AGENTS.__dict__, "packaged", brought)
    found = whole_overview.__wrapped__()

    assert found.senders_by_key["model"] == ("codex", "codex")
    assert found.home_variables == OVERVIEW.home_variables
    assert found.protected_words[len(OVERVIEW.protected_words) :] == (
        *("codex", "config.toml", "cursor", "cursor-agent", "hook", "hooks"),
    )
