"""The icon's pictures as a StatusNotifierItem sends them, from masks drawn beforehand: so it needs no Pillow."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

from tray.desktop.artwork import IconState, colour, draw

SIZES = (16, 22, 24, 32, 48, 64)  # of common panels
MASKS = Path(__file__).with_name("icon.masks")  # icons/render.py writes it

Pixmaps = list[tuple[int, int, bytes]]


@cache
def pixmaps(state: IconState) -> Pixmaps:
    """ARGB in network byte order, as the specification wants it."""
    masks, found = zlib.decompress(MASKS.read_bytes()), []
    at = list(IconState).index(state) * sum(size * size for size in SIZES)
    ink = bytes.fromhex(colour(state).removeprefix("#"))
    for size in SIZES:
        pixels = bytearray(b"\0" + ink) * (size * size)
        pixels[::4] = masks[at : at + size * size]
        at += size * size
        found.append((size, size, bytes(pixels)))
    return found


def draw_masks() -> bytes:
    """What MASKS has: how opaque each pixel is, of each size of each state."""
    drawn = (draw(state, size).getchannel("A") for state in IconState for size in SIZES)
    return zlib.compress(b"".join(mask.tobytes() for mask in drawn), 9)
