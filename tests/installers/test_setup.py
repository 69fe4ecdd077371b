"""The Windows setup: it compiles, and it installs and removes exactly the files of the payload."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from every import every

from tray import __version__
from tray.notify.alert import APP

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "installers" / "windows" / "build.py"
PROGRAMS = ("hooktray.exe", "hooktrayw.exe", "_internal/tray/native/hooktray-hook.exe")
SCRIPT = (ROOT / "installers" / "windows" / "hooktray.nsi").read_text()


def payload(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"MZ placeholder")
    return folder


def build(folder: Path, *argv: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, BUILD, *argv], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    frozen = payload(tmp_path / "p", *PROGRAMS, "_internal/tray/a $ file.txt")

    made = build(tmp_path, frozen, "--out", tmp_path)

    setup = tmp_path / f"hooktray-{__version__}-setup.exe"
    assert (made.returncode, made.stdout.strip()) == (0, str(setup)), made.stderr
    assert setup.read_bytes()[:2] == b"MZ"
    assert setup.stat().st_size > 50_000


@every("missing", PROGRAMS)
def test_a_payload_without_a_program_is_refused_with_what_to_give(missing: str, tmp_path: Path) -> None:
    frozen = payload(tmp_path / missing, *(name for name in PROGRAMS if name != missing))

    made = build(tmp_path, frozen, "--out", tmp_path)

    assert made.returncode == 1
    assert f"{missing} is missing; give the folder that PyInstaller made on Windows" in made.stderr


def test_the_folder_above_the_payload_is_refused(tmp_path: Path) -> None:
    payload(tmp_path / "dist" / "hooktray", *PROGRAMS)

    made = build(tmp_path, tmp_path / "dist", "--out", tmp_path)

    assert made.returncode == 1
    assert "hooktray.exe, hooktrayw.exe is missing" in made.stderr


def test_the_shortcut_carries_the_name_under_which_notifications_are_shown() -> None:
    assert re.findall(r'!define AUMID "(.*?)"', SCRIPT) == [APP]


def test_nothing_is_removed_with_all_that_is_below_it() -> None:
    assert "RMDir /r" not in SCRIPT


def test_start_at_login_is_off_unless_it_is_chosen() -> None:
    assert 'Section /o "Start at login"' in SCRIPT
