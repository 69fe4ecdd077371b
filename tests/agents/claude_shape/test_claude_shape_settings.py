"""Settings files of Claude-shaped agents: paths, time units, reading, connecting and importing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.larch import known
from connect.sites import NoProblem, Person
from msgspec.structs import replace

from tray.agents.agent import Agent
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.connection import Site
from tray.connect import apply_connect, apply_disconnect
from tray.model.hook import Command, Hook
from tray.reading.entries import SourceHooks

PLAIN = SettingsFile(folder=".larch")
TOP = SettingsFile(folder=".larch", name="hooks.json", key="", off_switch="hooksOff")
HANDLER = {"type": "command", "command": "./guard.sh"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Person(tmp_path).site


def connect(site: Site, agent: Agent) -> tuple[str, ...]:
    assert agent.connector
    plan = agent.connector().connect(site)
    apply_connect(site, "larch", plan)
    return plan.notes


def disconnect(site: Site, agent: Agent) -> None:
    assert agent.connector
    apply_disconnect(site, "larch", agent.connector().disconnect(site))


def settings(site: Site, file: SettingsFile, value: Any) -> Path:
    path = site.home / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def read(agent: Agent, path: Path) -> SourceHooks:
    assert agent.reader
    return agent.reader().read(path, (), {})


def one(agent: Agent, site: Site, file: SettingsFile, on: str = "BeforeTool", **handler: Any) -> Hook:
    path = settings(site, file, {"hooks": {on: [{"matcher": "Bash", "hooks": [HANDLER | handler]}]}})
    (hook,) = read(agent, path).hooks
    return hook


def test_events_at_the_top_of_the_file_are_connected_and_every_byte_comes_back(site: Site) -> None:
    text = '{\n  "version": 1, "note": {"by": "you"},\n  "Done": [{"hooks": [{"type":"command","command":"a"}]}]\n}\n'
    path = settings(site, TOP, text)

    with known(TOP) as agent:
        connect(site, agent)
        connected = json.loads(path.read_text())
        path.write_text(path.read_text().replace('"by": "you"', '"by": "me"'))
        disconnect(site, agent)
        hooks = read(agent, path).hooks

    assert len(connected["Done"]) == 2
    assert (connected["version"], "hooks" in connected, len(connected["Prompt"])) == (1, False, 1)
    assert path.read_text() == text.replace("you", "me")
    assert [hook.match.native for hook in hooks] == ["Done"]


def test_disconnecting_removes_a_new_file_with_events_at_the_top(site: Site) -> None:
    with known(TOP) as agent:
        connect(site, agent)
        assert set(json.loads((site.home / TOP.path).read_text())) == set(agent.events)
        disconnect(site, agent)

    assert not (site.home / TOP.path).exists()


@pytest.mark.parametrize("takes", [True, False])
def test_a_comment_is_a_problem_where_the_agent_cannot_read_it(site: Site, takes: bool) -> None:
    path = settings(site, PLAIN, '{\n  // mine\n  "hooks": {}\n}\n')
    problem = f"Larch reads no settings with comments: remove the one in {path}:2"

    with known(replace(PLAIN, takes_comments=takes)) as agent:
        assert agent.connector
        assert agent.connector().is_installed(site)
        notes, trust = connect(site, agent), agent.connector().trust(site)

    assert (notes, trust) == (((PLAIN.restart_hint,), "") if takes else ((problem,), f"off: {problem}"))


@pytest.mark.parametrize(("takes", "line"), [(False, "./guard.sh"), (True, "./guard.sh 'a b'")])
def test_arguments_beside_a_command_are_the_hooks_only_where_the_agent_takes_them(
    site: Site, takes: bool, line: str
) -> None:
    file = replace(PLAIN, takes_args=takes)

    with known(file) as agent:
        action = one(agent, site, file, args=["a b"]).action

    assert isinstance(action, Command)
    assert (action.line, action.shell) == (line, not takes)


def test_hooks_of_a_project_are_for_that_project_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(site.home))
    in_home = replace(PLAIN, name="hooks/main.json")
    with known(in_home) as agent:
        own = one(agent, site, in_home)
        project = settings(replace(site, home=site.cwd), in_home, (site.home / in_home.path).read_text())
        (hook,) = read(agent, project).hooks
        elsewhere = site.cwd / "main.json"
        elsewhere.write_text(project.read_text())
        (other,) = read(agent, elsewhere).hooks

    assert [each.match.project for each in (own, hook, other)] == ["", str(site.cwd), ""]


def test_hooks_move_below_hooktray_and_back(site: Site) -> None:
    slow, never = HANDLER | {"timeout": 90}, {"matcher": "Bash", "hooks": [HANDLER]}
    text = json.dumps(
        {"hooks": {"BeforeModel": [{"hooks": [HANDLER]}], "BeforeTool": [never, {"hooks": [slow]}]}}, indent=1
    )
    file = replace(PLAIN, timeout=1, unconnected_events={"BeforeModel": "comes too often"})
    path = settings(site, file, text)

    with known(file) as agent:
        assert agent.importer
        importer = agent.importer()
        plan = importer.import_hooks(site, NoProblem())
        apply_connect(site, "larch", plan)
        left = json.loads(path.read_text())["hooks"]
        (moved,) = read(agent, site.paths.config.parent / "imported" / "larch" / "settings.json").hooks
        apply_disconnect(site, "larch", importer.undo_import(site))

    assert (left["BeforeModel"], left["BeforeTool"]) == ([{"hooks": [HANDLER]}], [{"hooks": [slow]}])
    assert (moved.match.tool, moved.match.native) == ("Bash", "BeforeTool")
    stay = {re.sub(r".*: ", "", note) for note in plan.notes if "stay" in note}
    assert stay == {
        "BeforeModel comes too often, so `connect` writes no line of ours there.",
        "a `timeout` is longer than the 1.5 s that our line has on BeforeTool.",
    }
    assert path.read_text() == text


def test_the_settings_file_is_protected_wherever_it_is() -> None:
    file = SettingsFile(folder=".config/Larch", name="hooks/main.json", variable="LARCH_HOME")
    with known(file) as agent:
        (anywhere,), (moved,) = agent.protected, agent.protected_in_home

    assert anywhere.kind == "a hook setting of Larch"
    assert anywhere.pattern.fullmatch("/home/you/.config/larch/hooks/main.json")
    assert not anywhere.pattern.fullmatch("/home/you/.config/larch/hooks/mainXjson")
    assert moved.pattern.fullmatch("/moved/hooks/main.json", len("/moved"))
    assert agent.settings_files == (".config/Larch/hooks/main.json",)
    assert all(word in agent.settings_files[0].lower() for word in agent.path_words)
