"""How fast it is: `.venv/bin/python tests/bench --gate` holds the bounds, `--write` fills the page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.gate import BOUNDS, measure
from bench.page import write


def gate() -> int:
    found, failed = measure(), 0
    for bound in BOUNDS:
        best = min(found[bound.name])
        failed += best > bound.limit * bound.slack
        sign = "ok" if best <= bound.limit else "missed" if best <= bound.limit * bound.slack else "TOO SLOW"
        tries = " ".join(f"{ratio:.2f}" for ratio in found[bound.name])
        print(f"{sign:9} {bound.name:52} {best:5.2f} <= {bound.limit:.2f}   ({tries})")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/bench", description=__doc__)
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--gate", action="store_true", help="exit 1 when a ratio is over its bound")
    form.add_argument(
        "--write", action="store_true", help="measure everything, and write docs/generated/performance.md"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="with --write: a hook in a checkout of yours",
    )
    chosen = parser.parse_args()
    for hook in chosen.peer:
        if not hook.is_file():
            parser.error(
                f"--peer {hook}: there is no such file; name the hook itself, for example ~/peer/hooks/guard.py"
            )
    if chosen.gate:
        return gate()
    write([hook.resolve() for hook in chosen.peer])
    return 0


if __name__ == "__main__":
    sys.exit(main())
