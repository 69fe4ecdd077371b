"""What the journal adds up to: hooks' runs, decisions by hour, sessions, agents. Read only.

What `hooktray test` sent is left out. Charts look at the newest rows only, so that none of a long journal takes
long; `hooks` and `agents` look at all since a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import msgspec

from tray.model.decision import Status, Verdict
from tray.model.event import PROBE_PREFIX
from tray.store.db import Database

MAX_ROWS = 20_000
MAX_RUN_ROWS = 5_000  # each of them may hold many runs
MAX_AGENTS = 100  # a caller may name any
HOUR = 3600.0
NEWEST = "test = 0 AND seq > (SELECT coalesce(max(seq), 0) FROM journal) - :rows"
SELECT_RUNS = (
    "SELECT json_extract(value, '$.name') AS name, json_extract(value, '$.status') AS status,"
    " json_extract(value, '$.ms') AS ms, at FROM journal, json_each(hooks)"
    " WHERE test = 0 AND hooks <> '[]' AND at >= :since"
)


class HourCount(msgspec.Struct, frozen=True):
    """So many decisions of one verdict in the hour that began at `hour`."""

    hour: float
    verdict: Verdict
    count: int


class HookRun(msgspec.Struct, frozen=True):
    """One run of a hook, as far as charts need it."""

    hook: str
    status: str
    ms: float
    at: float

    @property
    def failed(self) -> bool:
        return self.status in (Status.FAILED, Status.TIMED_OUT)


class HookSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One hook's runs; times are milliseconds of those that ran."""

    hook: str
    runs: int
    failed: int
    timed_out: int
    skipped: int
    p50: float
    p95: float


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One session of an agent, as far as the journal reaches."""

    agent: str
    session: str
    project: str
    first: float
    last: float
    count: int
    denied: int
    asked: int


class AgentActivity(msgspec.Struct, frozen=True, kw_only=True):
    """The last event of one agent."""

    agent: str
    at: float
    decision: str  # its id
    project: str
    count: int  # its decisions of the last day


class Statistics:
    """Each question is one query on the caller's thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hours(self, since: float) -> list[HourCount]:
        """Decisions by hour and verdict, oldest first."""
        sql = (
            "SELECT cast(at / :hour AS INTEGER) AS hour, verdict, count(*) AS count FROM journal"
            f" WHERE {NEWEST} AND at >= :since GROUP BY 1, 2 ORDER BY 1, 2"
        )
        found = self._rows(sql, {"hour": HOUR, "since": since, "rows": MAX_ROWS})
        return [HourCount(hour * HOUR, Verdict(verdict), count) for hour, verdict, count in found]

    def hook_runs(self, since: float, hook: str = "") -> list[HookRun]:
        """What hooks did, oldest first; skipped ones are left out."""
        sql = f"{SELECT_RUNS} AND {NEWEST} AND status <> 'skipped' AND :hook IN ('', name) ORDER BY seq"
        values = {"since": since, "rows": MAX_RUN_ROWS, "hook": hook}
        return [HookRun(name, status, ms or 0.0, at) for name, status, ms, at in self._rows(sql, values)]

    def hooks(self, since: float) -> list[HookSummary]:
        """All runs of each hook, by name."""
        runs: dict[str, list[tuple[str, float]]] = {}
        for name, status, ms, _ in self._rows(f"{SELECT_RUNS} ORDER BY name", {"since": since}):
            runs.setdefault(str(name), []).append((status, ms or 0.0))
        summaries = []
        for hook, found in runs.items():
            statuses = [status for status, _ in found]
            times = sorted(ms for status, ms in found if status != Status.SKIPPED)
            summaries.append(
                HookSummary(
                    hook=hook, runs=len(times), failed=statuses.count(Status.FAILED),
                    timed_out=statuses.count(Status.TIMED_OUT), skipped=statuses.count(Status.SKIPPED),
                    p50=percentile(times, 50), p95=percentile(times, 95),
                )
            )  # fmt: skip
        return summaries

    def agents(self, since: float) -> dict[str, dict[str, int]]:
        """How many decisions of each verdict each agent was given."""
        sql = (
            "SELECT agent, verdict, count(*) AS count FROM journal WHERE test = 0 AND at >= :since"
            " GROUP BY 1, 2 ORDER BY 1, 2"
        )
        counts: dict[str, dict[str, int]] = {}
        for agent, verdict, count in self._rows(sql, {"since": since}):
            counts.setdefault(agent, {one.word: 0 for one in Verdict})[Verdict(verdict).word] = count
        return counts

    def sessions(self, limit: int) -> list[SessionSummary]:
        """Those with the latest event come first."""
        sql = (
            "SELECT agent, session, max(project) AS project, min(at) AS first, max(at) AS last, count(*) AS count,"
            " sum(verdict = 3) AS denied, sum(verdict = 2) AS asked FROM journal"
            f" WHERE {NEWEST} AND session <> '' GROUP BY agent, session ORDER BY max(seq) DESC LIMIT :limit"
        )
        return [SessionSummary(**dict(row)) for row in self._rows(sql, {"rows": MAX_ROWS, "limit": limit})]

    def agent_names(self) -> list[str]:
        """The agents of all rows, as far as their names are plain words; in alphabetical order."""
        sql = (  # one look into the index for each, however many rows there are
            "WITH RECURSIVE found(agent) AS (SELECT min(agent) FROM journal UNION ALL SELECT (SELECT min(agent)"
            " FROM journal WHERE agent > found.agent) FROM found WHERE found.agent IS NOT NULL LIMIT :limit)"
            " SELECT agent FROM found WHERE agent GLOB '[a-z]*' AND NOT agent GLOB '*[^a-z0-9-]*'"
        )
        return [row["agent"] for row in self._rows(sql, {"limit": MAX_AGENTS})]

    def agent_activity(self, agents: Sequence[str], since: float) -> list[AgentActivity]:
        """The agents that ever sent an event, our own events excluded."""
        theirs = f"agent = :agent AND NOT test AND session NOT GLOB '{PROBE_PREFIX}*'"
        last = f"SELECT id, at, project FROM journal WHERE {theirs} ORDER BY seq DESC LIMIT 1"
        sql = f"SELECT count(*) FROM journal WHERE {NEWEST} AND {theirs} AND at >= :since"
        found = []
        with self._database.connect() as connection:
            for agent in agents:
                row = connection.execute(last, {"agent": agent}).fetchone()
                if row is None:
                    continue
                count = connection.execute(sql, {"agent": agent, "since": since, "rows": MAX_ROWS}).fetchone()[0]
                found.append(
                    AgentActivity(agent=agent, at=row["at"], decision=row["id"], project=row["project"], count=count)
                )
        return sorted(found, key=attrgetter("at"), reverse=True)

    def _rows(self, sql: str, values: dict[str, object]) -> list:  # type: ignore[type-arg]
        with self._database.connect() as connection:
            return connection.execute(sql, values).fetchall()


def percentile(times: Sequence[float], share: int) -> float:
    """Of sorted times the nearest rank: one that was really measured; 0 of none."""
    return times[max(0, -(-share * len(times) // 100) - 1)] if times else 0.0
