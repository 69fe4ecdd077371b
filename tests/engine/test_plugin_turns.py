"""The hooks of one X-Code plugin: one after another, by the switch as it stands, and told whose they are."""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path

import pytest
from desk import wait
from engine.declared import X_CODE, declare, plugin
from house import House

from tray.engine.ports import Execution

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


def hooks(house: House) -> list[tuple[str, str]]:
    return [(str(hook["status"]), str(hook["gate"])) for hook in house.last.hooks]


def two_hooks(house: House, folder: Path) -> None:
    """Two hooks, one after another; the first goes on when `go` is there."""
    first = f"cat >/dev/null; touch {folder}/began; while [ ! -e {folder}/go ]; do sleep 0.01; done"
    second = {"command": f"touch {folder}/ran"}
    declare(house, {"x-code": str(plugin(folder / "p", {"command": first, "timeout": 30000}, second))})


def begin(house: House, hangup: socket.socket | None = None) -> threading.Thread:
    begun = house.engine.begin(house.relay_request("x-code", X_CODE, event="PreToolUse"))
    assert isinstance(begun, Execution)
    thread = threading.Thread(target=begun.run, args=(hangup,))
    thread.start()
    return thread


def test_a_switch_flipped_between_two_of_them_counts(house: House, tmp_path: Path) -> None:
    two_hooks(house, tmp_path)
    thread = begin(house)
    wait((tmp_path / "began").exists)

    house.stores.switch.set_enabled(False, "test")
    (tmp_path / "go").touch()
    thread.join(60)

    assert hooks(house) == [("ok", ""), ("skipped", "switch off")]
    assert not (tmp_path / "ran").exists()


def test_an_abort_kills_what_runs_and_starts_nothing_more(house: House, tmp_path: Path) -> None:
    two_hooks(house, tmp_path)
    ours, agent = socket.socketpair()
    thread = begin(house, ours)
    wait((tmp_path / "began").exists)

    agent.close()
    thread.join(60)
    ours.close()

    assert [hook["cause"] for hook in house.last.hooks] == ["cancelled", "cancelled"]
    assert not (tmp_path / "ran").exists()


def test_its_hooks_are_told_whose_they_are(house: House, tmp_path: Path) -> None:
    root = plugin(tmp_path / "cache" / "market" / "lint" / "1.0.0", {"command": f"cat >{tmp_path}/told"})
    declare(house, {"x-code": str(root)})

    house.tool()  # another agent's event is none of a plugin's, all the same
    assert json.loads((tmp_path / "told").read_text())["plugin"] == {"id": "lint@market", "dir": str(root)}


def test_a_plugin_that_is_approved_as_a_whole_is_told_of_its_copy(house: House, tmp_path: Path) -> None:
    entry = {"command": f"cat >{tmp_path}/told; test -d ${{pluginDir}}"}
    declare(house, {"x-code": str(plugin(tmp_path / "p", entry))})

    house.tool()

    told = Path(json.loads((tmp_path / "told").read_text())["plugin"]["dir"])
    assert told.is_relative_to(house.paths.copies)
    assert (told / "hooks" / "hooks.json").is_file()
