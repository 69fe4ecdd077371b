"""Which of several equal handlers is asked."""

from __future__ import annotations

import pytest
from engine.declared import built_hook

from tray.engine.plan import duplicates
from tray.model.hook import Http, Match
from tray.store.ledger import ApprovedHook

CALL = Http(url="https://guard.example.com/hook")


def approved(path: str, agent: str = "claude-code", action: Http = CALL, at: float = 1.0) -> ApprovedHook:
    match = Match(event="tool_before", format=agent, native="PreToolUse")
    hook = built_hook(action, match, source=agent, path=path, dialect=agent)
    return ApprovedHook(hook=hook, digest="d", position=(0, 0), at=at, channel="menu")


def test_of_two_settings_files_the_handler_approved_last_is_asked() -> None:
    hooks = [approved("/a/settings.json", at=1.0), approved("/b/settings.json", at=2.0)]

    assert duplicates(hooks) == {0: 1}


@pytest.mark.parametrize("name", ["hooks.json", "plugin.json"])
def test_a_plugins_handler_is_its_own(name: str) -> None:
    settings = approved("/a/settings.json")

    assert duplicates([settings, approved(f"/one/{name}"), approved(f"/two/{name}")]) == {}
    assert duplicates([approved(f"/one/{name}"), approved(f"/one/{name}", at=2.0)]) == {0: 1}


def test_handlers_of_an_agent_that_asks_each_one_are_all_asked() -> None:
    assert duplicates([approved("/a/hooks.json", "x-code"), approved("/b/hooks.json", "x-code")]) == {}
