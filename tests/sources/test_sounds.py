"""A sound that nothing would be heard of is said when the settings are read, with its place and remedy."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from every import every

from tray.sources.configuration import parse

NOWHERE = str(Path("/nowhere/done.ogg").absolute())
linux = pytest.mark.skipif(sys.platform != "linux", reason="no other system has servers that play sounds by name")


@pytest.fixture
def theme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sounds = tmp_path / "share" / "sounds" / "own" / "stereo"
    sounds.mkdir(parents=True)
    for name in ("complete.oga", "bell.disabled", "index.theme"):
        (sounds / name).touch()
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "share"))
    return sounds


def warnings(**rules: object) -> tuple[str, ...]:
    return parse(json.dumps(rules), "/h/hooktray.yaml").warnings


def test_what_can_be_heard_and_what_is_meant_to_be_silent_is_no_trouble(theme: Path) -> None:
    own = theme.parent / "mine.ogg"
    own.touch()
    sounds = {"turn_end": str(own), "note": "none", "asked": "", "blocked": "low"}
    rules = {name: {"sound": sound} for name, sound in sounds.items()}
    named = {name: {"sound_name": sound} for name, sound in (("needs_you", "complete"), ("changed", "bell"))}

    assert warnings(alerts=rules | named) == ()


SOUNDS_HERE = "there are alarm, bell, chime, fall, low, tick, or write a file's whole path"


@every(
    ("sound", "said", "remedy"),
    [
        ("chim", "no sound is called 'chim'", "did you mean `chime`?"),
        ("gong!", "no sound is called 'gong!'", SOUNDS_HERE),
        ("sounds/done.ogg", "no sound is called 'sounds/done.ogg'", "whole path"),
        (NOWHERE, f"{NOWHERE} is not a file", "put the sound there"),
    ],
)
def test_an_own_sound_that_is_not_there_is_told(sound: str, said: str, remedy: str) -> None:
    (warning,) = warnings(projects={"api": {"turn_end": {"sound": sound}}})

    assert f"projects.api.turn_end.sound: {said}" in warning
    assert warning.startswith("/h/hooktray.yaml:1:")
    assert remedy in warning


def test_a_file_that_is_put_there_later_is_waited_for() -> None:
    assert parse(f"alerts: {{turn_end: {{sound: '{NOWHERE}'}}}}", "/h").watched == (NOWHERE,)


@linux
@every(("name", "remedy"), [("complet", "did you mean `complete`?"), ("index", "such as message-new-instant")])
def test_a_name_that_no_theme_has_is_told(theme: Path, name: str, remedy: str) -> None:
    (warning,) = warnings(alerts={"turn_end": {"sound_name": name}})

    assert f"alerts.turn_end.sound_name: no installed sound theme has {name!r}" in warning
    assert remedy in warning


@linux
def test_without_any_theme_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_DIRS", f"{tmp_path}:relative")

    (warning,) = warnings(alerts={"turn_end": {"sound_name": "complete"}})

    assert "no sound theme is installed here" in warning
    assert "sound-theme-freedesktop" in warning
