"""Whoever does what docs/new-agent.md says, on a checkout of their own, has a new agent."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tray

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "new-agent.md").read_text()
PYTHON = f"{shlex.quote(sys.executable)} -m tray"  # not -I: the checkout of the test comes first


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our package, with the page's two files and two rows."""
    folder = tmp_path_factory.mktemp("new")
    shutil.copytree(Path(tray.__file__).parent, folder / "tray", ignore=shutil.ignore_patterns("__pycache__"))
    files = re.findall(r"^## [^\n]*`(tray/\w+/pine\.py)`\n.*?```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    (row,) = re.findall(r"```python\n(    \"pine\".*?)```", PAGE, re.DOTALL)
    assert len(files) == 2
    for place, text in files:
        (folder / place).write_text(text)
        table = (folder / place).with_name("__init__.py")
        before = table.read_text()
        after = before.replace('    "shelley": shelley,\n', f'{row}    "shelley": shelley,\n')
        table.write_text(after.replace(" import claude_code, ", " import claude_code, pine, "))
        assert after != before
    return folder


def said(checkout: Path, line: str, body: str = "") -> subprocess.CompletedProcess[str]:
    home = checkout / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(checkout), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["sh", "-c", line.replace("hooktray ", f"{PYTHON} --home h ", 1)],
        env=environment,
        cwd=checkout,
        input=body,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_pages_session_prints_what_is_shown(checkout: Path) -> None:
    session = PAGE.split("```console\n")[1].split("```")[0]
    steps = re.findall(r"^\$ (.*)\n((?:[^$].*\n)+)", session, re.MULTILINE)

    assert len(steps) == 2
    for line, shown in steps:
        printed = said(checkout, line)
        out = printed.stdout.replace(str(checkout), "/home/dev/project")  # a sample is of the folder it is asked in
        assert [row.rstrip() for row in out.splitlines()] == shown.splitlines(), printed.stderr


def test_an_event_of_the_new_agent_is_judged_and_answered_in_its_own_words(checkout: Path) -> None:
    call = {"name": "before_tool", "id": "s1", "tool": "Bash", "input": {"command": "hooktray off"}}

    assert said(checkout, "hooktray log").stdout == "No decisions yet.\n"  # it makes the database, as a tray does

    answered = said(checkout, f"{PYTHON} once --home h pine", json.dumps(call))
    (row,) = said(checkout, "hooktray log --agent pine --json").stdout.splitlines()

    assert "hooktray off" in json.loads(answered.stdout)["refuse"]
    assert {key: json.loads(row)[key] for key in ("agent", "event", "verdict")} == {
        "agent": "pine",
        "event": "before_tool",
        "verdict": "deny",
    }


def test_the_new_agents_name_is_good_in_settings(checkout: Path) -> None:
    (checkout / "hooktray.yaml").write_text(
        "hooks:\n- {event: before_tool, agent: pine, dialect: pine, command: /bin/true}\n"
    )

    checked = said(checkout, "hooktray config check hooktray.yaml")

    assert checked.returncode == 0, checked.stdout + checked.stderr
