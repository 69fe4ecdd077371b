"""The results that are kept, and docs/torture.md, which is made of them."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ".ci" / "results" / "torture"
PAGE = ROOT / "docs" / "torture.md"
HEAD = """\
# Torture

Programs that attack what we ship, with counts, and with controls: the same thing without its defence, which has to
fall each time. CI runs the quick form of each; `python tests/torture --full T11` runs one in full, and `--save` keeps
its result. This table is made of what was kept.

| | what is attacked | form | inputs | faults | lost | wrong | controls beaten | seconds |
| --- | --- | --- | --: | --: | --: | --: | --: | --: |
"""
COLUMNS = ("id", "title", "form", "inputs", "faults", "lost", "wrong", "controls_beaten", "seconds")


def keep(result: dict[str, object]) -> None:
    """Keep one result, and write the page again."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{result['id']}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    rows = [f"| {' | '.join(_cell(result[name]) for name in COLUMNS)} |" for result in results]
    not_run = [f"- {result['id']}: {what}" for result in results for what in result["not_run"]]
    measured = [f"- {result['id']}: {what}" for result in results for what in result.get("measured", ())]
    rows += ["", "Measured:", "", *measured] if measured else []
    tail = ["", "Not run where these results come from:", "", *not_run] if not_run else []
    return HEAD + "\n".join([*rows, *tail]) + "\n"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
