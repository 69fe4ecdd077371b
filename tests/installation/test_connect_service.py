"""What menu and page are given: the state of each agent, and a preview that is shown before it is applied."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from connect.claude_home import TEXT, file, home
from connect.sites import Arrived
from viewer import Viewer

from tray.approvals.catalog import HookCatalog
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.installation.connect_service import ConnectService
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

__all__ = ["file", "home"]


@pytest.fixture
def viewer() -> Viewer:
    return Viewer()


@pytest.fixture
def service(home: Path, viewer: Viewer) -> ConnectService:
    paths = locate(str(home / "h"))
    paths.prepare()
    stores = open_stores(paths, create=True)
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    return ConnectService(paths, Arrived({"claude-code": 7.0}), viewer, catalog)


def states(service: ConnectService) -> dict[str, tuple[bool, bool, float | None]]:
    return {one.agent: (one.installed, one.connected, one.last_event) for one in service.states()}


def test_what_is_shown_is_written_and_taken_back(service: ConnectService, file: Path, viewer: Viewer) -> None:
    assert states(service)["claude-code"] == (True, False, 7.0)
    assert states(service)["x-code"] == (False, False, None)

    preview = service.review("claude-code", connect=True)
    head, text = viewer.opened[0].read_text().split("\n\n", 1)
    assert text == preview.text
    assert head.splitlines()[1] == preview.summary
    assert preview.text.startswith(f"--- {file}\n+++ {file}\n@@")
    assert file.read_text() == TEXT
    service.apply(preview)
    assert states(service)["claude-code"] == (True, True, 7.0)
    assert service.preview("claude-code", connect=True).is_empty

    service.apply(service.review("claude-code", connect=False))
    assert file.read_text() == TEXT


def test_all_agents_are_shown_with_what_connecting_them_would_write(
    service: ConnectService, file: Path, viewer: Viewer, home: Path
) -> None:
    service.show()
    text = viewer.opened[0].read_text()
    assert "claude-code: installed, not connected, last event " in text
    assert f"`hooktray connect claude-code` would write this:\n--- {file}\n" in text
    assert "x-code: not found here, not connected, no event yet\n" in text

    service.apply(service.preview("claude-code", connect=True))
    service.show()

    text = viewer.opened[1].read_text()
    assert "claude-code: installed, 14 events connected" in text
    assert "would write" not in text


def test_what_has_changed_since_it_was_shown_is_not_written(service: ConnectService, file: Path) -> None:
    preview = service.preview("claude-code", connect=True)
    file.write_text("{}")

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        service.apply(preview)

    assert file.read_text() == "{}"


def test_every_agent_can_be_offered(service: ConnectService, home: Path) -> None:
    for agent in ("claude-code", "copilot-cli", "shelley", "starchild", "x-code"):
        service.apply(service.preview(agent, connect=True))

    assert {agent for agent, (_, connected, _) in states(service).items() if connected} == {
        "claude-code",
        "copilot-cli",
        "shelley",
        "starchild",
        "x-code",
    }
    for agent in ("claude-code", "copilot-cli", "shelley", "starchild", "x-code"):
        service.apply(service.preview(agent, connect=False))
    assert [path.name for path in home.iterdir()] == ["h"]


def test_a_file_that_cannot_be_read_is_told_with_its_place(service: ConnectService, file: Path) -> None:
    file.write_text(json.dumps({"a": 1})[:-1] + ",}")

    with pytest.raises(HooktrayError, match=r"settings\.json:1:"):
        service.preview("claude-code", connect=True)

    (state,) = [one for one in service.states() if one.agent == "claude-code"]
    assert ":1:" in state.problem
