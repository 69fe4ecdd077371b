"""Matchers that kept their hook out of everything that happened lately."""

from __future__ import annotations

from collections.abc import Iterator

from tray.app.doctor.case import Case
from tray.app.doctor.finding import Finding, attention
from tray.model.decision import Record
from tray.model.hook import Match

LATEST = 1000  # events
ENOUGH = 20  # events of its kind, below which a matcher that found nothing means nothing


def check(case: Case) -> Iterator[Finding]:
    """A rare thing may be what a guard waits for; a slip in the pattern looks the same, so it is worth a look."""
    wanted = [one for one in case.kept.ledger.in_order() if one.hook.match.tool or one.hook.match.pattern]
    rows = [row for row in case.kept.journal.recent(LATEST) if not row.test] if wanted else []
    for one in wanted:
        since = [row for row in rows if row.at >= one.at and _asks(one.hook.match, row)]
        asked = any(hook.get("name") == one.hook.name for row in since for hook in row.hooks)
        if len(since) < ENOUGH or asked:
            continue
        keys = " and ".join(
            f"`{key}: {value}`"
            for key, value in (("tool", one.hook.match.tool), ("matcher", one.hook.match.pattern))
            if value
        )
        said = f"{keys} matched none of the latest {len(since)} events of its kind"
        yield attention("matcher", one.hook.name, said, f"if that is a surprise, correct it in {one.hook.source}")


def _asks(match: Match, row: Record) -> bool:
    if match.agents and row.agent not in match.agents:
        return False
    return match.event in (row.kind, row.event)
