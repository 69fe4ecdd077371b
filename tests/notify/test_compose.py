"""The committed sounds: what the composer makes, short, and soft at both ends."""

from __future__ import annotations

import array
import math
import wave

import pytest
from every import every
from scripts import loaded

from tray.notify.alert import DEFAULTS
from tray.settings import SOUNDS

compose = loaded("docs/compose_sounds.py")
FOLDER = compose.FOLDER
NAMES = sorted(compose.TUNES)


def samples(name: str) -> array.array[int]:
    with wave.open(str(FOLDER / f"{name}.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (44_100, 1, 2)
        return array.array("h", file.readframes(file.getnframes()))


@every("name", NAMES)
def test_the_committed_file_is_what_the_composer_makes_short_and_soft_at_both_ends(name: str) -> None:
    made = compose.compose(compose.TUNES[name])
    data = samples(name)

    assert (FOLDER / f"{name}.wav").read_bytes() == made
    assert len(made) < 70_000

    assert 0.25 <= len(data) / 44_100 <= 0.7
    assert 20 * math.log10(max(abs(value) for value in data) / 32_767) == pytest.approx(-6, abs=0.05)
    assert max(abs(value) for value in data[:5]) < 1_000
    assert abs(data[-1]) < 10


def test_every_sound_a_class_asks_for_exists_and_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.wav")} == set(NAMES) == set(SOUNDS), "the sounds of the settings"
    assert {default.sound for default in DEFAULTS.values()} - {""} == set(NAMES)
