"""Whoever does what docs/new-agent.md says, on a checkout of their own, has a new agent."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live import Live
from plain import Plain

import tray

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "new-agent.md").read_text()
PYTHON = f"{shlex.quote(sys.executable)} -m tray"  # not -I: the checkout of the test comes first
CALL = {"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/p", "tool_name": "shell"}
SETTINGS = """{
    "model": "big",   "hooks": {"PreToolUse": [
        {"matcher": "shell", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5000}]}]}}
"""
# What the two hooks below Hooktray do: Pine's own, and one of hooktray.yaml that reads what Pine's hooks read.
GUARD = """#!/bin/sh
if grep -q '"cmd": "make"'; then echo not now >&2; exit 2; fi
"""
JUDGE = """#!/bin/sh
grep -q '"tool_name":"shell","tool_input":{"cmd":"ls' && echo '{"decision":"deny","reason":"no"}'
"""
APPROVE = """
import sys
from pathlib import Path
from house import House

house = House(Path(sys.argv[1]))
house.catalog.refresh()
for one in house.catalog.states:
    house.consent.approve(one.key, one.digest, "test")
    print(one.hook.name, one.hook.source.kind, one.hook.dialect, one.hook.match.native, one.hook.timeout)
house.close()
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package `tray`, with the file and the row of the page."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(tray.__file__).parent, folder / "tray")  # with the compiled files
    (file,) = re.findall(r"^## [^\n]*\n[^#]*?`(tray/agents/pine\.py)`.*?```python\n(.*?)```", PAGE, re.DOTALL | re.M)
    (row,) = re.findall(r"```python\n(    \"pine\".*?)```", PAGE, re.DOTALL)
    (folder / file[0]).write_text(file[1])
    table = folder / "tray" / "agents" / "registry.py"
    before, after = '    "shelley": "tray.agents.shelley",\n', f'{row}    "shelley": "tray.agents.shelley",\n'
    assert before in table.read_text()
    table.write_text(table.read_text().replace(before, after))
    return folder / "tray"


@pytest.fixture
def checkout(tmp_path: Path, package: Path) -> Path:
    """A folder with the package, and with a home that has settings of the new agent."""
    (tmp_path / "tray").symlink_to(package)
    (tmp_path / "user" / ".pine").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def place(checkout: Path) -> Iterator[Plain]:
    place = Plain(checkout)
    place.environment |= environment(checkout)
    yield place
    place.close()


def environment(checkout: Path) -> dict[str, str]:
    paths = f"{checkout}{os.pathsep}{ROOT / 'tests'}"
    home = str(checkout / "user")
    return {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": paths, "LC_ALL": "C.UTF-8"}


def said(checkout: Path, line: str, body: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line.replace("hooktray ", f"{PYTHON} --home home ", 1)],
        env=environment(checkout),
        cwd=checkout,
        input=body,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def pine_settings(checkout: Path, text: str = SETTINGS) -> Path:
    path = checkout / "user" / ".pine" / "settings.json"
    path.write_text(text)
    for name, script in (("guard.sh", GUARD), ("judge.sh", JUDGE)):
        (path.parent / name).write_text(script)
        (path.parent / name).chmod(0o755)
    return path


def our_line(path: Path, event: str) -> dict[str, Any]:
    """What `connect` wrote for one event: the last group's handler."""
    handler: dict[str, Any] = json.loads(path.read_text())["hooks"][event][-1]["hooks"][0]
    return handler


def test_the_pages_session_prints_what_is_shown(checkout: Path) -> None:
    session = PAGE.split("```console\n")[1].split("```")[0]
    steps = re.findall(r"^\$ (.*)\n((?:[^$].*\n)+)", session, re.MULTILINE)

    assert len(steps) == 2
    for line, shown in steps:
        printed = said(checkout, line)
        out = printed.stdout.replace(str(checkout), "/home/dev/project")  # a sample is of the folder it is asked in
        assert [row.rstrip() for row in out.splitlines()] == shown.splitlines(), printed.stderr


def test_connect_writes_the_new_agents_settings_and_disconnect_puts_every_byte_back(checkout: Path) -> None:
    path = pine_settings(checkout)

    connected = said(checkout, "hooktray connect pine --yes")

    assert "pine: Pine reads it when a session starts." in connected.stdout, connected.stderr
    assert our_line(path, "SessionEnd")["timeout"] == 5000
    assert " pine SessionEnd " in our_line(path, "SessionEnd")["command"]
    (row,) = (row for row in said(checkout, "hooktray agents").stdout.splitlines() if row.startswith("pine\t"))
    assert row.split()[1:3] == ["yes", "7"]
    said(checkout, "hooktray disconnect pine --yes")
    assert path.read_text() == SETTINGS


def test_events_go_through_the_written_line_and_hooks_of_its_format_work(checkout: Path, place: Plain) -> None:
    path = pine_settings(checkout)
    live = Live(place, checkout / "home")
    live.config.parent.mkdir(parents=True)
    judge = {"name": "judge", "event": "tool_before", "agent": "claude-code", "dialect": "pine"}
    hooks = [judge | {"command": str(path.parent / "judge.sh")}]
    live.configure({"sources": [{"pine": str(path)}], "hooks": hooks})
    approved = place.run([sys.executable, "-c", APPROVE, checkout], timeout=60)
    assert approved.stdout.decode().splitlines() == [
        "judge hooktray pine  20.0",
        "guard pine pine PreToolUse 5.0",
    ], approved.stderr
    said(checkout, "hooktray connect pine --yes")
    place.start([sys.executable, "-m", "tray", "--home", str(live.home), "run"])
    place.wait(live.is_running, what="the tray answers")

    def answered(command: str) -> Any:
        body = json.dumps(CALL | {"tool_input": {"cmd": command}})
        return said(checkout, our_line(path, "PreToolUse")["command"], body).stdout

    # At the first event only: from then on the tray leaves the hooks of Pine's own file to Pine, which runs them.
    assert json.loads(answered("make")) == {"decision": "deny", "reason": "guard (Hooktray): not now"}
    assert answered("true") == ""
    switched_off = json.loads(answered("hooktray off"))
    assert (switched_off["decision"], "hooktray off" in switched_off["reason"]) == ("deny", True)

    claude = live.relay("claude-code", "PreToolUse", {**CALL, "tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert json.loads(claude.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "judge (Hooktray): no"


def test_the_page_says_how_long_such_files_are() -> None:
    for name, lines in re.findall(r"`(?:tray/agents/)?(\w+\.py)`(?: and `\w+\.py`)? of (\d+)", PAGE):
        assert len((ROOT / "tray" / "agents" / name).read_text().splitlines()) == int(lines), name
    assert "`kiro.py` of" in PAGE
