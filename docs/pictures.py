"""Renders docs/desktops/*.png from the real icon, menu and notifications: `.venv/bin/python docs/pictures.py`.

The Chinese menus need a Chinese font, such as that of fonts-wqy-microhei; LXQt's picture needs lxqt-notificationd.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image, ImageColor, ImageDraw, ImageFont

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from desk import Desk  # noqa: E402
from desk.bubbles import buttons  # noqa: E402
from desktop import panel_app  # noqa: E402
from live import Live, recorded  # noqa: E402

from tray.desktop.artwork import IconState, colour, draw  # noqa: E402

OUT = ROOT / "docs" / "desktops"
GROUNDS = {"dark": ("#2b303b", "#eff1f5"), "light": ("#f2f2f2", "#23262d")}
SIZES = (16, 22, 24, 32, 48)
CELL, PAD, FONT = 200, 16, "/usr/share/fonts/opentype/cantarell/Cantarell-Regular.otf"
GUARD = 'grep -q "rm -rf" && echo \'{"decision":"block","reason":"rm -rf is not for agents"}\'; exit 0'
ASKS = {"ask_on_desktop": {"agents": ["claude-code"]}}
PERMISSION = {
    "session_id": "t",
    "cwd": "/home/you/api",
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
}
INK = 20  # pixels in the colour of an icon that are one
STILL = 15  # looks at the screen that are the same when nothing moves


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name, (ground, ink) in GROUNDS.items():
        states(name == "dark", ground, ink).save(OUT / f"states-{name}.png")
        menu(name)
        notification(name)
        question(name)
    for name in ("lxqt", "xfce"):
        panel(name)


def states(dark: bool, ground: str, ink: str) -> Image.Image:
    """Each state in the sizes of panels, in the tone that this ground gets, and in the one for any ground."""
    image = Image.new("RGB", (PAD + CELL * len(IconState), 152), ground)
    pen, font = ImageDraw.Draw(image), ImageFont.truetype(FONT, 14)
    for column, state in enumerate(IconState):
        x = PAD + CELL * column
        pen.text((x, 10), state.value, fill=ink, font=font)
        for row, tone in enumerate((None, dark)):
            left = x
            for size in SIZES:
                picture = draw(state, size, dark=tone)
                image.paste(picture, (left, 36 + 56 * row + 48 - size), picture)
                left += size + 8
    return image


def menu(name: str) -> None:
    """Xfce's panel with the menu open at a submenu, in both languages."""
    for language, label, submenu in (("en", "", "Alerts"), ("zh_CN", "-zh", "提醒")):
        with desk(name, (760, 560)) as place:
            process = place.start([sys.executable, panel_app.__file__], {"LANGUAGE": language}, stdin=subprocess.PIPE)
            item = place.wait_item(process.pid)
            assert process.stdin
            process.stdin.write(json.dumps({"look": IconState.ATTENTION}).encode() + b"\n")
            process.stdin.flush()
            place.wait(lambda: _is_drawn(place, IconState.ATTENTION), what="the icon is drawn anew")
            with place.open_menu([submenu], item):
                crop(place.screenshot(), 70).save(OUT / f"menu-{name}{label}.png")


def crop(picture: Image.Image, left: int) -> Image.Image:
    return picture.crop((left, 0, picture.width, picture.height))


def notification(name: str) -> None:
    """What the notification server shows when a guard has blocked."""
    with desk(name, (760, 420)) as place, tempfile.TemporaryDirectory() as folder:
        hook = {"name": "no-destroying", "event": "tool_before", "command": "./no-destroying.sh"}
        live = Live.fresh(place, Path(folder), configuration={"hooks": [hook]})
        live.script("no-destroying.sh", GUARD)
        live.approve("no-destroying")
        place.wait_notification(lambda one: "is approved" in one.body)
        place.clear_notifications()
        event = json.loads(recorded("claude-code", "PreToolUse-Bash"))
        live.relay(
            "claude-code", "PreToolUse", {**event, "cwd": "/home/you/api", "tool_input": {"command": "rm -rf /"}}
        )
        place.wait_notification(lambda one: "blocked" in one.body)
        place.wait(lambda: _grey(place.screenshot()), what="the bubble is painted")
        place.screenshot().crop((0, 0, 420, 150)).save(OUT / f"notification-{name}.png")


