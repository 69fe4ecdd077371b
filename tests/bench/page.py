"""docs/performance.md, and the line of the README that comes from it."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.scenes import SCENES, Idle, Row, idle, nothing_matches

ROOT = Path(__file__).parents[2]
HEAD = """\
# How fast it is

Written by `.venv/bin/python tests/bench --write`, never by hand. All candidates of a table took turns in one run,
2 ms apart. A time is that of whole processes, from the spawn to the end of output and exit, with a payload
of 2 KB. Times depend on the machine, so look at the ratios; a machine that does something else at the same time makes
them worse, much so when its load is above the number of cores. `tests/bench --gate` holds ratios, and CI runs it: of
`sh -c :` at most 0.8 in the exec form, with hooks on and off, and 1.6 for 32 events at once; no more than 1.15 of an
empty home once much has piled up; the best of at most three tries counts. Three stand at their border, and a machine
with something else to do misses them: 1.6 in the shell form, with hooks on and off (1.54 to 1.68 in single tries; a
shell and a relay are 1.27 by themselves, before a server in Python that answers unread), and at most 2.1 ms, or 0.8
of its own run, added to a hook (0.87 to 1.05 of that). They fail from 1.76 and 1.15 on.
With 15 ms between two runs instead of 2, everything takes longer: then the shell form is 1.51 to 1.56, the exec form
0.80 to 0.82. A processor that has slept for 3 ms takes five times as long for the same lines of Python, since all
that they touch comes from memory again; so what is saved on the way to an answer is steps and bytes.
`--write --peer PATH` adds a hook of another project, from a checkout of yours, to the first table.

"Exec form": the agent starts the relay itself. "Shell form": `sh -c "exec hooktray-relay …"`.

"""
MARK = re.compile(r"<!-- speed -->.*?<!-- /speed -->", re.DOTALL)


def write(others: Sequence[Path] = ()) -> None:
    """`others`: hooks of other projects, to be compared where nothing matches."""
    tables = {}
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as folder:
            tables[scene] = nothing_matches(Path(folder), others) if scene is nothing_matches else scene(Path(folder))
            print(f"## {scene.__doc__}\n\n{table(tables[scene])}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        resting = idle(Path(folder))
    text = HEAD + f"Measured on {machine()}.\n\n"
    text += "".join(f"## {scene.__doc__}\n\n{table(found)}\n" for scene, found in tables.items())
    (ROOT / "docs" / "performance.md").write_text(text + at_rest(resting), encoding="utf-8")
    readme = ROOT / "README.md"
    line = f"<!-- speed -->{speed(tables[SCENES[0]])}<!-- /speed -->"
    readme.write_text(MARK.sub(lambda _: line, readme.read_text(encoding="utf-8")), encoding="utf-8")


def table(found: Iterable[Row]) -> str:
    lines = ["| what | N | p50 ms | p99 ms | ratio |", "| --- | --- | --- | --- | --- |"]
    for row in found:
        times = row.times
        ratio = f"{row.ratio:.2f} x {row.base}" if row.base and row.base != row.what else ""
        lines.append(
            f"| {row.what} | {len(times.seconds)} | {times.p50 * 1000:.2f} | {times.p99 * 1000:.2f} | {ratio} |"
        )
    return "\n".join(lines) + "\n"


def at_rest(found: Iterable[Idle]) -> str:
    lines = ["## Nothing happens, for 30 seconds", "", "| the tray | wake-ups | CPU ms | memory MB |"]
    lines += ["| --- | --- | --- | --- |"]
    lines += [f"| {one.what} | {one.wakeups} | {one.cpu:.1f} | {one.memory:.0f} |" for one in found]
    return "\n".join(lines) + "\n"


def speed(found: Iterable[Row]) -> str:
    ratios = {row.what: row.ratio for row in found}
    peers = [ratio for what, ratio in ratios.items() if "by hand" in what]
    return (
        f"An event that no hook matches costs {ratios['relay, exec form']:.1f} times what `sh -c :` costs"
        f" ({ratios['relay, shell form']:.1f} times through a shell), where a hook of a few lines written by hand"
        f" costs {min(peers):.0f} to {max(peers):.0f} times as much."
    )


def machine() -> str:
    load = os.getloadavg()[0]
    python = platform.python_version()
    return f"{platform.system()}, {os.cpu_count()} cores, Python {python}, at a load of {load:.0f} from elsewhere"
