"""A tray that reports which Python functions it calls: `python -I counted.py HOME`.

For each line on stdin it prints a line of JSON on stdout: the calls since the previous line.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import tray
from tray.app import source_refresh
from tray.app.start import start
from tray.paths import locate

PACKAGE = Path(tray.__file__).parent
NEVER = 1e6  # seconds


class Calls:
    """Every call of a Python function from now on, in every thread that starts from now on."""

    def __init__(self) -> None:
        self._made: list[CodeType] = []
        threading.Thread(target=self._report, name="report", daemon=True).start()  # not counted: it starts first
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":  # of a Python function; a C function has an event of its own
            self._made.append(frame.f_code)

    def _report(self) -> None:
        for _ in sys.stdin:
            made, self._made = self._made, []
            print(json.dumps(_numbered(made)), file=sys.__stdout__, flush=True)


def _numbered(made: list[CodeType]) -> list[tuple[str, str, int]]:
    """File, function, number of calls; the file of a module of ours relative to the package."""
    found: Counter[tuple[str, str]] = Counter()
    for code in made:
        path = Path(code.co_filename)
        file = str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else code.co_filename
        found[file, f"{code.co_qualname}:{code.co_firstlineno}"] += 1
    return [(*key, count) for key, count in sorted(found.items())]


def main() -> int:
    sys.stdout = sys.stderr  # for what the tray prints
    # The tray looks at its sources at most once a second, however many events come: no single event pays for that.
    source_refresh.REFRESH_SECONDS = NEVER
    Calls()
    return start(locate(sys.argv[1]), headless=True)


if __name__ == "__main__":
    sys.exit(main())
