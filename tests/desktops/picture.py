"""Takes the picture of a desktop for docs/desktops.md: `.venv/bin/python tests/desktops/picture.py NAME...`."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))


def take(name: str, folder: Path) -> None:
    """The icon in its tray, and a question as this desktop draws it."""
    from desk.wait import wait
    from desktops.contract import ASKS, ask
    from live import Live

    from tray.desktop.artwork import IconState

    module = importlib.import_module(f"desktops.{name}")
    with module.DESKTOP(folder / "d") as desktop:
        live = Live.fresh(desktop, folder, configuration=ASKS)
        wait(lambda: live.health()["icon"] == "sni", 60, "the icon")
        relay = ask(desktop, live)
        wait(lambda: desktop.shows(IconState.ATTENTION), 60, "the icon is drawn anew")
        looks: list[Image.Image] = []

        def still() -> Image.Image | None:
            """Notifications slide in, and icons fade."""
            looks.append(desktop.screenshot().convert("RGB").crop(desktop.picture))
            last = looks[-desktop.still :]
            return last[0] if len(last) == desktop.still and all(one == last[0] for one in last) else None

        picture = wait(still, 60, "nothing moves")
        picture.save(ROOT / "docs" / "desktops" / f"{name}.png", optimize=True)
        relay.kill()
        relay.communicate()
        live.quit()


if __name__ == "__main__":
    for desktop in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="d") as folder:
            take(desktop, Path(folder))
