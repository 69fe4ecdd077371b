"""Agents of which no program can be run here, each as a stand-in that follows what is documented or was found of it.

Not run against the real binaries: whether these do the same is not known.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
from guards import REFUSED, REWRITE
from hosts import antigravity, cursor
from hosts.documented import DEVIN, DROID, GROK, KIRO
from hosts.scenes import Place, PromptScenes, StandInAgent, StandInScenes, Start

from tray.agents.registry import AGENTS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
OWN = "touch ~/own-hook-ran"


class TestCursor(PromptScenes):
    agent = StandInAgent(
        agent="cursor",
        settings=".cursor/hooks.json",
        existing=json.dumps({"version": 1, "hooks": {"stop": [{"command": OWN}]}}, indent=3) + "\n\n",
        run=cursor.run,
        moments=cursor.MOMENTS,
        commands={"Bash": "command", "Write": "command"},
        asks=True,
        rewrites=False,
    )

    def test_a_tool_that_is_no_command_runs_as_rewritten(self, place: Start) -> None:
        one = place(REWRITE)

        one.stand_in.turn("hello", ("Write", {"file_path": "original"}))

        assert one.stand_in.ran == ["touch rewritten"]


class TestAntigravity(StandInScenes):
    agent = StandInAgent(
        agent="antigravity",
        settings=".gemini/config/hooks.json",
        existing=json.dumps({"own": {"Stop": [{"type": "command", "command": f"{OWN}; echo '{{}}'"}]}}, indent=1),
        run=antigravity.run,
        moments=antigravity.MOMENTS,
        commands={"Bash": "CommandLine", "Write": "TargetFile"},
        asks=True,
        rewrites=False,
        starts=False,
        closes=False,
    )


OWN_GROUPS = {"Stop": [{"hooks": [{"type": "command", "command": OWN}]}]}
SAME = {"Bash": "command", "Write": "command"}


class TestDroid(PromptScenes):
    agent = StandInAgent(
        agent="droid",
        settings=".factory/hooks.json",
        existing=json.dumps(OWN_GROUPS, indent=4),
        run=DROID.run,
        moments=DROID.moments(),
        commands=SAME,
    )

    def test_hooks_that_our_file_would_hide_are_not_hidden(self, place: Start) -> None:
        one = place(REFUSED, connected=False)
        one.stand_in.config.unlink()
        settings = one.stand_in.config.with_name("settings.json")
        settings.write_text(json.dumps({"hooks": OWN_GROUPS}))

        one.hooktray("connect", "droid", "--yes")
        one.stand_in.config, one.stand_in.run = settings, replace(DROID, key="hooks").run
        one.stand_in.turn("hello", ("Bash", {"command": "touch forbidden"}))

        assert not settings.with_name("hooks.json").exists()
        assert (one.home / "own-hook-ran").exists()
        assert one.made() == set()
        assert one.verdicts("tool_before", 1) == ["deny"]


class TestDevin(PromptScenes):
    agent = StandInAgent(
        agent="devin",
        settings=".config/devin/config.json",
        existing=json.dumps({"version": 1, "theme": "dark", "hooks": OWN_GROUPS}),
        run=DEVIN.run,
        moments=DEVIN.moments(),
        commands=SAME,
        rewrites=False,
    )


class TestGrok(StandInScenes):
    agent = StandInAgent(
        agent="grok",
        settings=".grok/hooks/hooktray.json",
        existing="",
        run=GROK.run,
        moments=GROK.moments(),
        commands=SAME,
    )


class TestKiro(StandInScenes):
    agent = StandInAgent(
        agent="kiro",
        settings=".kiro/agents/mine.json",
        existing=json.dumps({"name": "mine", "tools": ["*"], "hooks": {"stop": [{"command": OWN}]}}, indent=2),
        run=KIRO.run,
        moments=KIRO.moments(closes=False),
        commands=SAME,
        rewrites=False,
        refuses_ends=False,
        closes=False,
    )

    def test_each_agent_of_its_user_is_connected_and_a_new_one_is_reported(self, place: Start) -> None:
        one = place()
        other = one.stand_in.config.with_name("other.json")
        other.write_text('{"name": "other", "tools": ["*"]}')

        before = trust(one)
        one.hooktray("connect", "kiro", "--yes")

        assert before == "off: run `hooktray connect kiro` for other"
        assert trust(one) == ""
        assert set(json.loads(other.read_text())["hooks"]) == set(AGENTS["kiro"].events)

    def test_without_an_agent_of_its_users_there_is_nothing_to_connect(self, place: Start) -> None:
        one = place(connected=False)
        one.stand_in.config.unlink()

        done = one.hooktray("connect", "kiro", "--yes", code=1)

        assert b"there is no agent of yours" in done.stderr
        assert b"kiro-cli agent create" in done.stderr


def trust(one: Place) -> str:
    rows = [json.loads(line) for line in one.hooktray("agents", "--json").stdout.splitlines()]
    return str(next(row["trust"] for row in rows if row["agent"] == "kiro"))
