"""Claude Code, the binary of its npm package for Linux."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from clients import packages
from clients.client import Can, Client
from clients.wires import Call

KEY = "dummy-key-of-twenty-and-more-signs"


def program() -> Sequence[str]:
    row = packages.ROWS["claude-code"]
    return (str(packages.fetched("claude-code") / "node_modules" / row["package"] / "claude"),)


def prepare(home: Path, project: Path, url: str) -> Mapping[str, str]:
    """All questions of a first start are answered."""
    state = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": packages.ROWS["claude-code"]["version"],
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(state))
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


CLAUDE_CODE = Client(
    agent="claude-code",
    package="claude-code",
    program=program,
    printed=lambda prompt: ("-p", prompt, "--allowedTools", "Bash"),
    shell_call=lambda line: Call("Bash", {"command": line, "description": "a step"}),
    settings=".claude/settings.json",
    existing={"model": "sonnet", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}},
    can=Can.ALLOW | Can.ASK | Can.REWRITE | Can.SESSION_START | Can.SESSION_END | Can.CONTINUE | Can.BLOCK_PROMPT,
    prepare=prepare,
)
