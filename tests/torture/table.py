"""The results that are kept, and docs/generated/torture.md, which is made of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ".ci" / "results" / "torture"
QUICK = RESULTS / "quick.json"  # seconds of each quick form
PAGE = ROOT / "docs" / "generated" / "torture.md"
README = ROOT / "README.md"
MARK = re.compile(r"<!-- torture -->.*?<!-- /torture -->", re.DOTALL)
HEAD = """\
# Torture

These programs attack Hooktray and count the results. Each also attacks a control, the same thing without its defence,
where the attack must succeed. CI runs the quick form of each program. `python tests/torture --full T11` runs one in
full; `--save` keeps its result. This table shows the kept results.

"Cut down" means that each count was multiplied by the share in brackets, but not below the count of the quick form.
Where two counts multiply, the number of inputs fell by more than that share; the inputs column has what was run.
Time limits allow for a loaded machine: T09 allows 4 s more, the quick form of T14 3 s. T15 and T16 limit processor
time, because elapsed time depends on what else the machine does: 100 ms for a pattern, 800 ms for a document. T16
allows large documents more than 64 MiB. The last column has the seconds of the quick form, {total} s in all.

| | what is attacked | form | inputs | faults | lost | wrong | controls beaten | seconds | quick |
| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |
"""
COLUMNS = ("id", "title", "form", "inputs", "faults", "lost", "wrong", "controls_beaten", "seconds", "quick")


def keep(result: dict[str, object]) -> None:
    """Keep one result, and write the page and the README's line again; a quick one takes no full one's place."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{result['id']}.json"
    if result["form"] == "quick":
        times = {**_times(), str(result["id"]): result["seconds"]}
        QUICK.write_text(json.dumps(dict(sorted(times.items())), indent=1) + "\n", encoding="utf-8")
    if result["form"] == "full" or not path.exists() or json.loads(path.read_text())["form"] == "quick":
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(MARK.sub(lambda _: line(), README.read_text(encoding="utf-8")), encoding="utf-8")


def _times() -> dict[str, float]:
    return dict(json.loads(QUICK.read_text(encoding="utf-8"))) if QUICK.exists() else {}


def line() -> str:
    """The README's sentence, between its marks."""
    found = kept()
    inputs, faults, lost, wrong, beaten = (sum(int(result[name]) for result in found) for name in COLUMNS[3:8])
    bad = f"{lost} events lost, {wrong} answered wrong" if lost or wrong else "no event lost, none answered wrong"
    said = f"{len(found)} kinds of attack, {inputs:,} inputs, {faults:,} faults: {bad}."
    said += f" The same without its defence fell {beaten} times."
    return f"<!-- torture -->{said}<!-- /torture -->"


def kept() -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("T*.json"))]


def page() -> str:
    times = _times()
    results = [{**one, "form": _form(one), "quick": times.get(str(one["id"]), "")} for one in kept()]
    rows = [f"| {' | '.join(_cell(result[name]) for name in COLUMNS)} |" for result in results]
    not_run = [f"- {result['id']}: {what}" for result in results for what in result["not_run"]]
    measured = [f"- {result['id']}: {what}" for result in results for what in result.get("measured", ())]
    rows += ["", "Measured:", "", *measured] if measured else []
    tail = ["", "Not run where these results come from:", "", *not_run] if not_run else []
    return HEAD.replace("{total}", f"{sum(times.values()):.0f}") + "\n".join([*rows, *tail]) + "\n"


def _form(result: dict[str, object]) -> object:
    """The form, and the share where it was cut down: a factor of each single count, not of the inputs."""
    share = float(str(result.get("share", 1)))
    return f"full, cut down ({share:g})" if result["form"] == "full" and share < 1 else result["form"]


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
