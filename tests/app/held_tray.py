"""A tray that builds its user interface only after a "+" on its input; any other input makes the build fail.

python held_tray.py --home DIR
"""

from __future__ import annotations

import sys
from typing import Any

from tray.app import start
from tray.app.runtime import App
from tray.paths import locate

build = App.__init__


def held(app: App, *args: Any, **options: Any) -> None:
    if sys.stdin.read(1) != "+":
        raise RuntimeError("the user interface cannot be built")
    build(app, *args, **options)


if __name__ == "__main__":
    App.__init__ = held  # type: ignore[assignment, method-assign]
    sys.exit(start.run(locate(sys.argv[2]), headless=True))
