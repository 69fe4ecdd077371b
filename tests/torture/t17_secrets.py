"""T17: secrets in what agents and hooks say: none reaches the disk, an alert or a log, and clean lines stay whole."""

from __future__ import annotations

import io
import json
import logging
import random
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from house import PRE_TOOL_USE, House
from secrets_table import BASE62, CLEAN, NAMED, PLACEMENTS, SHAPES, any_of

from torture.frame import Tally
from tray.notify.policy import alerts
from tray.text import redact

TITLE = "secrets on their way to the disk and the screen"
TOLD = 40  # secrets in one payload


def torture(tally: Tally) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    house = House(tally.folder / "house")
    try:
        house.hook("echo", on="tool_before", script="cat >&2; exit 2", dialect="claude-code")
        _through(tally, house, said)
    finally:
        house.close()
        logging.getLogger().removeHandler(handler)
    _clean(tally)
    _control(tally)


def _through(tally: Tally, house: House, said: io.StringIO) -> None:
    placed = list(_placed(random.Random(17), tally.many(1, 25)))
    shown: list[str] = []
    for start in range(0, len(placed), TOLD):
        some = placed[start : start + TOLD]
        command = "\n".join(text for _, _, text in some)
        payload = {**PRE_TOOL_USE, "tool_input": {"command": command}, "prompt": some[0][2], "message": some[-1][2]}
        house.relay("claude-code", "PreToolUse", payload)
        event, decision, record = house.decisions[-1]
        shown += [f"{one.title}\n{one.body}" for one in alerts(event, decision)]
        if not record.masked:
            tally.lost.append(f"batch {start}: nothing was said to be masked")
    house.join()
    house.stores.journal.close()
    kept = {path.name: path.read_bytes() for path in _files(house)}
    kept |= {"alerts": "\n".join(shown).encode(), "log": said.getvalue().encode()}
    everything = b"\n".join(kept.values())
    for kind, secret, _ in placed:
        where = [name for name, content in kept.items() if secret.encode() in content]
        tally.attack(f"{kind} in {where}", secret.encode() not in everything)


def _placed(dice: random.Random, times: int) -> Iterator[tuple[str, str, str]]:
    for _ in range(times):
        for kind, make in SHAPES.items():
            for place, put in PLACEMENTS.items():
                secret = make(dice)
                yield f"{kind} ({place})", secret, put(secret)
        for place, put in NAMED.items():
            secret = any_of(dice, BASE62, 22) + "7q"
            yield f"named ({place})", secret, put(secret)


def _files(house: House) -> list[Path]:
    """Everything below the state but the approved copies, which hold what the person wrote."""
    found = (path for path in house.paths.state.rglob("*") if path.is_file() and path.name.startswith("hooktray.db"))
    return [*found, *(path for path in house.paths.logs.rglob("*") if path.is_file())]


def _clean(tally: Tally) -> None:
    """At most one clean line in a hundred may be masked for nothing."""
    lines = [line for line in CLEAN if line.strip()]
    count = tally.many(500, 5000)
    masked = sum(bool(redact(f"{lines[i % len(lines)]} {i}").masks) for i in range(count))
    tally.inputs += count
    tally.keep(f"{masked} of {count} clean lines were masked", masked * 100 <= count)


# What others look for: a telling word, a sign, and the value behind it.
BESIDE = re.compile(r"(?i)\b(password|passwd|secret|token|api_?key)\b\s*[:=]\s*\S+")


class Naive:
    """A journal whose writer redacts by context alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with sqlite3.connect(path) as plain:
            plain.execute("CREATE TABLE journal (payload TEXT)")
        plain.close()

    def append(self, payloads: Iterable[Mapping[str, str]]) -> None:
        texts = ((BESIDE.sub(r"\1=***", json.dumps(payload)),) for payload in payloads)
        with sqlite3.connect(self.path) as plain:
            plain.executemany("INSERT INTO journal VALUES (?)", texts)
        plain.close()


def _control(tally: Tally) -> None:
    """The same secrets in the same places, in such a journal, and the same search."""
    naive = Naive(tally.folder / "plain.db")
    placed = list(_placed(random.Random(17), 1))
    naive.append({"command": text} for _, _, text in placed)
    content = naive.path.read_bytes()
    found = {kind.rpartition(" (")[0] for kind, secret, _ in placed if secret.encode() in content}
    tally.control("a journal that knows telling words only", found >= {*SHAPES, "named"})
    tally.measured.append(f"a journal that knows telling words only keeps {len(found)} of {len(SHAPES) + 1} kinds")
