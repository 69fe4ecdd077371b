"""The frozen program understands the words with which Hooktray starts itself, and passes no library path on."""

from __future__ import annotations

import plistlib
import re
import subprocess
from pathlib import Path

import pytest
from every import every
from scripts import loaded

from tray import relay_program
from tray.execution.isolation import FROZEN_ONE_SHOT

ROOT = Path(__file__).parent.parent.parent
INSTALLERS = ROOT / "installers"
SPEC = (INSTALLERS / "hooktray.spec").read_text()


@pytest.fixture
def frozen() -> object:
    return loaded("installers/frozen.py")


@every(
    ("argv", "words"),
    [
        ((*FROZEN_ONE_SHOT, "claude-code", "Stop"), ["once", "claude-code", "Stop"]),
        ((*relay_program.portable()[1:], "shelley"), ["relay", "shelley"]),
        (("-I", "-m", "tray", "--home", "/h", "run"), ["--home", "/h", "run"]),
        (("run",), ["run"]),
        (("--version",), ["--version"]),
        ((), []),
    ],
)
def test_it_takes_the_interpreters_words_away(frozen: object, argv: tuple[str, ...], words: list[str]) -> None:
    assert frozen.command(argv) == words  # type: ignore[attr-defined]


def test_programs_that_it_starts_get_the_library_path_from_before(frozen: object) -> None:
    give_back = frozen.give_back  # type: ignore[attr-defined]

    assert give_back({"A": "1", "LD_LIBRARY_PATH": "/bundle"}) == {"A": "1"}
    assert give_back({"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/mine"}) == {"LD_LIBRARY_PATH": "/mine"}


def test_the_app_of_macos_has_one_name_everywhere() -> None:
    agent = plistlib.loads((INSTALLERS / "macos" / "app.hooktray.tray.plist").read_bytes())

    assert re.findall(r'BUNDLE_ID = "(.*?)"', SPEC) == [agent["Label"]]
    assert agent["ProgramArguments"] == ["/Applications/Hooktray.app/Contents/MacOS/hooktray", "run"]
    assert agent["RunAtLoad"] is True


def test_the_app_of_macos_may_write_callbacks_and_nothing_more() -> None:
    allowed = plistlib.loads((INSTALLERS / "macos" / "entitlements.plist").read_bytes())

    assert allowed == {"com.apple.security.cs.allow-unsigned-executable-memory": True}


@every(
    "script", ["linux/deb", "linux/folder", "linux/clean-root", "linux/debs", "macos/build.sh", "release", "wheels"]
)
def test_the_recipes_are_shell_and_can_be_started(script: str) -> None:
    path = INSTALLERS / script

    assert path.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", path], capture_output=True, timeout=20, check=False).stderr == b""


def test_the_spec_is_python() -> None:
    compile(SPEC, "hooktray.spec", "exec")
