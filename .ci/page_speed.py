"""Times the page over a journal of 1,000,000 decisions; writes .ci/results/page.json. By hand, from .ci/full."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from house import House  # noqa: E402
from page.site import ROW, Site, status  # noqa: E402

from tray.model.decision import Record, Verdict  # noqa: E402
from tray.store import rows  # noqa: E402

ROWS, TIMES, LIMIT = 1_000_000, 200, 50.0  # milliseconds
PAYLOAD = json.dumps({"tool_name": "Bash", "tool_input": {"command": "x" * 600}})
PATHS = {"latest 50": "/", "50 in the middle": f"/?before={ROWS // 2:032x}", "one agent": "/?agent=shelley"}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, closing(House(Path(folder))) as house, closing(Site(house)) as site:
        with house.stores.database.write() as connection:
            connection.executemany(rows.INSERT, map(rows.values, _records()))
        site.enter()
        found = {name: _time(site, path) for name, path in PATHS.items()}
    result = {"rows": ROWS, "requests each": TIMES, "limit p50 ms": LIMIT, "pages": found}
    path = ROOT / ".ci" / "results" / "page.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(path.read_text())
    return int(found["latest 50"]["p50 ms"] >= LIMIT)


def _records() -> Iterator[Record]:
    turn = {"name": "guard", "status": "ok", "verdict": "abstain", "reason": "", "cause": "", "ms": 4.0}
    for number in range(ROWS):
        agent = "shelley" if number % 10 == 0 else "claude-code"
        verdict = Verdict.DENY if number % 50 == 0 else Verdict.ABSTAIN
        yield replace(
            ROW, id=f"{number:032x}", at=float(number), agent=agent, verdict=verdict, hooks=(turn,), payload=PAYLOAD
        )


def _time(site: Site, path: str) -> dict[str, float]:
    """A whole request on a connection of its own, until its last byte is there."""
    taken = []
    for _ in range(TIMES):
        started = time.perf_counter()
        answer = site.get(path)
        taken.append((time.perf_counter() - started) * 1000)
        assert status(answer) == 200
        assert answer.count(b"data-id=") == 50
    return {"p50 ms": round(statistics.median(taken), 2), "p95 ms": round(sorted(taken)[int(TIMES * 0.95)], 2)}


if __name__ == "__main__":
    raise SystemExit(main())
