"""Writes docs/fidelity.md from the dialects' own tables: `.venv/bin/python docs/fidelity.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tray.dialects.fidelity import Row, rows

HEAD = """\
# What each event can carry

Written by `docs/fidelity.py` from the dialects' own tables; a test fails when it is out of date.

A hook may say deny, ask, allow, rewrite something, add context, stop the agent, ask for a retry. What an event of an
agent can carry is *carried*. What it cannot becomes *stricter*: it is made a denial. What is left is *dropped*, and
the journal says so. An event that carries nothing is observe-only: the agent is answered at once.

One event has no neutral answer: `WorktreeCreate` of Claude Code makes no worktree unless a hook prints its path
(docs/turns.md).
"""


def page() -> str:
    parts = [HEAD]
    for agent, events in groupby(rows(), key=lambda row: row.agent):
        parts += [f"\n## {agent}\n\n", *_table(events)]
    return "".join(parts)


def _table(events: Iterable[Row]) -> Iterator[str]:
    yield "| event | as hooks know it | carried | made a denial | seconds |\n| --- | --- | --- | --- | --- |\n"
    for row in events:
        carried = ", ".join((*row.carried, *(f"`{extra}`" for extra in row.extras))) or "observe-only"
        stricter = ", ".join(row.stricter) or "none"
        yield f"| `{row.event}` | `{row.kind}` | {carried} | {stricter} | {row.timeout:g} |\n"


if __name__ == "__main__":
    (Path(__file__).parent / "fidelity.md").write_text(page(), encoding="utf-8")
