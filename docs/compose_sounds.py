"""Composes Hooktray's sounds from sine partials; `python docs/compose_sounds.py` rewrites the files."""

from __future__ import annotations

import array
import io
import math
import sys
import wave
from collections.abc import Mapping
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parents[1] / "tray" / "notify" / "sounds"
RATE = 44_100  # samples per second
PEAK = 10 ** (-6 / 20) * 32_767  # -6 dBFS
FADE = 0.02  # seconds, at the very end, so that nothing clicks

# (multiple of the note's pitch, loudness, how much faster than the note it dies away)
Partials = tuple[tuple[float, float, float], ...]
GLASS: Partials = ((1, 1.0, 1.0), (2, 0.35, 1.6), (3, 0.12, 2.4))
BELL: Partials = ((1, 1.0, 1.0), (2.0, 0.6, 1.3), (2.76, 0.4, 2.0), (5.4, 0.2, 3.5))
WOOD: Partials = ((1, 1.0, 1.0), (2.4, 0.4, 1.8), (4.1, 0.15, 2.5))
REED: Partials = ((1, 1.0, 1.0), (3, 0.4, 1.0), (5, 0.2, 1.0))


class Tone(msgspec.Struct, frozen=True):
    """One struck tone: when it starts, its pitch, how fast it dies (per second) and how softly it begins."""

    start: float  # seconds
    pitch: float  # Hz
    decay: float
    partials: Partials
    attack: float = 0.006  # seconds


class Tune(msgspec.Struct, frozen=True):
    seconds: float
    tones: tuple[Tone, ...]


TUNES: Mapping[str, Tune] = {
    # turn end: a fifth upwards
    "chime": Tune(0.6, (Tone(0.0, 523.25, 7, GLASS), Tone(0.13, 783.99, 7, GLASS))),
    # needs you: two strikes of one bell
    "bell": Tune(0.7, (Tone(0.0, 987.77, 9, BELL, 0.004), Tone(0.2, 987.77, 7, BELL, 0.004))),
    # blocked: a low step down
    "low": Tune(0.45, (Tone(0.0, 196.0, 9, GLASS, 0.012), Tone(0.15, 155.56, 9, GLASS, 0.012))),
    # information: one knock on wood
    "tick": Tune(0.25, (Tone(0.0, 1318.51, 28, WOOD, 0.003),)),
    # session end: a chord taken apart downwards
    "fall": Tune(
        0.7,
        (
            Tone(0.0, 659.26, 8, GLASS, 0.01),
            Tone(0.14, 523.25, 8, GLASS, 0.01),
            Tone(0.28, 392.00, 7, GLASS, 0.01),
        ),
    ),
    # hook failed: two reeds that do not agree
    "alarm": Tune(0.5, (Tone(0.0, 466.16, 10, REED, 0.01), Tone(0.2, 329.63, 8, REED, 0.01))),
}


def compose(tune: Tune) -> bytes:
    """The tune as a 16-bit mono WAV file, at most -6 dBFS."""
    total = round(tune.seconds * RATE)
    mix = [0.0] * total
    for tone in tune.tones:
        _add(mix, tone)
    fade = round(FADE * RATE)
    for index in range(fade):
        mix[total - 1 - index] *= index / fade
    scale = PEAK / max(abs(value) for value in mix)
    return _wav(array.array("h", (round(value * scale) for value in mix)))


def _add(mix: list[float], tone: Tone) -> None:
    first = round(tone.start * RATE)
    for index in range(first, len(mix)):
        time = (index - first) / RATE
        rise = min(1.0, time / tone.attack)
        rise = rise * rise * (3 - 2 * rise)
        mix[index] += rise * _tone(tone, time)


def _tone(tone: Tone, time: float) -> float:
    return sum(
        loudness * math.exp(-tone.decay * faster * time) * math.sin(2 * math.pi * tone.pitch * multiple * time)
        for multiple, loudness, faster in tone.partials
    )


def _wav(samples: array.array[int]) -> bytes:
    if sys.byteorder == "big":
        samples.byteswap()
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return out.getvalue()


def main() -> None:
    for name, tune in TUNES.items():
        (FOLDER / f"{name}.wav").write_bytes(compose(tune))


if __name__ == "__main__":
    main()