def question(name: str) -> None:
    """What Xfce's server shows when an agent wants to run something."""
    with desk(name, (760, 300), panel=None, notifications="xfce4") as place, tempfile.TemporaryDirectory() as folder:
        live = Live.fresh(place, Path(folder), configuration=ASKS)
        event = {"session_id": "s", "cwd": "/home/you/web", "hook_event_name": "Notification", "message": "Ready"}
        live.relay("claude-code", "Notification", event)
        place.wait_notification(lambda one: one.body == "Ready")
        prompt = {**event, "hook_event_name": "UserPromptSubmit", "prompt": "go"}
        live.relay("claude-code", "UserPromptSubmit", prompt)
        place.wait(lambda: not place.screen.named("Xfce4-notifyd"), what="the first one goes")
        ask(place, live)
        (box,) = place.wait(lambda: place.screen.named("Xfce4-notifyd"), what="the question is shown")
        place.wait(lambda: len(buttons(place.screen.image(box))) >= 3, what="its buttons are drawn")
        left, top, right, bottom = box.edges
        place.screenshot().crop((left - 16, top - 16, right + 16, bottom + 16)).save(OUT / f"question-{name}.png")


def panel(name: str) -> None:
    """The icon in this panel, and a question as the desktop's own server draws it: like those of tests/desktops."""
    own = {"panel": None, "notifications": None} if name == "lxqt" else {"notifications": "xfce4"}
    size = (640, 240 if name == "lxqt" else 180)
    with desk("light", size, **own) as place, tempfile.TemporaryDirectory() as folder:
        if name == "lxqt":
            lxqt(place)
        live = Live.fresh(place, Path(folder), configuration=ASKS)
        place.wait(lambda: live.health()["icon"] == "sni", what="the icon is shown")
        ask(place, live)
        for state in (IconState.ATTENTION, IconState.ON):  # the panel's icon, and that of the notification
            place.wait(partial(_is_drawn, place, state), what=f"an icon in the colour of {state}")
        looks = [place.screenshot()]

        def still() -> Image.Image | None:
            """Notifications fade in."""
            looks.append(place.screenshot())
            last = looks[-STILL:]
            return last[0] if len(last) == STILL and all(one == last[0] for one in last) else None

        place.wait(still, what="nothing moves").save(OUT / f"{name}.png", optimize=True)


def lxqt(place: Desk) -> None:
    """LXQt's panel and its notification server, in the theme that LXQt has by itself."""
    folder = place.folder / "config" / "lxqt"
    (folder / "lxqt.conf").write_text("[General]\ntheme=Clearlooks\nicon_theme=breeze\n")
    # Without a compositor the space around a notification is black.
    (folder / "notifications.conf").write_text("[General]\nspacing=0\n")
    look = {"XDG_CURRENT_DESKTOP": "LXQt", "QT_QPA_PLATFORMTHEME": "lxqt"}
    place.start(["lxqt-panel"], look)
    place.start(["lxqt-notificationd"], look)
    for service in ("org.kde.StatusNotifierWatcher", "org.freedesktop.Notifications"):
        place.wait(partial(place.bus.has_name, service), what=service)


def ask(place: Desk, live: Live) -> None:
    """An agent whose relay waits for the answer to a question."""
    relay = place.start(live.relay_argv("claude-code", "PermissionRequest"), stdin=subprocess.PIPE)
    assert relay.stdin
    relay.stdin.write(json.dumps(PERMISSION).encode())
    relay.stdin.close()


def _is_drawn(place: Desk, state: IconState) -> bool:
    """Whether something on the screen has the colour that the icon has in this state."""
    shades = place.screenshot().convert("RGB").getcolors(1 << 24) or ()
    ink = ImageColor.getrgb(colour(state, None))
    return sum(number for number, shade in shades if shade == ink) > INK


def _grey(screen: Image.Image) -> bool:
    """Whether a bubble's ground is in its corner; the desktop behind it is blue, and black before it is drawn."""
    pixel = screen.convert("RGB").crop((40, 60, 41, 61)).tobytes()
    return min(pixel) > 20 and max(pixel) - min(pixel) < 30


@contextmanager
def desk(name: str, size: tuple[int, int], **parts: Any) -> Iterator[Desk]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Desk(Path(folder), size=size, dark=name == "dark", sound=False, **parts) as place,
    ):
        yield place


if __name__ == "__main__":
    main()
