"""The tray icon: one description per state, distinguished by shape, drawn to pixels by Pillow and to SVG.

A StatusNotifierItem sends pictures from masks that were drawn beforehand, so it needs no Pillow.
"""

from __future__ import annotations

import enum
import math
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # a tray without an icon draws nothing, and the first answer of any other need not wait for Pillow
    from PIL import Image, ImageDraw

Point = tuple[float, float]
Pixmaps = list[tuple[int, int, bytes]]  # width, height, and ARGB in network byte order


class IconState(enum.StrEnum):
    ON = "on"
    OFF = "off"
    PAUSED = "paused"
    ATTENTION = "attention"  # something waits for approval
    WAITING = "waiting"  # an agent waits for its user
    TROUBLE = "trouble"  # a hook failed when it last ran
    BROKEN = "broken"  # the configuration cannot be read
    CUT_OFF = "cut-off"  # guards do not guard: lost approvals, an agent that no longer asks


class Stroke(msgspec.Struct, frozen=True):
    """A stroke through points, with round ends and corners."""

    points: tuple[Point, ...]
    width: float = 2


class Arc(msgspec.Struct, frozen=True):
    """A stroke along a circle, in degrees clockwise from three o'clock."""

    centre: Point
    radius: float
    start: float
    end: float
    width: float = 2


Shape = Stroke | Arc

# All figures are drawn on a square of 16 units, so that at 16 pixels every straight edge meets the pixel grid.
GRID = 16
TRAY = Stroke(((1, 11), (1, 14), (15, 14), (15, 11)))
BOW: tuple[Shape, ...] = (Stroke(((11, 4), (11, 7))), Arc((8, 7), 3, 0, 180), Stroke(((5, 7), (5, 5))))
EYE = Arc((11, 2.5), 1.5, 0, 360, width=1)
BARB = Stroke(((5, 5), (7, 7)), width=1.5)
SHAPES: dict[IconState, tuple[Shape, ...]] = {
    IconState.ON: (TRAY, EYE, *BOW, BARB),
    IconState.OFF: (TRAY, Arc((8, 6), 4, 0, 360)),
    IconState.PAUSED: (TRAY, Stroke(((5, 2), (5, 9)), width=3), Stroke(((11, 2), (11, 9)), width=3)),
    IconState.ATTENTION: (TRAY, Stroke(((8, 2), (8, 5)), width=3.5), Stroke(((8, 10), (8, 10)), width=3.5)),
    IconState.WAITING: (
        TRAY,
        Arc((8, 4.2), 2.8, 180, 400),
        Stroke(((10.1, 6), (8, 7.2))),
        Stroke(((8, 10.8), (8, 10.8)), width=2.4),
    ),
    IconState.TROUBLE: (TRAY, Stroke(((8, 1.5), (13, 9), (3, 9), (8, 1.5)))),
    IconState.BROKEN: (TRAY, Stroke(((4, 2), (12, 9)), width=2.5), Stroke(((12, 2), (4, 9)), width=2.5)),
    IconState.CUT_OFF: (
        TRAY,
        Stroke(((1.5, 5.5), (4.5, 5.5)), width=3),
        Stroke(((11.5, 5.5), (14.5, 5.5)), width=3),
        Stroke(((9.5, 1.5), (6.5, 9.5))),
    ),
}

# Middle tones with a contrast of 3:1 against a light and a dark panel alike, for when the panel's colour is unknown;
# then the tone for a light panel and the one for a dark panel.
COLOURS: dict[IconState, tuple[str, str, str]] = {
    IconState.ON: ("#158e80", "#0f5f57", "#6fd8c8"),
    IconState.OFF: ("#7f7f7f", "#565656", "#b4b4b4"),
    IconState.PAUSED: ("#5a7ed0", "#34508f", "#a9c0f5"),
    IconState.ATTENTION: ("#cc5f0e", "#9a4300", "#ffab5e"),
    IconState.WAITING: ("#cc5f0e", "#9a4300", "#ffab5e"),
    IconState.TROUBLE: ("#e2556e", "#a01c38", "#ff9aa8"),
    IconState.BROKEN: ("#e2556e", "#a01c38", "#ff9aa8"),
    IconState.CUT_OFF: ("#e2556e", "#a01c38", "#ff9aa8"),
}
TILE = "#2b2b2b"
SIZES = (16, 22, 24, 32, 48, 64)  # pixels, of common panels
MASKS = Path(__file__).with_name("icon.masks")  # icons/render.py writes it
SNAP_LIMIT = 64  # up to this size strokes are moved to whole pixels
CANVAS_SIZE = 1024  # pixels that a picture is drawn on before it is reduced


