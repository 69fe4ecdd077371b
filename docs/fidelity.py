"""Writes docs/generated/fidelity.md from the dialects' own tables: `.venv/bin/python docs/fidelity.py`."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from agents.fidelity import FidelityPair, FidelityRow, pairs, rows

from tray.agents.registry import AGENTS

HEAD = """\
# What each event can carry

Written by `docs/fidelity.py` from the dialects' own tables; a test fails when it is out of date.

A hook may say deny, ask, allow, rewrite something, add context, stop the agent, ask for a retry. What an event of an
agent can carry is *carried*. What it cannot becomes *stricter*: it is made a denial. What is left is *dropped*, and
the journal says so. An event that carries nothing is observe-only: the agent is answered at once.

Behind each agent's events stands what becomes of a hook's words there, for hooks of each dialect: the event's name as
such a hook hears it, and of all that it can say of that event what is carried, made a denial, or dropped.

One event has no neutral answer: `WorktreeCreate` of Claude Code makes no worktree unless a hook prints its path
(docs/turns.md).
"""


def page() -> str:
    parts = [HEAD]
    found: defaultdict[tuple[str, str], list[FidelityPair]] = defaultdict(list)
    for pair in pairs():
        found[pair.agent, pair.dialect].append(pair)
    for agent, events in groupby(rows(), key=lambda row: row.agent):
        parts += [f"\n## {agent}\n\n", *_table(events)]
        for dialect in AGENTS:
            parts += [f"\n### Hooks of {dialect} on {agent}\n\n", *_pairs(found[agent, dialect])]
    return "".join(parts)


def _table(events: Iterable[FidelityRow]) -> Iterator[str]:
    yield "| event | as hooks know it | carried | made a denial | dropped | seconds |\n"
    yield "| --- | --- | --- | --- | --- | --- |\n"
    for row in events:
        carried = ", ".join((*row.carried, *(f"`{extra}`" for extra in row.extras))) or "observe-only"
        lost = f"{_words(row.stricter)} | {_words(row.dropped)}"
        yield f"| `{row.event}` | `{row.kind}` | {carried} | {lost} | {row.timeout:g} |\n"


def _pairs(found: Iterable[FidelityPair]) -> Iterator[str]:
    yield "| event | the hook hears | carried | made a denial | dropped |\n| --- | --- | --- | --- | --- |\n"
    for pair in found:
        became = " | ".join(map(_words, (pair.carried, pair.stricter, pair.dropped)))
        yield f"| `{pair.event}` | `{pair.hook_event_name}` | {became} |\n"


def _words(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


if __name__ == "__main__":
    (Path(__file__).parent / "generated" / "fidelity.md").write_text(page(), encoding="utf-8")
