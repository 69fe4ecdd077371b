"""T30: flipped and missing bytes in what we keep; what is not whole approves nothing, and the next start goes on."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
from pathlib import Path

from house import PRE_TOOL_USE, House
from workers import IdleWorkers

from torture.frame import Tally
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions, Execution
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError
from tray.execution.command import BackgroundProcesses
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.paths import locate

TITLE = "damaged ledgers, journals and copies"
EVIL, NEVER = "evil", "never"  # hooks that leave a file of that name: one was revoked, one was never approved


class Deaf:
    """Hears nothing."""

    def arrived(self, event: object, *, answered: bool) -> None: ...
    def decided(self, event: object, decision: object, record: object) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


def torture(tally: Tally) -> None:
    whole = _made(tally.folder / "whole")
    dice = random.Random(30)
    for number in range(tally.many(20, 1000)):
        root = _copied(whole, tally.folder / "damaged")
        what = _damage(dice, root / "home" / "state")
        for start in (1, 2):
            tally.attack(f"{number}: {what}, start {start}", _lives(root))
    for aim in AIMS:
        root = _copied(whole, tally.folder / "damaged")
        aim(root / "home" / "state")
        tally.control(f"a ledger without a chain, copies without a digest: {aim.__name__}", _naive_falls(root))
        for start in (1, 2):
            tally.attack(f"{aim.__name__}, start {start}", _lives(root))


def _copied(whole: Path, root: Path) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(whole, root, symlinks=True)
    for name in (EVIL, NEVER):
        (root.parent / name).unlink(missing_ok=True)
    return root


def _made(root: Path) -> Path:
    house = House(root)
    house.hook("good", on="tool_before", script="echo good >&2; exit 2", dialect="claude-code")
    house.hook(NEVER, on="tool_before", script=f": >{root.parent / NEVER}", approved=False)
    house.hook(EVIL, on="tool_before", script=f": >{root.parent / EVIL}")
    evil = house.state("evil")
    house.consent.revoke(evil.key, "test")  # it stood in the ledger once, and its copy lies there
    state = house.state("good")
    house.consent.revoke(state.key, "test")
    house.consent.approve(state.key, house.state("good").digest, "test")
    for number in range(20):
        house.tool(f"ls {number}")
    house.close()
    house.stores.journal.close()  # what follows opens the file by hand, and would drop its locks
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


def _lives(root: Path) -> bool:
    """A start, an event and an end; no approval that was not given, no unapproved byte, no crash."""
    paths = locate(str(root / "home"))
    try:
        paths.prepare()
        kept = open_stores(paths, create=True)
    except HooktrayError:
        return True  # refused, with a cure
    except Exception as error:  # noqa: BLE001
        print(f"start: {error!r}")
        return False
    try:
        return _judges(kept) <= {"good"} and not any((root.parent / name).exists() for name in (EVIL, NEVER))
    except Exception as error:  # noqa: BLE001
        print(f"event: {error!r}")
        return False
    finally:
        kept.journal.close()


def _judges(kept: Stores) -> set[str]:
    """What is in force, after an event."""
    names = {one.hook.name for one in kept.ledger.in_order()}
    background = BackgroundProcesses()
    judge = Engine(kept, Deaf(), IdleWorkers(), EngineOptions(background=background))
    body = json.dumps(PRE_TOOL_USE).encode()
    begun = judge.begin(
        RelayRequest(
            agent="claude-code",
            event="PreToolUse",
            id="f" * 32,
            body=body,
            cwd="/",
            environment={"PATH": "/usr/bin:/bin"},
        )
    )
    answer = begun.run(None) if isinstance(begun, Execution) else begun
    background.close()
    # Either the guard speaks with its own bytes, or it is broken, or it is approved no more.
    said = answer.stdout if isinstance(answer, Answer) else b"parked"
    return names if not said or b"good" in said else {*names, repr(said)}


# ---- damage that is aimed, and the reader that others have


def _edit(state: Path, statement: str, *words: object) -> None:
    with sqlite3.connect(state / "hooktray.db") as connection:
        connection.execute(statement, words)
    connection.close()


def a_row_put_in(state: Path) -> None:
    columns = "at, act, key, digest, definition, position, way, chain"
    _edit(state, f"INSERT INTO ledger ({columns}) SELECT {columns} FROM ledger WHERE act = 'approve' AND {OF_EVIL}")


def a_row_altered(state: Path) -> None:
    _edit(state, f"UPDATE ledger SET act = 'approve' WHERE act = 'revoke' AND {OF_EVIL}")


def a_definition_altered(state: Path) -> None:
    found = "(SELECT digest FROM ledger WHERE act = 'approve' AND key LIKE '%#evil')"
    _edit(state, f"UPDATE ledger SET digest = {found} WHERE seq = (SELECT max(seq) FROM ledger)")


def a_revocation_cut_out(state: Path) -> None:
    _edit(state, f"DELETE FROM ledger WHERE seq >= (SELECT seq FROM ledger WHERE act = 'revoke' AND {OF_EVIL})")


def a_copy_altered(state: Path) -> None:
    (copy,) = (path for path in state.rglob("good.sh"))
    copy.parent.chmod(0o700)
    copy.chmod(0o700)
    copy.write_text(next(state.rglob("evil.sh")).read_text())


OF_EVIL = "key LIKE '%#evil'"
AIMS = (a_copy_altered, a_definition_altered, a_revocation_cut_out, a_row_altered, a_row_put_in)


def _naive_falls(root: Path) -> bool:
    """Whoever takes the last row of each hook for true, and its copy for what it was, runs what nobody approved."""
    state, canary = root / "home" / "state", root.parent / EVIL
    with sqlite3.connect(state / "hooktray.db") as connection:
        rows = connection.execute("SELECT key, act, digest FROM ledger ORDER BY seq").fetchall()
    connection.close()
    last = {key: (act, digest) for key, act, digest in rows}
    for act, digest in last.values():
        if act == "approve":
            for copy in sorted(state.rglob(f"{digest}/**/*.sh")):
                copy.chmod(0o700)
                subprocess.run([copy], check=False, timeout=60, capture_output=True)
    fell = canary.exists()
    canary.unlink(missing_ok=True)
    return fell
