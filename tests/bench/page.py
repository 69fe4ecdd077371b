"""docs/generated/performance.md, and the line of the README that comes from it."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.gate import BOUNDS
from bench.resting import Idle, idle
from bench.scenes import SCENES, Row, nothing_matches

ROOT = Path(__file__).parents[2]
HEAD = """\
# How fast it is

Written by `.venv/bin/python tests/bench --write`, never by hand. All candidates of a table took turns in one run,
each round in another order, 2 ms apart where nothing else is said. A time is that of whole processes, from the spawn
to the end of output and exit, with a payload of 2 KB. Times depend on the machine, so look at the ratios; a machine
that does something else at the same time makes them worse, much so when its load is above the number of cores. Of
fewer than 100 runs the longest stands in the place of p99. `--write --peer PATH` adds a hook of another project, from
a checkout of yours, to the first table.

"Shell form": `sh -c` and the line that `connect` writes, which is what an event costs on Linux and macOS. "Exec
form": the relay started without a shell; docs/connect.md says why agents are not told to do so.

## Where the time of an event goes

The ideal tray in C makes four system calls for an event and decides nothing. Ours makes those that
`tests/counts/budgets.py` has, and about a hundred calls of Python functions, most of them before its answer leaves:
it looks at who called, recognises the agent, protects itself and looks for hooks. All of it is computing in one
thread: no other thread is woken before the answer, and no file is read. A third of it reads the frame, a third parses
the payload, recognises the agent and builds the event, and the rest is self-protection, the gates and the answer.
The switch spares only the plan, so an event while it is off takes nearly as long. The same
event again and again, without a pause, takes half of that: between two events other programs fill the processor's
caches. A server in Python that answers at once takes 1.1 to 1.2 times as long as the ideal tray in exec form.

One acceptor or two instead of eight, and a heap in huge pages, changed nothing that could be measured.

A large payload costs what each pass over it costs, most of all where a pass fills memory that is new: to get 10 MB in
pages of 4 KB takes 4.8 ms of processor time, in large ones 1.4, and to copy them 1.5. The relay gets the pages of its
input many at a time, those above 1 MB as large ones, and asks for a larger buffer of the socket, so that it waits for
the tray less often. The tray receives the body into the one place where it stays, looks at it without a copy, and
makes each long text out of it in one pass. In processor time the tray reads the JSON of 10 MB of text in 25 ms (half
of them in the decoder, the other half in a count of brackets) and receives it in up to 7; the relay takes 4 to 5.
Work after the answer delays an event that comes within milliseconds. Most of that work is the look for secrets in the
first 80 KB, which takes 1 ms of plain text and several times as long of source code.

Of a payload of 10 MB of numbers nearly all of the time is that of the JSON decoder: 0.7 s, most of it in a check of
each number's length. Python's lock is free between two numbers or objects, and held while the decoder reads texts or
lists: 0.1 s for 10 MB of short texts, 1.2 s for 10 MB of empty lists in a list, during which other events wait.

A thread in C that answers events about which nobody is asked, in the tray's process and without Python's lock, was
built as an experiment and took turns with the others, in three runs of 60 to 120 rounds on a machine with other work.
With no work after its answer it took up to 0.12 times `sh -c :` longer than the ideal. With the engine judging each
event right after its answer, as the journal needs it, it was 0.13 to 0.24 times `sh -c :` slower than the tray in two
runs, and faster in the third (shell form 0.22, exec form 0.55): the judging then competes with the agent, which goes
on at the same time. It would also answer before self-protection has looked, and need a reader of frames and of tables
in C. So it is not kept.

Without the tray an event starts Python, which loads about 90 modules of ours and 50 of its library. Of 56 ms (best of
60 events) the bare interpreter takes 10, its library 12, our modules 26: 6 to read their code, 4 to find their files,
the rest to make functions and classes. All the code in one file instead of one for each module was built as an
experiment: it took a twelfth less at most, and would be a second copy of the code, which can be out of date. So it is
not kept.

## What CI holds

Counts, which are the same on every machine, however busy it is: the system calls and the calls of Python functions
that one event takes, in `tests/counts/budgets.py`. `.venv/bin/python tests/counts` prints them.

## What a release holds

`tests/bench --gate`, which `.ci/full` runs on a machine that does nothing else; the best of at most three tries
counts. A ratio above its limit is printed as missed, and fails above the second number.

"""
MARK = re.compile(r"<!-- speed -->.*?<!-- /speed -->", re.DOTALL)


def write(others: Sequence[Path] = ()) -> None:
    """`others`: hooks of other projects, to be compared where nothing matches."""
    tables, measured_on = {}, machine()
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as folder:
            tables[scene] = nothing_matches(Path(folder), others) if scene is nothing_matches else scene(Path(folder))
            print(f"## {scene.__doc__}\n\n{table(tables[scene])}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        resting = idle(Path(folder))
    text = HEAD + gates() + f"\n## Measured on\n\n{measured_on}.\n\n"
    text += "".join(f"## {scene.__doc__}\n\n{table(found)}\n" for scene, found in tables.items())
    (ROOT / "docs" / "generated" / "performance.md").write_text(text + at_rest(resting), encoding="utf-8")
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


def gates() -> str:
    lines = ["| ratio | limit | fails above |", "| --- | --- | --- |"]
    lines += [f"| {one.name} | {one.limit:.2f} | {one.limit * one.slack:.2f} |" for one in BOUNDS]
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
        f"An event that no hook matches costs {ratios['relay, shell form']:.1f} times what `sh -c :` costs"
        f" (the relay without a shell {ratios['relay, exec form']:.1f} times), where a hook of a few lines written by"
        f" hand costs {min(peers):.0f} to {max(peers):.0f} times as much."
    )


def machine() -> str:
    """Before anything is measured: the load is that of others."""
    load = os.getloadavg()[0]
    python = platform.python_version()
    return (
        f"{platform.system()}, {os.cpu_count()} cores, Python {python}, at a load of {load:.1f} before the first run"
    )
