"""What the journal adds up to since a moment: each hook's turns, each agent's answers. Tests are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tray.model.decision import Status, Verdict
from tray.store.db import Database

TURNS = (
    "SELECT json_extract(value, '$.name') AS hook, json_extract(value, '$.status') AS status,"
    " json_extract(value, '$.ms') AS ms FROM journal, json_each(hooks)"
    " WHERE test = 0 AND at >= ? AND hooks <> '[]' ORDER BY 1"
)
VERDICTS = (
    "SELECT agent, verdict, count(*) AS count FROM journal WHERE test = 0 AND at >= ? GROUP BY 1, 2 ORDER BY 1, 2"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSum:
    """One hook's turns; times are milliseconds of those that ran."""

    hook: str
    runs: int
    failed: int
    timed_out: int
    skipped: int
    p50: float
    p95: float


class Sums:
    """Each question is one query on the caller's thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hooks(self, since: float) -> list[HookSum]:
        """By name."""
        turns: dict[str, list[tuple[str, float]]] = {}
        with self._database.connect() as connection:
            for row in connection.execute(TURNS, (since,)):
                turns.setdefault(str(row["hook"]), []).append((row["status"], row["ms"] or 0.0))
        return [_sum(hook, found) for hook, found in turns.items()]

    def agents(self, since: float) -> dict[str, dict[str, int]]:
        """How many decisions of each verdict each agent was given."""
        counts: dict[str, dict[str, int]] = {}
        with self._database.connect() as connection:
            for row in connection.execute(VERDICTS, (since,)):
                known = counts.setdefault(row["agent"], {verdict.word: 0 for verdict in Verdict})
                known[Verdict(row["verdict"]).word] = row["count"]
        return counts


def _sum(hook: str, turns: Sequence[tuple[str, float]]) -> HookSum:
    of = [status for status, _ in turns]
    times = sorted(ms for status, ms in turns if status != Status.SKIPPED)
    return HookSum(
        hook=hook,
        runs=len(times),
        failed=of.count(Status.FAILED),
        timed_out=of.count(Status.TIMED_OUT),
        skipped=of.count(Status.SKIPPED),
        p50=percentile(times, 50),
        p95=percentile(times, 95),
    )


def percentile(times: Sequence[float], share: int) -> float:
    """The nearest rank: a time that was really measured; 0 of none."""
    return times[max(0, -(-share * len(times) // 100) - 1)] if times else 0.0
