"""`status`, `list`, `log` and `agents` print the same with and without the tray."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every import every
from ipc.server_bench import opened
from live import Live, recorded
from plain import Plain

from tray import __version__
from tray.cli.tray_reports import ask_report
from tray.ipc.client import send_request
from tray.paths import locate

pytestmark = pytest.mark.xdist_group("reports")  # one worker, so one tray

CONFIGURATION = """
hooks:
  - {name: waits, event: tool_before, command: "true"}
  - {name: broken, event: turn_end, command: python3 -m guards}
sources:
  - claude-code: ./nowhere.json
"""
COMMANDS = [
    ["agents"],
    ["list"],
    ["log", "--verdict", "abstain", "--since", "1h", "-n", "1"],
    ["status"],
]
MODULES = "import sys, tray.cli; sys.argv[1:] = {words!r}; tray.cli.main(); print(*sys.modules, file=sys.stderr)"
HEAVY = (
    "regex", "sqlite3", "yaml",
    "tray.agents", "tray.app", "tray.approvals", "tray.engine", "tray.store",
)  # fmt: skip
MODULE_LIMIT = 200  # those of Python itself included; about 400 without a tray


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("reports")
    plain = Plain(folder)
    live = Live.fresh(plain, folder, configuration=CONFIGURATION)
    for event, name in (("PreToolUse", "PreToolUse-Bash-subagent"), ("Stop", "Stop")):
        live.relay("claude-code", event, recorded("claude-code", name))
    live.wait_log(2)
    yield live
    live.quit()
    plain.close()


def without_tray(live: Live, *words: str) -> str:
    """What the command prints when it reads by itself."""
    code = "import tray.cli.tray_reports as asked; asked.ask_report = lambda *_, **__: {}; " + MODULES.format(
        words=["--home", str(live.home), *words]
    )
    done = live.place.run([sys.executable, "-I", "-c", code])
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_prints_the_same_with_and_without_the_tray(live: Live, words: list[str]) -> None:
    asked = live.cli(*words)

    assert asked.returncode == 0, asked.stderr.decode()
    assert asked.stdout.decode() == without_tray(live, *words)
    assert asked.stdout


def test_list_imports_no_database_and_no_engine_if_the_tray_answers(live: Live) -> None:
    code = MODULES.format(words=["--home", str(live.home), "list"])
    done = live.place.run([sys.executable, "-I", "-c", code])

    found = done.stderr.decode().split()
    assert done.returncode == 0
    assert [name for name in HEAVY if name in found] == []
    assert len(found) <= MODULE_LIMIT, sorted(found)


def test_an_edit_of_the_settings_shows_at_once(live: Live) -> None:
    live.configure(CONFIGURATION.replace("name: waits", "name: renamed"))
    try:
        names = [row["name"] for row in live.rows("list")]
    finally:
        live.configure(CONFIGURATION)

    assert names == ["renamed", "broken"]


def test_the_environment_of_the_command_counts_and_not_that_of_the_tray(live: Live, tmp_path: Path) -> None:
    """Which agents are there depends on it."""
    elsewhere = {"CODEX_HOME": str(tmp_path)}
    (tmp_path / "config.toml").write_text("")

    here, there = (live.place.run(live.argv("status", "--json"), env=env).stdout for env in ({}, elsewhere))

    assert [row["agent"] for row in json.loads(here)["agents"]] == ["claude-code"]
    assert [row["agent"] for row in json.loads(there)["agents"]] == ["claude-code", "codex"]


ASKED = {"op": "report", "report": "list", "version": __version__, "language": "en"}


@every(
    "asked",
    [
        {"version": "0.0.1"},
        {"language": "zh_CN"},
        {"report": "diary"},
        {"report": "log"},
        {"report": "log", "limit": "many", "wanted": {}},
        {"report": "log", "limit": 1, "wanted": {"nothing": "known"}},
        {"report": "log", "limit": 1, "wanted": []},
        {"report": "status", "cwd": 1, "home": 2, "environment": 3},
        {"report": "agents", "cwd": "/", "home": "/", "environment": {}},
    ],
)
def test_a_command_reads_the_files_itself_if_the_tray_does_not_understand_its_request(
    live: Live, asked: dict[str, Any]
) -> None:
    socket = locate(str(live.home)).socket

    assert "rows" in send_request(socket, ASKED)
    assert send_request(socket, ASKED | asked) == {}


def test_a_tray_that_answers_something_else_leaves_the_reading_to_the_command(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))

    with opened(paths.socket.parent.parent) as bench:
        assert bench.path == paths.socket
        assert "echo" in send_request(paths.socket, ASKED)
        assert ask_report(paths, "list") is None
