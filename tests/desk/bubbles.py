"""Pressing what stands on a notification, with the real pointer, as the server in use draws it."""

from __future__ import annotations

import itertools
from pathlib import Path

from PIL import Image

from desk.screen import Box, Screen
from desk.wait import wait

BRIGHT = 24  # of 255, between a bubble's ground and the frame of a button
NARROW = 20  # pixels: what is between two buttons
FOOT = 16  # pixels from a bubble's lower edge: below the labels and inside the buttons


class DunstBubbles:
    """A left click opens dunst's menu of actions, which here chooses the one that the test wants."""

    def __init__(self, folder: Path, screen: Screen) -> None:
        self._picked = folder / "picked"
        self._screen = screen

    def press(self, label: str) -> None:
        """The button with this label, of the only notification that is shown."""
        self._picked.write_text(f"{label} ")
        box = wait(lambda: next(iter(self._screen.named("Dunst")), None), what="a bubble")
        self._screen.point(box.x + box.width // 2, box.y + box.height // 2)
        self._screen.press(1)


class NotifydBubbles:
    """xfce4-notifyd draws buttons in a row; with which labels, the test knows."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def press(self, label: str, labels: tuple[str, ...]) -> None:
        """Of the notification that has exactly these buttons, from left to right."""

        def found() -> tuple[Box, int] | None:
            for box in self._screen.named("Xfce4-notifyd"):
                middles = buttons(self._screen.image(box))
                if len(middles) == len(labels):
                    return box, middles[labels.index(label)]
            return None

        box, x = wait(found, what=f"a bubble with the buttons {labels}")
        self._screen.point(box.x + x, box.y + box.height - FOOT - 6)
        self._screen.press(1)


def buttons(image: Image.Image) -> list[int]:
    """The middles of the buttons in a bubble's last row: between two lines of frame, far enough apart."""
    grey = image.convert("L")
    row = [int(grey.getpixel((x, grey.height - FOOT))) for x in range(2, grey.width - 2)]  # type: ignore[arg-type]
    ground = max(set(row), key=row.count)
    lines = [x + 2 for x, level in enumerate(row) if abs(level - ground) > BRIGHT]
    return [(left + right) // 2 for left, right in itertools.pairwise(lines) if right - left > NARROW]
