"""A home folder is moved while Hooktray does not run: what is ours moves along, and `connect` mends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tray.agents.relay_table import read

SETTINGS = '{\n  "theme": "dark"\n}\n'
EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


def test_a_moved_home_is_named_and_connecting_again_mends_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old home", tmp_path / "new home"
    (old / ".claude").mkdir(parents=True)
    (old / ".claude" / "settings.json").write_text(SETTINGS)
    assert hooktray(old, "connect", "claude-code", "--yes").returncode == 0
    old.rename(new)

    found = hooktray(new, "doctor", "--static")
    assert f"leads to another Hooktray ({old}/" in found.stdout
    assert f"{old}/.local/share/hooktray/bin/hooktray-hook is not there any more" in found.stdout
    assert found.returncode == 1

    assert hooktray(new, "connect", "claude-code", "--yes").returncode == 0
    assert "broken " not in hooktray(new, "doctor", "--static").stdout
    place = new / ".local" / "share" / "hooktray" / "bin"
    assert read((place / "relay.table").read_bytes()).state == f"{new}/.local/state/hooktray"
    done = run(new, [place / "hooktray-hook", "claude-code", "PreToolUse"], json.dumps({**EVENT, "cwd": str(new)}))
    assert (done.returncode, done.stdout) == (0, "")
    assert len(hooktray(new, "log", "--json").stdout.splitlines()) == 1

    assert hooktray(new, "disconnect", "--yes").returncode == 0
    assert (new / ".claude" / "settings.json").read_text() == SETTINGS
    assert not place.exists()
    assert not old.exists()


def hooktray(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(home, [sys.executable, "-I", "-m", "tray", *words])


def run(home: Path, argv: list[str | Path], text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    return subprocess.run(argv, env=environment, input=text, cwd=home, capture_output=True, text=True, timeout=60)