def colour(state: IconState, dark: bool | None = None) -> str:
    """The colour for a dark panel, a light one, or an unknown one."""
    neutral, on_light, on_dark = COLOURS[state]
    if dark is None:
        return neutral
    return on_dark if dark else on_light


def draw(state: IconState, size: int, *, dark: bool | None = None) -> Image.Image:
    """The picture at one size, transparent around the ink."""
    from PIL import Image, ImageDraw

    factor = max(1, CANVAS_SIZE // size)
    mask = Image.new("L", (size * factor, size * factor), 0)
    pen = ImageDraw.Draw(mask)
    for shape in SHAPES[state]:
        _stroke(pen, shape, size, factor)
    picture = Image.new("RGBA", (size, size), colour(state, dark))
    picture.putalpha(mask.reduce(factor))
    return picture


def on_tile(state: IconState, size: int) -> Image.Image:
    """The picture on a dark ground of its own, for trays that know no transparency."""
    from PIL import Image

    tile = Image.new("RGBA", (size, size), TILE)
    return Image.alpha_composite(tile, draw(state, size, dark=True)).convert("RGB")


def _stroke(pen: ImageDraw.ImageDraw, shape: Shape, size: int, factor: int) -> None:
    """Draw one shape as a row of round dabs joined by thick lines."""
    width = shape.width * size / GRID
    if size <= SNAP_LIMIT:
        width = max(1.0, round(width))
    points = [(x * factor, y * factor) for x, y in _points(shape, width, size)]
    thick = width * factor
    for one, other in pairwise(points):
        # Upright and level bars are rectangles, because Pillow's lines come out a fraction too wide.
        (left, right), (top, bottom) = sorted((one[0], other[0])), sorted((one[1], other[1]))
        if left == right:
            pen.rectangle((left - thick / 2, top, left + thick / 2 - 1, bottom), fill=255)
        elif top == bottom:
            pen.rectangle((left, top - thick / 2, right, top + thick / 2 - 1), fill=255)
        else:
            pen.line((one, other), fill=255, width=round(thick))
    for x, y in points:
        pen.ellipse((x - thick / 2, y - thick / 2, x + thick / 2 - 1, y + thick / 2 - 1), fill=255)


def _points(shape: Shape, width: float, size: int) -> list[Point]:
    """A shape's points in pixels of the wanted size."""
    if isinstance(shape, Stroke):
        return [(_place(x, width, size), _place(y, width, size)) for x, y in shape.points]
    (x, y), radius = shape.centre, shape.radius
    left, right = _place(x - radius, width, size), _place(x + radius, width, size)
    middle, radius, level = (left + right) / 2, (right - left) / 2, _place(y, width, size)
    steps = [math.radians(shape.start + (shape.end - shape.start) * step / 48) for step in range(49)]
    return [(middle + radius * math.cos(turn), level + radius * math.sin(turn)) for turn in steps]


def _place(at: float, width: float, size: int) -> float:
    """A stroke's middle, moved so that its edges lie between two pixels."""
    scaled = at * size / GRID
    return round(scaled - width / 2) + width / 2 if size <= SNAP_LIMIT else scaled


def svg(state: IconState, *, dark: bool | None = None) -> str:
    """The same description as a scalable picture."""
    ink = "".join(f'<path d="{_path(one)}" stroke="#fff" stroke-width="{one.width:g}"/>' for one in SHAPES[state])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {GRID} {GRID}" width="256" height="256">'
        f"<title>Hooktray: {state}</title>"
        f'<mask id="ink" maskUnits="userSpaceOnUse" x="0" y="0" width="{GRID}" height="{GRID}">'
        f'<g fill="none" stroke-linecap="round" stroke-linejoin="round">{ink}</g></mask>'
        f'<rect width="{GRID}" height="{GRID}" fill="{colour(state, dark)}" mask="url(#ink)"/></svg>\n'
    )


def _path(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in shape.points)
    (x, y), radius = shape.centre, shape.radius
    (x0, y0), (x1, y1) = (
        (x + radius * math.cos(math.radians(turn)), y + radius * math.sin(math.radians(turn)))
        for turn in (shape.start, shape.end)
    )
    large = int(shape.end - shape.start > 180)
    return f"M{x0:.3f} {y0:.3f}A{radius:g} {radius:g} 0 {large} 1 {x1:.3f} {y1:.3f}"


@cache
def pixmaps(state: IconState) -> Pixmaps:
    """The pictures as a StatusNotifierItem sends them."""
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
