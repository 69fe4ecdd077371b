"""A home whose name is not UTF-8, as old file systems have them: hooks are approved, run, listed and journalled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import PRE_TOOL_USE, House

from tray.agents.connection import Site
from tray.connect import connectors
from tray.doctor import agent_sites
from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.model.hook import restore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names there are bytes")


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[House]:
    root = tmp_path / os.fsdecode(b"caf\xe9")
    root.mkdir()
    house = House(root)
    yield house
    house.close()


def run(house: House, *words: str, body: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(house.root)}
    argv = [sys.executable, "-m", "tray", "--home", str(house.paths.home), *words]
    return subprocess.run(argv, env=environment, input=body, capture_output=True, timeout=120, check=False)


def test_a_hook_is_approved_and_runs_there(odd: House) -> None:
    odd.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    installed_relay.write_conf(odd.paths, "usual")

    listed = run(odd, "list")
    answer = run(odd, "once", "claude-code", "PreToolUse", body=json.dumps(PRE_TOOL_USE).encode())
    logged = run(odd, "log")

    assert b"approved" in listed.stdout, listed.stderr
    assert b"caf\xe9" in listed.stdout
    assert b'"deny"' in answer.stdout
    assert b"blocked by guard: no" in logged.stdout
    (approved,) = odd.stores.ledger.state.approved.values()
    assert restore(approved.hook.definition).source.path == str(odd.paths.config)


def test_an_agents_settings_cannot_name_the_relay_there(odd: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(odd.root))
    site: Site = agent_sites.site(odd.paths)

    with pytest.raises(HooktrayError, match="the path of the relay is not UTF-8") as caught:
        connectors()["claude-code"].connect(site)

    assert "--home DIR" in caught.value.hint
