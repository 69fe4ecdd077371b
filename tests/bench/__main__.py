"""How fast it is: `.venv/bin/python tests/bench --gate` holds the bounds, `--write` fills the page."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.gate import BOUNDS, measure
from bench.page import write


def gate() -> int:
    found, failed = measure(), 0
    for bound in BOUNDS:
        best = min(found[bound.name])
        failed += best > bound.limit
        sign = "ok" if best <= bound.limit else "TOO SLOW"
        tries = " ".join(f"{ratio:.2f}" for ratio in found[bound.name])
        print(f"{sign:9} {bound.name:52} {best:5.2f} <= {bound.limit:.2f}   ({tries})")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--gate"]:
        sys.exit(gate())
    if sys.argv[1:] == ["--write"]:
        write()
        sys.exit(0)
    sys.exit(__doc__)
