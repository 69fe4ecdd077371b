"""Definitions of hooks are stored in ledgers: their bytes, and so their digests, do not follow names in the code."""

import json
from typing import Any

import pytest
from every import every

from tray.model.decision import Verdict
from tray.model.hook import (
    Action,
    AsyncMode,
    Command,
    Failure,
    Hook,
    Http,
    Match,
    Prompt,
    Rule,
    Source,
    digest,
    restore,
)

SOURCE = Source(kind="claude-code", path="/settings.json", line=3)
EVERYWHERE = Match(event="tool_before")
SCOPED = Match(
    event="PreToolUse",
    agents=("claude-code",),
    tool="Bash",
    pattern="rm",
    format="claude-code",
    native="PreToolUse",
    project="/p",
    skill=("lint",),
    subagent="reviewer",
    condition="Bash(git *)",
)
OPTIONS: dict[str, Any] = {
    "dialect": "claude-code", "timeout": 3.0, "failure": Failure.BLOCK, "enabled": False, "env": ("TOKEN",),
    "files": ("*.py",), "background_seconds": 30.0, "once": True, "status": "checks", "inactive": "not stored",
}  # fmt: skip
PLAIN_MATCH = {
    "agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "",
}  # fmt: skip
PLAIN = {
    "name": "guard", "source": {"kind": "claude-code", "path": "/settings.json"}, "match": PLAIN_MATCH,
    "dialect": "starchild", "timeout": 20.0, "failure": "allow", "enabled": True, "env": [], "files": [],
    "background": 600.0,
}  # fmt: skip
STORED: dict[str, tuple[Action, dict[str, Any]]] = {
    "command": (
        Command(line="./x.sh", folder="/f"),
        {
            "kind": "Command",
            "action": {
                "folder": "/f", "format": "", "interpreter": "", "line": "./x.sh", "plugin": "", "shell": False,
                "storage": "",
            },
        },
    ),
    "command of a plugin": (
        Command(
            line="./x.sh", folder="/f", interpreter="sh", format="x-code", plugin="/l", storage="/s",
            owner="lint@market", root="/r",
        ),
        {
            "kind": "Command",
            "action": {
                "folder": "/f", "format": "x-code", "interpreter": "sh", "line": "./x.sh", "plugin": "/l",
                "shell": False, "storage": "/s", "owner": "lint@market", "root": "/r",
            },
        },
    ),
    "http": (
        Http(url="https://x/", headers=(("A", "b"),), allow_local=("h:1",)),
        {"kind": "Http", "action": {"url": "https://x/", "headers": [["A", "b"]], "allow_local": ["h:1"]}},
    ),
    "prompt": (
        Prompt(text="ok?", model="m", agent=True, continue_on_block=True),
        {"kind": "Prompt", "action": {"text": "ok?", "model": "m", "agent": True, "continue_on_block": True}},
    ),
    "rule": (
        Rule(verdict=Verdict.DENY, reason="no"),
        {"kind": "Rule", "action": {"verdict": 3, "reason": "no"}},
    ),
}  # fmt: skip


def canonical(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("kind", STORED)
def test_a_definition_has_the_names_that_ledgers_hold(kind: str) -> None:
    action, stored = STORED[kind]
    hook = Hook(name="guard", source=SOURCE, match=EVERYWHERE, action=action, dialect="starchild")

    assert hook.definition == canonical(PLAIN | stored)
    assert restore(hook.definition).definition == hook.definition


@every("kind", STORED)
@every("mode", [AsyncMode.ASYNC, AsyncMode.REWAKE])
def test_so_has_the_definition_of_an_async_hook_with_every_option(kind: str, mode: AsyncMode) -> None:
    action, stored = STORED[kind]
    hook = Hook(name="guard", source=SOURCE, match=SCOPED, action=action, async_mode=mode, **OPTIONS)
    match = {
        "agents": ["claude-code"], "event": "PreToolUse", "format": "claude-code", "native": "PreToolUse",
        "pattern": "rm", "project": "/p", "tool": "Bash", "skill": ["lint"], "subagent": "reviewer",
        "condition": "Bash(git *)",
    }  # fmt: skip
    options = {
        "dialect": "claude-code", "timeout": 3.0, "failure": "block", "enabled": False, "env": ["TOKEN"],
        "files": ["*.py"], "background": 30.0, "once": True, "status": "checks", "aside": mode.value,
    }  # fmt: skip

    assert hook.definition == canonical(PLAIN | stored | options | {"match": match})
    assert restore(hook.definition).async_mode is mode
    assert restore(hook.definition).background_seconds == 30.0


def test_the_digest_of_an_approval_stays() -> None:
    hook = Hook(
        name="h",
        source=Source(kind="claude-code", path="/p"),
        match=EVERYWHERE,
        action=Command(line="./x.sh", folder="/f"),
        async_mode=AsyncMode.REWAKE,
        background_seconds=30.0,
        dialect="starchild",
    )

    approved = digest(hook.definition, {"/f/x.sh": "00"}, {})

    assert approved == "af8276f0fd906ffeaace02e45aa854f1def7b72c2357070a2c8c2f4ad7c71d37"
