"""What of the icon is drawn on the panel, told by its colour."""

from __future__ import annotations

from typing import Any

from desk import Desk, TrayItem
from PIL import ImageColor

from tray.desktop.artwork import IconState, colour


def ink(desk: Desk, item: TrayItem, state: IconState) -> set[tuple[int, int]]:
    """The pixels of the icon in this state's colour; none while it is not drawn."""
    x, y = desk.icon_at(item)
    picture = desk.screenshot().convert("RGB").crop((x - 12, y - 12, x + 12, y + 12))
    wanted = ImageColor.getrgb(colour(state))
    seen = {(at % 24, at // 24) for at in range(24 * 24) if near(picture.getpixel((at % 24, at // 24)), wanted)}
    return seen if len(seen) > 40 else set()


def near(one: Any, other: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 24 for a, b in zip(one, other, strict=True))
