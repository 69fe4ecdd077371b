"""Runs every torture program, each in a process of its own: tests/torture/all --quick | --full [T02=0.1 …]

After --full it writes docs/torture.md. `T02=0.1` takes a tenth of a row's full counts; the table says so.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "docs" / "torture.md"
CAP = 900  # seconds for one row
HEAD = """# Attacked: what came out

Each row is a program below `tests/torture`. It attacks the real thing, and the same thing without its defence: a
control that must fall, or the attack has stopped attacking. *Lost* is what should have come out and did not, *wrong*
what should not have and did. This page is written by `tests/torture/all --full`; CI runs the quick form.

| Row | What is attacked | Inputs | Faults | Lost | Wrong | Controls fell | Of the full count |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def main(argv: list[str]) -> int:
    form = argv[0] if argv[:1] in (["--quick"], ["--full"]) else ""
    if not form:
        sys.exit(__doc__)
    shares = dict(word.upper().split("=") for word in argv[1:] if "=" in word)
    ids = [path.stem[:3].upper() for path in sorted(HERE.glob("t[0-9][0-9]_*.py"))]
    rows = [row(id, form, shares.get(id, "1")) for id in ids]
    if form == "--full":
        TABLE.write_text(page(rows), encoding="utf-8")
    return 0 if all(one and not one["lost"] and not one["wrong"] for one in rows) else 1


def row(id: str, form: str, share: str) -> dict[str, Any]:
    words = [sys.executable, str(HERE), form, "--share", share, id]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=CAP, check=False)
    except subprocess.TimeoutExpired:
        return {"id": id, "title": f"not over after {CAP} s", "lost": 0, "wrong": 1}
    print(done.stdout, end="", flush=True)
    found = next((line for line in done.stdout.splitlines() if line.startswith("{")), "")
    return json.loads(found) if found else {"id": id, "title": "broke off", "lost": 0, "wrong": 1}


def page(rows: list[dict[str, Any]]) -> str:
    lines = [HEAD]
    notes = []
    for one in rows:
        counts = (f"{one.get(name, 0):,}" for name in ("inputs", "faults", "lost", "wrong", "controls_beaten"))
        share = "quick form" if one.get("form") == "quick" else f"{one.get('share', 0) * 100:g} %"
        lines.append(f"| {one['id']} | {one['title']} | {' | '.join(counts)} | {share} |\n")
        notes += [f"- {one['id']}: not run here: {text}\n" for text in one.get("not_run", [])]
        notes += [f"- {one['id']}: {text}\n" for text in one.get("what", [])]
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores shared with other work"
    lines.append(f"\nMachine: {machine}, Python {'.'.join(platform.python_version_tuple()[:2])}.\n")
    return "".join([*lines, "\n" if notes else "", *notes])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
