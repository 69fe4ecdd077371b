"""T40: ledgers that are damaged or lost, approvals that travel: no unapproved byte, no silent call."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import headless
from desk import wait
from headless import ENVIRONMENT
from house import House

from torture.frame import Tally
from torture.losses import (
    LOSSES,
    Loss,
    database_deleted,
    database_garbled,
    first_row_altered,
    state_deleted,
    state_moved,
)
from torture.recovered import AGENTS, ASK, DENIED, GUARDS, HOOKS, SILENCE, Call, Guarded
from torture.trays import LONG, within
from tray.engine.guards_in_force import table_guards
from tray.errors import HooktrayError, IpcError
from tray.ipc.client import send_request
from tray.ipc.health import StateProblem, parse_health
from tray.store.approval_file import Export, import_approvals, of_bundle, parse, read, render

TITLE = "ledgers that are lost, approvals that travel"
HOME = "HOME"
NOTICED = 2.0  # seconds until the tray must have noticed
# What may come out for each tool of an agent that can ask. One that cannot is denied.
WANTED = {"Bash": {ASK, DENIED}, "Write": {DENIED}, "Read": {SILENCE}}
CANNOT_ASK = "codex"


def torture(tally: Tally) -> None:
    before = os.environ.get(HOME)
    homes = {}
    try:
        for name in ("running", "lost"):  # the engines of this process go on with the home of the last one
            os.environ[HOME] = str(tally.folder / name / "person")
            homes[name] = Guarded.make(tally.folder / name)
        with ThreadPoolExecutor(2) as pool:
            parts = [pool.submit(_lost, tally, homes["lost"]), pool.submit(_other_parts, tally, homes["running"])]
            for part in parts:
                part.result()
    finally:
        os.environ.pop(HOME)
        if before is not None:
            os.environ[HOME] = before


def _other_parts(tally: Tally, home: Guarded) -> None:
    _running(tally, home)
    _travel(tally)


def _judge(tally: Tally, what: str, home: Guarded, calls: list[Call]) -> None:
    """Each guarded call is asked about or denied; no unapproved byte ran."""
    for call in calls:
        wanted = {DENIED} if call.agent == CANNOT_ASK else WANTED[call.tool]
        name = f"{what}, {call.tool} of {call.agent}: {call.verdict}"
        if call.tool == "Read":
            tally.keep(name, call.verdict in wanted)
        else:
            tally.attack(name, call.verdict in wanted)
    tally.attack(f"{what}: unapproved bytes of {home.ran}", not home.ran)


# ---- what is lost while no tray runs


def _lost(tally: Tally, home: Guarded) -> None:
    restore = home.copied(tally.folder / "kept")
    dice = random.Random(40)
    for _ in range(tally.many(1, 20)):
        for number, (loss, loses) in enumerate(dice.sample([*LOSSES.items()], len(LOSSES))):
            restore()
            loss(home.paths.state)
            _recover(tally, loss.__name__, home, thorough=tally.full or number % 4 == 0)
            restore()
            loss(home.paths.state)
            _controls(tally, loss.__name__, home, loses=loses)


def _recover(tally: Tally, name: str, home: Guarded, *, thorough: bool) -> None:
    """Before a tray starts, with it, without it again, and after the review."""
    first = home.calls(None if thorough else 1)
    _judge(tally, f"{name}, no tray", home, first)
    with home.tray() as tray:
        _judge(tally, f"{name}, the next tray", home, tray.calls())
        is_announced = tray.stores.database.damage() is not None
    _judge(tally, f"{name}, no tray again", home, home.calls(None if thorough else 0))
    with home.tray() as tray:
        if is_announced:
            tally.keep(f"{name}: one review of the source offers every hook", tray.review() == len(HOOKS))
        for call in tray.calls():
            wanted = SILENCE if call.tool == "Read" else DENIED
            tally.keep(
                f"{name}, after the review, {call.tool} of {call.agent}: {call.verdict}", call.verdict == wanted
            )
        tally.attack(f"{name}: unapproved bytes of {home.ran} after the review", not home.ran)
        tally.attack(f"{name}: the ledger counts no more", {*GUARDS} <= tray.in_force)
    tally.attack(f"{name}: nobody was told", is_announced or name in UNTOLD)


# Nothing that was decided is gone after these, so there is nothing to announce at the start.
UNTOLD = ("copies_deleted", "copies_emptied", "order_garbled")


def _controls(tally: Tally, name: str, home: Guarded, *, loses: bool) -> None:
    if loses:
        with home.tray(forgets=True) as tray:
            goes_on = [call for call in tray.calls() if call.tool != "Read" and call.verdict == SILENCE]
            tally.control(f"a tray that knows only its ledger: {name}", bool(goes_on))
    house = House(home.root)  # whatever is declared now counts as approved
    try:
        house.catalog.refresh()
        for one in house.catalog.states:
            house.consent.approve(one.key, one.digest, "torture")
        house.tool()
    finally:
        house.close()
    tally.control(f"a tray that approves what it finds: {name}", bool(home.ran))


# ---- what is lost under a running tray


def _running(tally: Tally, home: Guarded) -> None:
    """Each loss twice: the tray begins anew, then it is killed before it can."""
    environment = {**ENVIRONMENT, HOME: str(home.root / "person")}
    losses: tuple[Loss, ...] = (state_deleted, first_row_altered, state_moved, database_deleted, database_garbled)
    for _ in range(tally.many(1, 10)):
        for loss in losses[: tally.many(2, len(losses))]:
            with _tray(home, environment):
                loss(home.paths.state)
                noticed = within(NOTICED * tally.patience, lambda: bool(_problems(home)))
                tally.attack(f"{loss.__name__} under a tray: noticed in time", noticed or loss is first_row_altered)
                _judge(tally, f"{loss.__name__} under a tray", home, home.calls(3))
                wait(lambda: _solved(home), LONG, f"an empty database is there: {loss.__name__}")
                _judge(tally, f"{loss.__name__}, begun anew", home, home.calls(3))
                tally.attack(f"{loss.__name__}: one incident", len(_problems(home)) == 1)
            _judge(tally, f"{loss.__name__}, begun anew, no tray", home, home.calls(3))
            with home.tray() as tray:
                tray.review()
                tally.attack(f"{loss.__name__}: the ledger counts no more", {*GUARDS} <= tray.in_force)
            shutil.rmtree(home.paths.state.with_name("moved"), ignore_errors=True)
    with _tray(home, environment) as process:
        # The review was by a tray in this process, which sees the other home's agents.
        wait(lambda: _guarded_agents(home) >= {*AGENTS}, LONG, "the tray has written what relays guard")
        state_deleted(home.paths.state)
        process.kill()
    _judge(tally, "killed before it notices", home, home.calls(3))
    with _tray(home, environment):
        _judge(tally, "killed before it notices, the next tray", home, home.calls(3))


def _guarded_agents(home: Guarded) -> set[str]:
    return {one.agent for one in table_guards(home.paths)}


def _problems(home: Guarded) -> Sequence[StateProblem]:
    try:
        return parse_health(send_request(home.paths.socket, {"op": "health"})).get("problems", [])
    except (IpcError, OSError):
        return []


def _solved(home: Guarded) -> bool:
    home.calls(1)  # an altered row is noticed at the next event
    found = _problems(home)
    return bool(found) and all(one["solved"] for one in found)


@contextmanager
def _tray(home: Guarded, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A tray of its own process, killed at the end as a crash would."""
    process = headless.start(str(home.paths.home), environment)
    try:
        wait(lambda: headless.is_open(home.paths.socket), LONG, "the tray opens its socket")
        yield process
    finally:
        process.kill()
        process.wait(LONG)


