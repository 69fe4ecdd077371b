"""The committed sounds: what the composer makes, short, soft at both ends, and told apart."""

from __future__ import annotations

import array
import cmath
import math
import wave
from itertools import combinations

import pytest
from scripts import loaded

from tray.notify.alert import DEFAULTS

compose = loaded("docs/compose_sounds.py")
FOLDER = compose.FOLDER
NAMES = sorted(compose.TUNES)


def samples(name: str) -> array.array[int]:
    with wave.open(str(FOLDER / f"{name}.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (44_100, 1, 2)
        return array.array("h", file.readframes(file.getnframes()))


def spectrum(name: str) -> list[float]:
    """Strength at sixths of an octave from 100 Hz to 8 kHz, as a vector of length one."""
    data = samples(name)[::2]
    strengths = []
    for step in range(39):
        turn = cmath.exp(-2j * math.pi * 100 * 2 ** (step / 6) / 22_050)
        total, phase = 0j, 1 + 0j
        for value in data:
            total += value * phase
            phase *= turn
        strengths.append(abs(total))
    length = math.hypot(*strengths)
    return [strength / length for strength in strengths]


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_file_is_what_the_composer_makes(name: str) -> None:
    made = compose.compose(compose.TUNES[name])

    assert (FOLDER / f"{name}.wav").read_bytes() == made
    assert len(made) < 70_000


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_is_short_and_begins_and_ends_softly(name: str) -> None:
    data = samples(name)

    assert 0.25 <= len(data) / 44_100 <= 0.7
    assert 20 * math.log10(max(abs(value) for value in data) / 32_767) == pytest.approx(-6, abs=0.05)
    assert max(abs(value) for value in data[:5]) < 1_000
    assert abs(data[-1]) < 10


def test_no_two_sounds_are_alike() -> None:
    bands = {name: spectrum(name) for name in NAMES}

    for one, other in combinations(NAMES, 2):
        likeness = sum(a * b for a, b in zip(bands[one], bands[other], strict=True))
        assert likeness < 0.9, f"{one} sounds like {other}: {likeness:.2f}"


def test_every_sound_a_class_asks_for_exists_and_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.wav")} == set(NAMES)
    assert {default.sound for default in DEFAULTS.values()} - {""} == set(NAMES)
