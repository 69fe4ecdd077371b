"""The icon's pictures: told apart by shape, readable on any panel, and rendered as described."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path

from every import every
from PIL import Image, ImageChops, ImageColor, ImageStat

from tray.desktop.artwork import SIZES, TILE, IconState, colour, draw, on_tile, pixmaps

ICONS = Path(__file__).parents[2] / "icons"
LIGHT_PANEL, DARK_PANEL = "#f6f5f4", "#353535"


def ink(state: IconState, size: int) -> Image.Image:
    return draw(state, size).getchannel("A")


def light(shade: str) -> float:
    """Relative luminance as the WCAG counts it."""
    channels = [int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@every("size", [16, 22, 32])
@every(("one", "other"), list(combinations(IconState, 2)))
def test_states_differ_in_shape_and_not_only_in_colour(one: IconState, other: IconState, size: int) -> None:
    difference = ImageChops.difference(ink(one, size), ink(other, size))

    changed = sum(difference.point([int(level > 128) for level in range(256)]).tobytes())
    assert changed >= size * size * 0.08


@every("state", IconState)
@every("panel", [LIGHT_PANEL, DARK_PANEL])
def test_the_icon_has_contrast_on_light_and_dark_panels(state: IconState, panel: str) -> None:
    assert contrast(colour(state), panel) >= 3
    drawn = draw(state, 22)
    seen = Image.new("RGB", drawn.size, panel)
    seen.paste(drawn, mask=drawn)

    pixels = [f"#{seen.tobytes()[at : at + 3].hex()}" for at in range(0, 22 * 22 * 3, 3)]
    touched = [shade for shade in pixels if shade != panel]
    readable = [shade for shade in touched if contrast(shade, panel) >= 3]
    assert len(readable) >= 0.5 * len(touched), "thin lines that fade into the panel"


@every("state", IconState)
def test_the_ink_stands_out_more_on_a_panel_that_is_known(state: IconState) -> None:
    assert contrast(colour(state, dark=True), DARK_PANEL) > 4.5
    assert contrast(colour(state, dark=False), LIGHT_PANEL) > 4.5


@every("size", [16, 22, 24, 32, 48, 64])
def test_the_floor_of_the_tray_is_crisp_at_panel_sizes(size: int) -> None:
    """Its middle column has full rows and empty rows, nothing in between."""
    column = ink(IconState.ON, size).crop((size // 2, size * 3 // 4, size // 2 + 1, size))

    assert set(column.tobytes()) == {0, 255}


@every("state", IconState)
def test_nothing_is_cut_off_at_the_edges(state: IconState) -> None:
    picture = ink(state, 256)

    _, top, _, bottom = picture.getbbox() or (0, 0, 0, 0)
    assert 0 < top < bottom < 256
    assert 5 < ImageStat.Stat(picture).mean[0] < 128


def test_a_tile_is_the_picture_on_an_opaque_ground() -> None:
    tile = on_tile(IconState.ON, 32)

    assert tile.mode == "RGB"
    assert tile.getpixel((0, 0)) == ImageColor.getrgb(TILE)
    assert ImageColor.getrgb(colour(IconState.ON, dark=True)) in {shade for _, shade in tile.getcolors(1024) or ()}


def test_the_rendered_files_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ICONS / "render.py", tmp_path], check=True, capture_output=True, timeout=60)

    fresh = {path.name for path in tmp_path.iterdir()}
    committed = {path.name for path in ICONS.iterdir() if path.suffix in {".png", ".svg", ".ico", ".icns"}}
    assert fresh == committed
    assert [name for name in sorted(fresh) if pixels(tmp_path / name) != pixels(ICONS / name)] == []


@every("state", IconState)
def test_what_a_tray_host_gets_is_the_drawn_picture(state: IconState) -> None:
    for width, height, data in pixmaps(state):
        alpha, red, green, blue = (data[channel::4] for channel in range(4))
        drawn = draw(state, width)

        assert width == height
        assert tuple(band.tobytes() for band in drawn.split()) == (red, green, blue, alpha)

    assert tuple(size for size, _, _ in pixmaps(state)) == SIZES


def pixels(path: Path) -> object:
    if path.suffix == ".svg":
        return path.read_text(encoding="utf-8")
    with Image.open(path) as picture:
        return picture.size, picture.info.get("sizes"), picture.convert("RGBA").tobytes()
