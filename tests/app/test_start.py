"""What the tray loads before its first answer."""

from __future__ import annotations

import subprocess
import sys

RARE = ("PIL", "aiohttp", "difflib", "jinja2", "plistlib", "urllib3", "webbrowser")


def test_a_tray_without_an_icon_loads_nothing_that_only_an_icon_a_click_or_a_page_needs() -> None:
    program = f"import sys, tray.app.runtime; print([name for name in {RARE} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
