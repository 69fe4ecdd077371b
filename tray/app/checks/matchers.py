"""Matchers that kept their hook out of everything that happened lately."""

from __future__ import annotations

from collections.abc import Iterator

from tray.app.checks.context import CheckContext
from tray.app.checks.finding import Cause, Finding
from tray.model.decision import Record
from tray.model.hook import Match

ROW_LIMIT = 1000  # events
MIN_EVENTS = 20  # events of its kind, below which a matcher that found nothing means nothing


def check(context: CheckContext) -> Iterator[Finding]:
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
        values = {"keys": keys, "n": len(since), "source": one.hook.source}
        yield Finding(cause=Cause.MATCHER_NEVER, name=one.hook.name, values=values)


def _matches(match: Match, row: Record) -> bool:
    if match.agents and row.agent not in match.agents:
        return False
    return match.event in (row.kind, row.event)
