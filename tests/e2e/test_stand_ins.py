"""Agents of which no program can be run here, each as a stand-in that follows what is documented or was found of it.

Not run against the real binaries: whether these do the same is not known.
"""

from __future__ import annotations

import json
import sys

import pytest
from hosts import antigravity, cursor
from hosts.documented import DEVIN, DROID, GROK
from hosts.scenes import REWRITE, PromptScenes, StandInAgent, StandInScenes, Start

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
        rewrites=False,
    )

    def test_hooks_that_our_file_would_hide_are_not_hidden(self, place: Start) -> None:
        one = place(connected=False)
        one.stand_in.config.unlink()
        settings = one.stand_in.config.with_name("settings.json")
        settings.write_text(json.dumps({"hooks": OWN_GROUPS}))

        done = one.hooktray("connect", "droid", "--yes", code=1)

        assert b"runs these hooks only while there is no hooks.json" in done.stderr
        assert b"move them to" in done.stderr
        assert not one.stand_in.config.exists()


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
        rewrites=False,
        refuses_ends=False,
    )
