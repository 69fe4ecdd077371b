"""Runs torture programs: `python tests/torture [--quick | --full] [--save] [T03 …]`; exit 1 when one did not hold."""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


def main() -> int:
    from torture import table
    from torture.frame import programs, run

    logging.getLogger().addHandler(logging.NullHandler())  # what the product logs of an attack is no news here

    parser = argparse.ArgumentParser(prog="python tests/torture", description=__doc__)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="few of each, as in CI (default)")
    form.add_argument("--full", action="store_true", help="all of them, by hand")
    parser.add_argument(
        "--save", action="store_true", help="keep the results, and write docs/generated/torture.md out of them"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of the full counts: 0.1 is a tenth")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once, each in a process of its own")
    parser.add_argument("ids", nargs="*", metavar="TNN", help="which; default: all")
    chosen = parser.parse_args()
    try:
        wanted = programs([id.upper() for id in chosen.ids])
    except KeyError as error:
        parser.error(f"there is no torture program {error}")
    note = table.keep if chosen.save else lambda _: None
    if chosen.jobs > 1:
        options = [f"--{form}" for form in ("quick", "full") if getattr(chosen, form)]
        return together([program.id for program in wanted], [*options, f"--share={chosen.share}"], chosen.jobs, note)
    # All of them, whatever the first one says.
    held = [run(program, full=chosen.full, share=chosen.share, note=note) for program in wanted]
    return 0 if all(held) else 1


def together(ids: list[str], options: list[str], jobs: int, note: Callable[[dict[str, object]], object]) -> int:
    """Several at once: most of their time is waiting."""

    def one(id: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, __file__, *options, id], capture_output=True, text=True, check=False)

    held = True
    with ThreadPoolExecutor(jobs) as pool:
        for ended in as_completed([pool.submit(one, id) for id in ids]):
            done = ended.result()
            print(done.stdout, done.stderr, sep="", end="", flush=True)
            for line in done.stdout.splitlines():
                if line.startswith("{"):
                    note(json.loads(line))
            held = held and done.returncode == 0
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
