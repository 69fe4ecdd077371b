"""Agents of which no program can be run here, each as a stand-in that follows what is documented or was found of it.

Not run against the real binaries: whether these do the same is not known.
"""

from __future__ import annotations

import json
import sys

import pytest
from hosts import antigravity, cursor
from hosts.scenes import REWRITE, StandInAgent, StandInScenes, Start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
OWN = "touch ~/own-hook-ran"


class TestCursor(StandInScenes):
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
        refuses_prompts=False,
        starts=False,
        closes=False,
    )
