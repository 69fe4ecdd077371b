"""A step that is killed anywhere heals itself: connecting, disconnecting and undoing all get to their ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a fork and SIGKILL")

DRIVER = Path(__file__).with_name("killing.py")
SHELLEY = ("shelley", ".config/shelley/hooks/chat-message", "script")
CLAUDE = ("claude-code", ".claude/settings.json", "two spaces")
STARCHILD = ("starchild", "workspace/config/shell_hooks.yaml", "flow list in lines")
NOTHING = ("x-code", "", "")
PLUGIN = ("x-code", "plugin", "")
CASES = (
    (*SHELLEY, "", "connect"),
    (*SHELLEY, "connect", "disconnect"),
    (*SHELLEY, "connect", "reconnect"),
    (*CLAUDE, "connect", "import"),
    (*CLAUDE, "import", "connect"),
    (*CLAUDE, "connect import", "undo"),
    (*CLAUDE, "import connect", "disconnect"),
    (*STARCHILD, "", "import"),
    (*STARCHILD, "import connect", "undo"),
    (*STARCHILD, "import connect", "reconnect"),
    (*NOTHING, "", "connect"),
    (*NOTHING, "connect", "disconnect"),
    (*PLUGIN, "", "import"),
    (*PLUGIN, "import connect", "undo"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[3]}-{case[4]}")
def test_every_step_heals_from_a_kill_before_any_of_its_changes(tmp_path: Path, case: tuple[str, ...]) -> None:
    argv = [sys.executable, str(DRIVER), str(tmp_path), *case]

    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert int(done.stderr.split()[0]) >= 5  # kills
