"""T30: flipped and missing bytes in what we keep; what is not whole approves nothing, and the next start goes on."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path

from house import PRE_TOOL_USE, House

from torture.frame import Tally
from tray.app import Stores, engine, stores
from tray.engine.runners.command import Background
from tray.errors import HooktrayError
from tray.model.decision import Answer
from tray.model.event import Knock
from tray.paths import locate

TITLE = "damaged ledgers, journals and copies"
EVIL = "evil"


class Deaf:
    """Hears nothing."""

    def arrived(self, event: object, *, answered: bool) -> None: ...
    def decided(self, event: object, decision: object, record: object) -> None: ...
    def running(self, turn: str, text: str) -> None: ...
    def ended(self, turn: str) -> None: ...


def torture(tally: Tally) -> None:
    whole = _made(tally.folder / "whole")
    dice = random.Random(30)
    for number in range(tally.many(30, 1000)):
        root = tally.folder / "damaged"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(whole, root, symlinks=True)
        what = _damage(dice, root / "home" / "state")
        for start in (1, 2):
            tally.attack(f"{number}: {what}, start {start}", *_lives(root))
    _control(tally, whole)


def _made(root: Path) -> Path:
    house = House(root)
    house.hook("good", on="tool_before", script="echo good >&2; exit 2", dialect="claude-code")
    house.hook("evil", on="tool_before", script=f": >{root.parent / EVIL}", approved=False)
    standing = house.standing("good")
    house.consent.revoke(standing.key, "test")
    house.consent.approve(standing.key, house.standing("good").digest, "test")
    for number in range(20):
        house.tool(f"ls {number}")
    house.close()
    with sqlite3.connect(house.paths.database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return root


def _damage(dice: random.Random, state: Path) -> str:
    path = dice.choice([one for one in sorted(state.rglob("*")) if one.is_file() and one.stat().st_size])
    if dice.random() < 0.6:
        path = next(state.glob("hooktray.db"))
    path.chmod(0o600)
    path.parent.chmod(0o700)
    content = bytearray(path.read_bytes())
    kind = dice.choice(("flip", "flip", "flips", "zeros", "shorter", "empty", "gone"))
    if kind == "gone":
        path.unlink()
        return f"{path.name} gone"
    if kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else 50):
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    elif kind == "zeros":
        place = dice.randrange(len(content))
        content[place : place + 4096] = bytes(len(content[place : place + 4096]))
    else:
        del content[dice.randrange(len(content)) if kind == "shorter" else 0 :]
    path.write_bytes(content)
    return f"{kind} in {path.name}"


def _lives(root: Path) -> tuple[bool]:
    """A start, an event and an end; no approval that was not given, no unapproved byte, no crash."""
    paths = locate(str(root / "home"))
    canary = root.parent / EVIL
    try:
        paths.prepare()
        kept = stores(paths, migrate=True)
    except HooktrayError:
        return (True,)  # refused, with a cure
    except Exception as error:  # noqa: BLE001
        print(f"start: {error!r}")
        return (False,)
    try:
        held = _judges(kept) and not canary.exists()
    except Exception as error:  # noqa: BLE001
        print(f"event: {error!r}")
        held = False
    finally:
        kept.journal.close()
    return (held,)


def _judges(kept: Stores) -> bool:
    names = {one.hook.name for one in kept.ledger.in_order()}
    background = Background()
    judge = engine(kept, Deaf(), lambda work: True, background, llm=lambda: None)
    body = json.dumps(PRE_TOOL_USE).encode()
    begun = judge.begin(
        Knock(
            agent="claude-code",
            event="PreToolUse",
            id="f" * 32,
            body=body,
            cwd="/",
            environment={"PATH": "/usr/bin:/bin"},
        )
    )
    answer = begun(None) if callable(begun) else begun
    background.close()
    # Either the guard speaks with its own bytes, or it is broken, or it is approved no more.
    said = answer.stdout if isinstance(answer, Answer) else b"parked"
    return names <= {"good"} and (not said or b"good" in said)


def _control(tally: Tally, whole: Path) -> None:
    """A ledger without a chain believes what stands in its rows."""
    copy = tally.folder / "control.db"
    shutil.copy(whole / "home" / "state" / "hooktray.db", copy)
    with sqlite3.connect(copy) as connection:
        before = connection.execute("SELECT count(*) FROM ledger").fetchone()[0]
        connection.execute(
            "INSERT INTO ledger (at, act, key, digest, definition, position, way, chain)"
            " SELECT at, act, key, digest, definition, position, way, chain FROM ledger LIMIT 1"
        )
        after = connection.execute("SELECT count(*) FROM ledger").fetchone()[0]
    connection.close()
    tally.control("rows without a chain", after == before + 1)
