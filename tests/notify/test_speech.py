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
def test_each_system_has_its_voices_in_order_if_they_are_installed(installed: Path, platform: str) -> None:
    found = sound.voices("Turn ended, shop", 0.5, platform)

    assert tuple(argv[0] for argv, _ in found) == COMMANDS[platform]
    assert all(argv[-1] == "Turn ended, shop" or text == "Turn ended, shop" for argv, text in found)
    (installed / COMMANDS[platform][0]).unlink()
    left = sound.voices("x" * 1000, 1.0, platform)
    assert tuple(argv[0] for argv, _ in left) == COMMANDS[platform][1:]
    assert {text for _, text in left} <= {sanitise("x" * 1000, sound.LINE_LIMIT)}


@every("platform", COMMANDS)
@every("line", ["--help; rm -rf ~", '"); Remove-Item x #', "$(reboot)"])
def test_a_line_is_never_an_option_or_a_part_of_a_script(installed: Path, platform: str, line: str) -> None:
    for argv, text in sound.voices(line, 1.0, platform):
        assert text == line or argv[-2:] == ("--", line)
        assert line not in argv[:-1]
