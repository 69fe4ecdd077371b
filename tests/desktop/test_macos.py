"""What macOS is told of the picture, with stand-ins for its objects: macOS itself was not there."""

from __future__ import annotations

from tray.desktop import macos


class Picture:
    def __init__(self) -> None:
        self.template = False

    def setTemplate_(self, template: bool) -> None:  # noqa: N802 - the system's name
        self.template = template


class Button:
    def __init__(self) -> None:
        self.picture: Picture | None = None

    def setImage_(self, picture: Picture) -> None:  # noqa: N802 - the system's name
        self.picture = picture


class Item:
    def __init__(self) -> None:
        self.shown = Button()

    def button(self) -> Button:
        return self.shown


class Icon:
    def __init__(self, picture: Picture | None) -> None:
        self._icon_image, self._status_item = picture, Item()

    @property
    def shown(self) -> Picture | None:
        return self._status_item.shown.picture


def test_the_picture_is_shown_as_a_template() -> None:
    picture = Picture()
    icon = Icon(picture)

    macos.template(icon)

    assert picture.template
    assert icon.shown is picture


def test_an_icon_that_is_not_drawn_yet_is_left_alone() -> None:
    icon = Icon(None)

    macos.template(icon)

    assert icon.shown is None
