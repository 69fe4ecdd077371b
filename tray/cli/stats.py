"""`hooktray stats`: sums over the journal, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from tray.cli.tables import table
from tray.cli.views import clock
from tray.store.stats import Statistics


def stats_rows(statistics: Statistics, since: float, dropped: int) -> list[dict[str, object]]:
    """One row for each hook, one for each agent, and one for rows that were dropped."""
    hooks = [{"of": "hook", **asdict(one)} for one in statistics.hooks(since)]
    agents = [{"of": "agent", "agent": agent, **counts} for agent, counts in statistics.agents(since).items()]
    return [*hooks, *agents, {"of": "journal", "dropped": dropped}]


def print_stats(rows: Sequence[Mapping[str, object]], since: float) -> None:
    hooks = [row for row in rows if row["of"] == "hook"]
    agents = [row for row in rows if row["of"] == "agent"]
    if not agents:
        print(f"No decisions since {clock(since)}.")
    else:
        print(f"Since {clock(since)}:")
        heads = ("agent", "abstain", "allow", "ask", "deny", "unjudged")
        table(heads, [[str(row[head]) for head in heads] for row in agents])
    if hooks:
        names = ("hook", "runs", "failed", "timed_out", "skipped")
        titles = (*(name.replace("_", " ") for name in names), "p50", "p95")
        cells = [[*(str(row[name]) for name in names), _ms(row["p50"]), _ms(row["p95"])] for row in hooks]
        print()
        table(titles, cells)
    if dropped := rows[-1]["dropped"]:
        print(f"{dropped} decisions could not be written down.")


def _ms(ms: object) -> str:
    return f"{ms:.1f} ms"
