"""Commands that wire agents know an agent or a hook behind them, and let a person's own scripts pass."""

from __future__ import annotations

import pytest
from every import every

from tray.approvals.callers.origin import find_origin
from tray.execution.ancestry import Ancestor

SHELL = Ancestor(10, ("/bin/bash",))
SCRIPT = Ancestor(9, ("/bin/sh", "./setup.sh", "claude"))


@pytest.mark.parametrize("name", ["CLAUDECODE", "STARCHILD_SESSION_ID", "SHELLEY_CONVERSATION_ID", "HOOK_SOURCE_DIR"])
def test_what_agents_and_hooks_are_given_is_a_mark(name: str) -> None:
    assert find_origin(["PATH", name], [SHELL]) == f"an agent or a hook: {name} is set"


@every(
    "command",
    [
        ("claude",),
        ("/usr/local/bin/claude", "-p"),
        ("node", "/usr/lib/x-code.js"),
        ("/usr/bin/node", "--max-old-space-size=1"),
        ("/opt/py/bin/python3", "/opt/py/bin/hooktray", "--home", "/h", "run"),
        ("python3", "-I", "-m", "tray", "run", "--headless"),
        ("/py", "-I", "-m", "tray", "once", "claude-code"),
        ("/py", "-I", "-S", "/x/tray/isolated.py", "/x:/y", "once", "claude-code"),
        ("/py", "-I", "-S", "/x/tray/isolated.py", "/x:/y", "--home", "/h", "run"),
    ],
)
def test_an_agent_or_a_hooks_engine_above_is_found(command: tuple[str, ...]) -> None:
    found = find_origin((), [SHELL, SCRIPT, Ancestor(7, command), Ancestor(2, ("init",))])

    assert (found != "") is (command[0] != "/usr/bin/node")
    assert found == "" or "7" in found


def test_a_persons_own_scripts_pass() -> None:
    terminal = Ancestor(5, ("gnome-terminal-server",))
    editor = Ancestor(4, ("vi", "run"))
    other = Ancestor(3, ("docker", "run", "hooktray"))

    assert find_origin(["PATH", "HOME", "AIDER_MODEL"], [SHELL, SCRIPT, terminal, editor, other]) == ""
