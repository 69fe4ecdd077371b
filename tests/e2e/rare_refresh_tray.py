"""A tray that looks at its sources once an hour while events come in: python rare_refresh_tray.py --home DIR run."""

from __future__ import annotations

import sys

from tray.app import source_refresh, start
from tray.paths import locate

if __name__ == "__main__":
    source_refresh.REFRESH_SECONDS = 3600.0
    sys.exit(start.run(locate(sys.argv[2])))
