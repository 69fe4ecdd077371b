"""Renders docs/desktops/*.png from the real icon, menu and notifications: `.venv/bin/python docs/pictures.py`.

The Chinese menus need a Chinese font, such as that of fonts-wqy-microhei.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from desk import Desk  # noqa: E402
from desk.bubbles import buttons  # noqa: E402
from desktop import panel_app  # noqa: E402
from live import Live, recorded  # noqa: E402

from tray.desktop.artwork import IconState, draw  # noqa: E402

OUT = ROOT / "docs" / "desktops"
GROUNDS = {"dark": ("#2b303b", "#eff1f5"), "light": ("#f2f2f2", "#23262d")}
SIZES = (16, 22, 24, 32, 48)
CELL, PAD, FONT = 200, 16, "/usr/share/fonts/opentype/cantarell/Cantarell-Regular.otf"
GUARD = 'grep -q "rm -rf" && echo \'{"decision":"block","reason":"rm -rf is not for agents"}\'; exit 0'


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name, (ground, ink) in GROUNDS.items():
        states(name == "dark", ground, ink).save(OUT / f"states-{name}.png")
        menu(name)
        notification(name)
        question(name)


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
        live = Live.fresh(place, Path(folder), configuration={"ask_on_desktop": {"agents": ["claude-code"]}})
        event = {"session_id": "s", "cwd": "/home/you/web", "hook_event_name": "Notification", "message": "Ready"}
        live.relay("claude-code", "Notification", event)
        place.wait_notification(lambda one: one.body == "Ready")
        prompt = {**event, "hook_event_name": "UserPromptSubmit", "prompt": "go"}
        live.relay("claude-code", "UserPromptSubmit", prompt)
        place.wait(lambda: not place.screen.named("Xfce4-notifyd"), what="the first one goes")
        request = {
            "session_id": "t",
            "cwd": "/home/you/api",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
        }
        relay = place.start(live.relay_argv("claude-code", "PermissionRequest"), stdin=subprocess.PIPE)
        assert relay.stdin
        relay.stdin.write(json.dumps({**request, "tool_input": {"command": "rm -rf build"}}).encode())
        relay.stdin.close()
        (box,) = place.wait(lambda: place.screen.named("Xfce4-notifyd"), what="the question is shown")
        place.wait(lambda: len(buttons(place.screen.image(box))) >= 3, what="its buttons are drawn")
        left, top, right, bottom = box.edges
        place.screenshot().crop((left - 16, top - 16, right + 16, bottom + 16)).save(OUT / f"question-{name}.png")


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