# ---- approvals as a file


def _travel(tally: Tally) -> None:
    """What arrives approves nothing: not whole, not altered, and not where the same hook has other bytes."""
    here, there = House(tally.folder / "here"), House(tally.folder / "there")
    marks = tally.folder / "travelled"
    marks.mkdir()
    try:
        for house in (here, there):
            for name in ("same", "other", "new"):
                evil = f": >{marks / name}" if house is there or name == "new" else "exit 0"
                text = "echo no >&2; exit 2" if name == "same" else evil
                house.hook(name, on="tool_before", tool="Bash", script=text, approved=house is here and name != "new")
        file = tally.folder / "export.json"
        exports = [of_bundle(one, here.stores.copies.bundle(one.digest)) for one in here.stores.ledger.in_order()]
        whole = render(exports, str(here.root))
        dice = random.Random(40)
        for number in range(tally.many(25, 5_000)):
            file.write_bytes(whole if number == 0 else _altered(dice, whole))
            tally.attack(
                f"import {number}: {sorted(marks.iterdir())}", _import(there, file) and not any(marks.iterdir())
            )
        file.write_bytes(whole)
        _import(there, file)
        there.consent.approve_batch(there.consent.batch.digest, "torture")
        names = [one.hook.name for one in there.stores.ledger.in_order()]
        tally.keep(f"the review approves what is the same here: {names}", names == ["same"] and bool(there.tool()))
        tally.attack(f"the review approves other bytes: {sorted(marks.iterdir())}", not any(marks.iterdir()))
        _believe(there, exports)
        there.tool()
        tally.control("an import that approves what is declared under these names", any(marks.iterdir()))
    finally:
        here.close()
        there.close()


def _altered(dice: random.Random, whole: bytes) -> bytes:
    """Bytes flipped, cut out, or a value of the document put in another's place."""
    content = bytearray(whole)
    kind = dice.randrange(3)
    if kind == 0:
        for _ in range(dice.choice((1, 20))):
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        start = dice.randrange(len(content))
        del content[start : start + dice.randrange(1, 200)]
    else:
        document = json.loads(whole)
        one, other = dice.choices(document["hooks"], k=2)
        key = dice.choice([*one])
        one[key] = dice.choice((other[key], None, "x", [], {}, -1))
        return json.dumps(document).encode()
    return bytes(content)


def _import(house: House, file: Path) -> bool:
    """Whether nothing counts by it before a person has looked; an answer of a hook there would."""
    before = house.stores.ledger.state.version
    try:
        import_approvals(house.paths.database, parse(read(file), str(file), str(house.root)))
    except HooktrayError:
        return True
    house.catalog.refresh()
    return house.stores.ledger.state.version == before and not house.tool()


def _believe(house: House, exports: list[Export]) -> None:
    """The control: what the file names is approved as it is declared here."""
    names = {one.approved.hook.name for one in exports}
    for one in house.catalog.states:
        if one.hook.name in names:
            house.consent.approve(one.key, one.digest, "torture")
