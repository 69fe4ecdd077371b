"""Matchers that kept their hook out of everything that happened lately."""

from __future__ import annotations

from collections.abc import Iterator

from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, attention
from tray.model.decision import Record
from tray.model.hook import Match

ROW_LIMIT = 1000  # events
MIN_EVENTS = 20  # events of its kind, below which a matcher that found nothing means nothing


def check(context: CheckContext) -> Iterator[CheckResult]:
    """A rare thing may be what a guard waits for; a slip in the pattern looks the same, so it is worth a look."""
    wanted = [one for one in context.stores.ledger.in_order() if one.hook.match.tool or one.hook.match.pattern]
    rows = [row for row in context.stores.journal.recent(ROW_LIMIT) if not row.test] if wanted else []
    for one in wanted:
        since = [row for row in rows if row.at >= one.at and _matches(one.hook.match, row)]
        ran = any(hook.get("name") == one.hook.name for row in since for hook in row.hooks)
        if len(since) < MIN_EVENTS or ran:
            continue
        keys = " and ".join(
            f"`{key}: {value}`"
            for key, value in (("tool", one.hook.match.tool), ("matcher", one.hook.match.pattern))
            if value
        )
        message = f"{keys} matched none of the latest {len(since)} events of its kind"
        yield attention("matcher", one.hook.name, message, f"if that is a surprise, correct it in {one.hook.source}")


def _matches(match: Match, row: Record) -> bool:
    if match.agents and row.agent not in match.agents:
        return False
    return match.event in (row.kind, row.event)
