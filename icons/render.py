"""Render the icon's description into this folder: `python icons/render.py [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from tray.desktop.artwork import MASKS, IconState, draw, draw_masks, svg

SIZES = (16, 22, 24, 32, 48, 64, 128, 256)
ICO_SIZES = (16, 24, 32, 48, 64, 256)
ICNS_SIZES = (16, 32, 64, 128, 256, 512, 1024)
ON_NOTIFICATIONS = Path(__file__).parents[1] / "tray" / "notify" / "icon.png"


def render(folder: Path) -> list[Path]:
    """Write every picture and say which files they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [path for state in IconState for path in _pictures(state, folder)]
    for name, sizes in (("hooktray.ico", ICO_SIZES), ("hooktray.icns", ICNS_SIZES)):
        largest, *others = (draw(IconState.ON, size) for size in reversed(sizes))
        _save(largest, folder / name, others, sizes)
        written.append(folder / name)
    return written


def _pictures(state: IconState, folder: Path) -> list[Path]:
    scalable = folder / f"{state}.svg"
    scalable.write_text(svg(state), encoding="utf-8", newline="\n")
    paths = [folder / f"{state}-{size}.png" for size in SIZES]
    for size, path in zip(SIZES, paths, strict=True):
        draw(state, size).save(path, optimize=True)
    return [scalable, *paths]


def _save(largest: Image.Image, path: Path, others: list[Image.Image], sizes: tuple[int, ...]) -> None:
    if path.suffix == ".ico":
        largest.save(path, sizes=[(size, size) for size in sizes], append_images=others)
        return
    largest.save(path, append_images=others)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    if len(sys.argv) == 1:
        draw(IconState.ON, 64).save(ON_NOTIFICATIONS, optimize=True)
        MASKS.write_bytes(draw_masks())
    print(f"{len(render(target))} files written to {target}")
