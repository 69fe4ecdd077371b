"""Agents in the menu, on real files: what is written is what was summed up, and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest
from at_once import AtOnce
from connect.claude_home import TEXT, file, home
from msgspec.structs import replace
from viewer import Viewer

from tray.agents.packages import PackagedAgents
from tray.agents.registry import AGENTS, BUILT_IN
from tray.approvals.catalog import HookCatalog
from tray.connect import connectors
from tray.desktop.menu.state import MenuAgent
from tray.desktop.presenter import Presenter
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.installation.agents_menu import AgentsMenu
from tray.installation.entry_watch import EntryWatch
from tray.notify.service import AlertService
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

__all__ = ["file", "home"]


class Unchanged:
    """Stand-in for the EntryWatch: every entry is as `connect` wrote it."""

    def change(self, agent: str) -> None:
        return None


class Desk(Viewer):
    """Stands in for the viewer, the alerts, the menu and the journal."""

    drawn = 0
    arrives = True

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, str]] = []
        self.events: dict[str, float] = {}  # the last of each agent

    def inform(self, title: str, text: str) -> None:
        self.told.append((title, text))

    def show(self) -> None:
        self.drawn += 1

    def last_events(self, agents: Iterable[str]) -> dict[str, float]:
        return self.events

    def has_session(self, session: str) -> bool:
        return self.arrives


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def agents(home: Path, desk: Desk) -> AgentsMenu:
    return new_menu(home, desk)


def new_menu(home: Path, desk: Desk) -> AgentsMenu:
    paths = locate(str(home / "h"))
    paths.prepare()
    stores = open_stores(paths, create=True)
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    agents = AgentsMenu(
        paths, desk, desk, catalog, queue=AtOnce(), workers=AtOnce(), alerts=cast(AlertService, desk),
        entries=cast(EntryWatch, Unchanged()),
    )  # fmt: skip
    agents.view = cast(Presenter, desk)
    return agents


def row(agents: AgentsMenu, agent: str = "claude-code") -> MenuAgent:
    agents.refresh()
    return next(one for one in agents.rows() if one.agent == agent)


def test_every_agent_has_its_row(agents: AgentsMenu, file: Path) -> None:
    assert [(one.agent, one.name, one.installed, one.connected) for one in agents.rows()] == [
        (agent, known.name, agent == "claude-code", False) for agent, known in AGENTS.items()
    ]


def test_an_agent_of_a_package_has_a_row_that_names_the_package(
    home: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pine = replace(AGENTS["shelley"], id="pine", name="Pine")
    brought = PackagedAgents(agents={"pine": pine}, packages={"pine": "hooktray-pine 1.0"})
    monkeypatch.setitem(AGENTS.__dict__, "packaged", brought)
    connectors.cache_clear()

    try:
        rows = new_menu(home, desk).rows()
    finally:
        connectors.cache_clear()

    assert {one.agent: (one.name, one.package) for one in rows if one.package} == {
        "pine": ("Pine", "hooktray-pine 1.0")
    }
    assert len(rows) == len(BUILT_IN) + 1


def digest(agents: AgentsMenu, agent: str = "claude-code") -> str:
    offered = row(agents, agent).connect
    assert offered
    return offered.digest


def test_an_agent_is_connected_and_disconnected_by_what_was_summed_up(
    agents: AgentsMenu, file: Path, desk: Desk
) -> None:
    shown = row(agents).connect
    assert shown
    assert shown.summary == (
        "adds 1 entry for each of 14 events to ~/.claude/settings.json · writes ~/.claude/commands/hooktray.md"
    )
    assert file.read_text() == TEXT
    agents.review("claude-code", connect=True)
    head, text = desk.opened[0].read_text().split("\n\n", 1)
    assert (head.splitlines()[1], text) == (shown.summary, shown.difference)
    assert text.startswith(f"--- {file}\n+++ {file}\n@@")

    assert agents.apply("claude-code", shown.digest).startswith("Claude Code is connected · no event yet")

    connected = row(agents)
    assert (connected.connected, connected.connect) == (True, None)
    assert connected.disconnect
    assert connected.disconnect.summary == (
        "takes 14 entries out of ~/.claude/settings.json · removes ~/.claude/commands/hooktray.md"
    )
    assert agents.apply("claude-code", connected.disconnect.digest) == "Claude Code is disconnected"
    assert file.read_text() == TEXT


def test_all_agents_that_were_found_are_connected_by_one_click(agents: AgentsMenu, file: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text("{,}")
    digests = (digest(agents), digest(agents, "codex"))

    text = agents.connect_all(digests)

    assert text.startswith("Connected: Claude Code, Codex · Claude Code: no event yet")
    assert [one.agent for one in agents.rows() if one.connected] == ["claude-code", "codex"]
    assert agents.connect_all(digests) == "Nothing is left to connect"


def test_the_answer_to_one_connected_agent_names_it_once(agents: AgentsMenu, file: Path) -> None:
    assert agents.connect_all([digest(agents)]).startswith("Connected: Claude Code · no event yet")


def test_one_agent_whose_file_changed_keeps_no_other_from_being_connected(
    agents: AgentsMenu, file: Path, home: Path
) -> None:
    (home / ".codex").mkdir()
    digests = (digest(agents), digest(agents, "codex"))
    file.write_text("{}")

    with pytest.raises(HooktrayError, match="changed by somebody else") as caught:
        agents.connect_all(digests)

    assert caught.value.hint == "connected: Codex"
    assert [one.agent for one in agents.rows() if one.connected] == ["codex"]


def test_a_click_on_what_was_not_shown_last_writes_nothing(agents: AgentsMenu, file: Path) -> None:
    old = digest(agents)
    file.write_text('{"model": "haiku"}\n')
    agents.refresh()

    with pytest.raises(HooktrayError, match="not what was shown last"):
        agents.apply("claude-code", old)
    with pytest.raises(HooktrayError, match="not what was shown last"):
        agents.apply("shelley", digest(agents))

    assert file.read_text() == '{"model": "haiku"}\n'


def test_a_file_that_changed_since_is_left_and_has_to_be_shown_again(agents: AgentsMenu, file: Path) -> None:
    shown = digest(agents)
    file.write_text("{}")

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        agents.apply("claude-code", shown)

    assert file.read_text() == "{}"
    assert digest(agents) != shown


def test_what_cannot_be_read_is_told_in_its_row(agents: AgentsMenu, file: Path) -> None:
    file.write_text("{,}")

    assert "settings.json:1:2:" in row(agents).advice
    with pytest.raises(HooktrayError, match=r"settings\.json:1:2:"):
        agents.review("claude-code", connect=True)


def test_where_nothing_is_to_be_written_nothing_waits_for_a_click(agents: AgentsMenu, file: Path, desk: Desk) -> None:
    agents.review("claude-code", connect=False)

    assert row(agents).disconnect is None
    assert desk.opened[0].read_text().startswith("Claude Code: there is nothing to write")


def test_a_tried_agent_is_told_and_is_firing_until_its_lines_change(
    agents: AgentsMenu, file: Path, desk: Desk
) -> None:
    agents.apply("claude-code", digest(agents))

    agents.probe("claude-code")

    assert desk.told[0][1].startswith("Claude Code is firing")
    assert row(agents).firing is True
    file.write_text(json.dumps({**json.loads(file.read_text()), "disableAllHooks": True}))
    assert (row(agents).trusted, row(agents).firing) == (False, None)
    agents.probe("claude-code")
    assert desk.told[1][0] == "Claude Code is not firing"
    assert "disableAllHooks" in desk.told[1][1]
    assert row(agents).firing is False


def test_the_menu_is_drawn_again_only_when_something_is_different(agents: AgentsMenu, file: Path, desk: Desk) -> None:
    agents.refresh()
    agents.refresh()

    assert desk.drawn == 1


def test_all_agents_are_shown_with_what_connecting_them_would_write(
    agents: AgentsMenu, file: Path, desk: Desk
) -> None:
    desk.events = {"claude-code": 7.0}
    agents.show()
    text = desk.opened[0].read_text()
    assert "claude-code: installed, not connected, last event " in text
    assert f"`hooktray connect claude-code` would write this:\n--- {file}\n" in text
    assert "x-code: not found here, not connected, no event yet\n" in text

    agents.apply("claude-code", digest(agents))
    agents.show()

    text = desk.opened[1].read_text()
    assert "claude-code: installed, 14 events connected" in text
    assert "would write" not in text


def test_every_agent_can_be_offered(agents: AgentsMenu, home: Path) -> None:
    names = {"claude-code", "copilot-cli", "shelley", "starchild", "x-code"}
    agents.refresh()
    for agent in names:
        agents.review(agent, connect=True)
        offered = next(one.connect for one in agents.rows() if one.agent == agent)
        assert offered
        agents.apply(agent, offered.digest)

    connected = {one.agent: one.disconnect for one in agents.rows() if one.connected}
    assert connected.keys() == names
    for agent, shown in connected.items():
        assert shown
        agents.apply(agent, shown.digest)
    assert [path.name for path in home.iterdir()] == ["h"]
