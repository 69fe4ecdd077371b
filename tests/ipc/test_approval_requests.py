"""What a command asks to decide is looked up as the files are at that moment."""

from __future__ import annotations

import subprocess
import sys

import pytest
from house import House
from ipc.tray_parts import reviews

from tray.approvals.controls import PASSPHRASE
from tray.ipc.approval_requests import ApprovalRequests


def test_a_script_that_was_missing_is_among_the_hooks_of_its_source_once_it_is_there(house: House) -> None:
    requests = ApprovalRequests(house.controls(), reviews(house))
    for name in ("guard", "late"):
        house.hook(name, on="tool_before", script="exit 0", approved=False)
    (house.paths.config.parent / "late.sh").unlink()
    house.catalog.refresh()
    house.script("late.sh", "exit 0")

    asked = requests.approve({"source": str(house.paths.config)})

    assert asked.in_menu == "2 hooks wait for your approval"
    assert "late.sh" in asked.question


@pytest.mark.skipif(sys.platform != "linux", reason="a terminal's PATH is read from /proc")
def test_a_terminal_shows_and_approves_the_programs_of_its_own_path(house: House) -> None:
    tool = house.root / "tools" / "mytool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    tool.chmod(0o755)
    script = house.paths.config.parent / "guard"
    script.write_text("#!/usr/bin/env mytool\n")
    script.chmod(0o755)
    house.hook("guard", on="tool_before", command="./guard", approved=False)
    path = f"{tool.parent}:/usr/bin:/bin"
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": path}) as command:
        assert command.stdin is not None
        assert command.stdout is not None
        command.stdin.write(b"ready\n")
        command.stdin.flush()
        command.stdout.readline()  # it runs, so that its environment is its own
        requests = ApprovalRequests(house.controls(), reviews(house))
        asked = requests.approve({"hook": "guard", "pid": command.pid})
        command.stdin.close()

    requests.perform(asked, PASSPHRASE)
    house.tool("ls", environment={"PATH": "/usr/bin:/bin"})

    assert f"mytool: {tool}" in asked.question
    assert house.stores.ledger.in_order()[0].search_path == path
    assert house.last.hooks[0]["reason"] == "no"
