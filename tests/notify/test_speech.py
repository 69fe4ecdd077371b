"""How each system's voice is asked; a real one is heard in test_sound.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from every import every

from tray.notify import sound
from tray.text import sanitise

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "linux": ("spd-say", "espeak-ng"),
    "darwin": ("say",),
    "win32": ("powershell",),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (one for names in COMMANDS.values() for one in names):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@every("platform", COMMANDS)
def test_each_system_has_its_voices_in_order(installed: Path, platform: str) -> None:
    found = sound.voices("Turn ended, shop", 0.5, platform)

    assert tuple(argv[0] for argv, _ in found) == COMMANDS[platform]
    assert all(argv[-1] == "Turn ended, shop" or text == "Turn ended, shop" for argv, text in found)


@every("platform", COMMANDS)
@every("line", ["--help; rm -rf ~", '"); Remove-Item x #', "$(reboot)"])
def test_a_line_is_never_an_option_or_a_part_of_a_script(installed: Path, platform: str, line: str) -> None:
    for argv, text in sound.voices(line, 1.0, platform):
        assert text == line or argv[-2:] == ("--", line)
        assert line not in argv[:-1]


def test_only_what_is_installed_is_tried(installed: Path) -> None:
    (installed / "spd-say").unlink()

    assert [argv[0] for argv, _ in sound.voices("x", 1.0, "linux")] == ["espeak-ng"]
    assert sound.voices("x" * 1000, 1.0, "linux")[0][1] == sanitise("x" * 1000, sound.LINE_LIMIT)
