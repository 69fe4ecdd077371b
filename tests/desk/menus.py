"""Using a tray menu as a person does: the icon is pressed, rows are pointed at and clicked where they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from PIL import Image

from desk.bus import Bus, MenuRow, TrayItem
from desk.screen import Box, Screen
from desk.wait import DEADLINE, Overdue, wait

LEFT, RIGHT = 1, 3  # mouse buttons
BORDER = 4  # pixels at a popup's edge that are frame
PRESSES, PATIENCE = 4, 2.0  # how often the icon is pressed, and the seconds for the menu and again for its rows
LAST = DEADLINE  # the same for the last press, and for each submenu
THIN = 3  # pixels: a lower band is a separator's line, a smaller gap is inside a letter
CONTRAST = 12  # of 255, between a row's background and what is drawn on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a row is drawn."""

    row: MenuRow
    x: int
    y: int


class Menus:
    """The menus of the tray's items, worked with the real pointer."""

    def __init__(self, bus: Bus, screen: Screen) -> None:
        self._bus = bus
        self._screen = screen

    def icon_at(self, item: TrayItem) -> tuple[int, int]:
        """The middle of the item's icon, the only one in the tray."""
        box = wait(self._tray, what="the tray's icon is drawn")
        return box.x + box.width // 2, box.y + box.height // 2

    def press(self, item: TrayItem, button: int) -> None:
        self._screen.point(*self.icon_at(item))
        self._screen.press(button)

    def click(self, path: Sequence[str], item: TrayItem) -> None:
        """Opens the menu, goes along the path, clicks its last row and waits until the menu is gone."""
        with self.open(path[:-1], item) as spots:
            spot = _spot(spots, path[-1])
            if not spot.row.enabled:
                raise LookupError(f"{spot.row.label!r} is greyed out: a click on it does nothing")
            self._screen.point(spot.x, spot.y)
            self._screen.press(LEFT)
            wait(lambda: not self._screen.popups(), what=f"the menu closes after a click on {spot.row.label!r}")

    @contextmanager
    def open(self, path: Sequence[str], item: TrayItem, button: int = RIGHT) -> Iterator[list[Spot]]:
        """The menu, and each submenu of the path, stays open inside; gives the rows of the last one."""
        self.close()
        try:
            known: set[int] = set()
            spots = self._pop_up(known, item, button)
            for depth, label in enumerate(path, start=1):
                self._enter(spots, label, known)
                spots = self._spots(known, lambda: self.row(path[:depth], item).children)  # noqa: B023
            yield spots
        finally:
            self.close()

    def close(self) -> None:
        """Escape, until no menu is open."""
        while popups := self._screen.popups():
            self._screen.key("Escape")
            wait(lambda: len(self._screen.popups()) < len(popups), what="Escape closes a menu")

    def row(self, path: Sequence[str], item: TrayItem) -> MenuRow:
        """The row at the end of the path, as published now."""
        row = MenuRow(id=0, label="", children=self._bus.rows(item))
        for label in path:
            row = find(row.children, label)
        return row

    def _pop_up(self, known: set[int], item: TrayItem, button: int) -> list[Spot]:
        """A press that comes before the panel has loaded the menu is dropped or opens the panel's: press again.

        The panel's is told from the item's by its number of rows alone.
        """
        for _ in range(PRESSES - 1):
            self.press(item, button)
            with suppress(Overdue):
                return self._spots(known, lambda: self._bus.rows(item), PATIENCE)
            self.close()
            known.clear()
        self.press(item, button)
        return self._spots(known, lambda: self._bus.rows(item))

    def _enter(self, spots: Sequence[Spot], label: str, known: set[int]) -> None:
        """The pointer goes to the row; when no submenu opens, to another row and back.

        GTK opens a submenu only when its row is entered, so one that comes later, or a menu that was drawn anew
        under the pointer, needs that the pointer comes back.
        """
        spot = _spot(spots, label)
        others = sorted((other for other in spots if other is not spot), key=lambda other: len(other.row.children))
        for _ in range(PRESSES - 1):
            self._screen.point(spot.x, spot.y)
            with suppress(Overdue):
                wait(lambda: any(box.id not in known for box in self._screen.popups()), PATIENCE)
                return
            for other in others[:1]:
                self._screen.point(other.x, other.y)
        self._screen.point(spot.x, spot.y)

    def _spots(self, known: set[int], rows: Callable[[], Sequence[MenuRow]], deadline: float = LAST) -> list[Spot]:
        """Where the rows of the popup that is not yet known are, once all of them are drawn."""
        what = f"menu {len(known) + 1} opens"
        popup = wait(
            lambda: next((box for box in self._screen.popups() if box.id not in known), None), deadline, what=what
        )
        known.add(popup.id)
        seen: list[tuple[list[int], list[str]]] = [([], [])]

        def drawn() -> list[Spot]:
            shown = [row for row in rows() if row.visible and not row.separator]
            bands = text_bands(self._screen.image(popup))
            seen.append((bands, [row.label for row in shown]))
            steady = seen[-1] == seen[-2] and len(bands) == len(shown)
            x = popup.x + popup.width // 2
            return [Spot(row=row, x=x, y=popup.y + y) for row, y in zip(shown, bands, strict=True)] if steady else []

        try:
            return wait(drawn, deadline, what=f"as many rows are drawn in menu {len(known)} as are published")
        except Overdue as overdue:
            raise Overdue(f"{overdue}; rows drawn at {seen[-1][0]}, published {seen[-1][1]}") from overdue

    def _tray(self) -> Box | None:
        """Returns the tray area, or None until it has exactly one icon and the icon is drawn."""
        box = self._screen.tray()
        return box if box and len(self._bus.items()) == 1 and _drawn(self._screen.image(box)) else None


def find(rows: Sequence[MenuRow], label: str) -> MenuRow:
    """The row with this label, else the first one that begins with it."""
    shown = [row for row in rows if row.visible and not row.separator]
    for row in (
        *(row for row in shown if row.label == label),
        *(row for row in shown if row.label.startswith(label)),
    ):
        return row
    raise LookupError(f"no row {label!r} among {[row.label for row in shown]}")


def text_bands(image: Image.Image) -> list[int]:
    """The middle heights of what is written in a popup, from top to bottom, separators left out."""
    inside = image.convert("L").crop((BORDER, 0, image.width - BORDER, image.height))
    lines = [inside.crop((0, y, inside.width, y + 1)).getextrema() for y in range(BORDER, inside.height - BORDER)]
    bands: list[list[int]] = []
    for y, extrema in enumerate(lines, start=BORDER):
        if extrema[1] - extrema[0] < CONTRAST:  # type: ignore[operator]
            continue
        if bands and y - bands[-1][1] <= THIN:
            bands[-1][1] = y
        else:
            bands.append([y, y])
    return [(first + last) // 2 for first, last in bands if last - first >= THIN]


def _spot(spots: Sequence[Spot], label: str) -> Spot:
    row = find([spot.row for spot in spots], label)
    return next(spot for spot in spots if spot.row is row)


def _drawn(cell: Image.Image) -> bool:
    low, high = cell.convert("L").getextrema()
    return high - low > CONTRAST  # type: ignore[operator]
