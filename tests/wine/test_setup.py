"""The setup for Windows, with Hooktray as PyInstaller freezes it there: installed, run and removed (under wine)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from desk.wait import wait
from house import PRE_TOOL_USE
from wine import prepare
from wine.guard import GUARD, REFUSES, approve, verdict
from wine.windows import RUN_KEY, START, Tray, Windows

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(3600)]

FREEZING = 3000.0  # seconds on a busy machine
BUILD = prepare.ROOT / "installers" / "windows" / "build.py"
TEMPORARY = ("Temp", "temp")  # folders of what Windows deletes when it starts again


@pytest.fixture(scope="module")
def setup(windows: Windows) -> Path:
    """Frozen there, compiled here."""
    python = prepare.freezer(windows.drive / "freezer")
    source = windows.drive / "source"
    for name in ("icons", "installers", "tray"):
        shutil.copytree(prepare.ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "native"))
    options = ["--noconfirm", "--distpath", "C:\\frozen", "--workpath", "C:\\work"]
    spec = windows.inside(source / "installers" / "hooktray.spec")
    frozen = windows.run([windows.inside(python), "-m", "PyInstaller", *options, spec], timeout=FREEZING)
    assert frozen.returncode == 0, frozen.stderr.decode()[-4000:]
    out = windows.drive / "setup"
    payload = windows.drive / "frozen" / "hooktray"
    subprocess.run([sys.executable, BUILD, payload, "--out", out], check=True, timeout=FREEZING)
    (made,) = out.glob("*.exe")
    return made


def files(windows: Windows) -> set[Path]:
    """All files but those of our homes, and what waits for the next start of Windows."""
    found = (path for path in windows.drive.rglob("*") if path.is_file())
    inside = (path.relative_to(windows.drive) for path in found)
    return {path for path in inside if path.parts[0] != "homes" and not {*path.parts} & {*TEMPORARY}}


def test_what_the_setup_installs_runs_and_is_removed_without_a_file_left(windows: Windows, setup: Path) -> None:
    before = files(windows)

    assert windows.run([windows.inside(setup), "/S", "/AUTOSTART"]).returncode == 0
    (folder,) = windows.drive.glob("users/*/AppData/Local/Programs/Hooktray")
    assert windows.registry(RUN_KEY, "Hooktray") == f"{windows.inside(folder / 'hooktrayw.exe')} run"
    tray = Tray(windows, folder / "hooktray.exe")
    tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
    with tray.running(folder / "hooktrayw.exe"):
        assert tray.rows("status")[0]["running"]
        approve(tray)
        assert verdict(tray.relay("claude-code", "PreToolUse", PRE_TOOL_USE)) == "deny", "by its native relay"

    assert windows.run([windows.inside(folder / "uninstall.exe"), "/S"]).returncode == 0
    wait(lambda: not folder.exists(), START, "its folder is gone")  # it goes on as a copy of itself
    assert files(windows) == before
    assert windows.registry(RUN_KEY, "Hooktray") == ""
