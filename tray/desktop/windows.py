"""What Windows wants. Not run by our tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def open_file(path: Path) -> None:
    """In the program that Windows has for this kind of file."""
    if sys.platform == "win32":
        os.startfile(path)
