"""A tray that gives hooks another time to finish when it quits.

python quick_tray.py SECONDS --home DIR run
"""

from __future__ import annotations

import sys

from tray.app.start import run
from tray.paths import locate

if __name__ == "__main__":
    sys.exit(run(locate(sys.argv[3]), grace=float(sys.argv[1])))
