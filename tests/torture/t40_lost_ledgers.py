"""T40: a ledger is lost while no tray runs: no unapproved byte runs, and no guarded call goes on in silence."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from connect.sites import own_agent_of_kiro
from house import PRE_TOOL_USE, House
from user_controls import user_controls
from workers import IdleWorkers

from torture.frame import Tally
from torture.losses import LOSSES
from torture.trays import Asked, verdict
from tray.approvals.catalog import HookCatalog
from tray.connect import apply_connect, connectors
from tray.doctor.agent_sites import site
from tray.engine import guards_in_force
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions, Execution
from tray.engine.stores import Stores, open_stores
from tray.execution.command import BackgroundProcesses
from tray.installation import installed_relay
from tray.installation.relay_files import RelayFiles
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.store.db import begin_anew

TITLE = "ledgers that are lost"
DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''
MARKED = ("edited", "never", "revoked")  # hooks whose bytes are not approved: each leaves a file of its name
GUARDS = ("default", "strict")
HOOKS = (*GUARDS, *MARKED)
CANNOT_ASK = "codex"  # Claude Code can ask its user before a tool
AGENTS = ("claude-code", CANNOT_ASK)
CALLS = (("claude-code", "Bash"), ("claude-code", "Write"), (CANNOT_ASK, "Bash"), ("claude-code", "Read"))
PAYLOADS = {
    "claude-code": PRE_TOOL_USE,
    CANNOT_ASK: json.loads((Path(__file__).parents[1] / "agents/payloads/codex/PreToolUse.json").read_text()),
}
# What may come out for each tool of an agent that can ask. One that cannot is denied.
WANTED = {"Bash": {"ask", "deny"}, "Write": {"deny"}, "Read": {"silence"}}
# Nothing that was decided is gone after these, so there is nothing to announce at the start.
UNTOLD = ("copies_deleted", "copies_emptied", "order_garbled")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, and what its agent was answered."""

    agent: str
    tool: str
    verdict: str


def torture(tally: Tally) -> None:
    dice = random.Random(40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tally.folder / "home" / "person"))
        home = Guarded.make(tally.folder / "home")
        restore = home.copied(tally.folder / "kept")
        for _ in range(tally.many(1, 20)):
            for number, (loss, loses) in enumerate(dice.sample([*LOSSES.items()], len(LOSSES))):
                thorough = tally.full or number % 6 == 0
                restore()
                loss(home.paths.state)
                _recover(tally, loss.__name__, home, thorough=thorough)
                if thorough:
                    restore()
                    loss(home.paths.state)
                    _controls(tally, loss.__name__, home, loses=loses)


def _recover(tally: Tally, name: str, home: Guarded, *, thorough: bool) -> None:
    """Before a tray starts, with it, without it again, and after the review."""
    number = None if thorough else 0  # each call starts an engine
    _judge(tally, f"{name}, no tray", home, home.calls(number))
    with home.tray() as tray:
        _judge(tally, f"{name}, the next tray", home, tray.calls())
        is_announced = tray.stores.database.damage() is not None
    _judge(tally, f"{name}, no tray again", home, home.calls(number))
    with home.tray() as tray:
        if is_announced:
            tally.keep(f"{name}: one review of the source offers every hook", tray.review() == len(HOOKS))
        for call in tray.calls():
            wanted = "silence" if call.tool == "Read" else "deny"
            said = f"{name}, after the review, {call.tool} of {call.agent}: {call.verdict}"
            tally.keep(said, call.verdict == wanted)
        tally.attack(f"{name}: unapproved bytes of {home.ran} after the review", not home.ran)
        in_force = {one.hook.name for one in tray.stores.ledger.in_order()}
        tally.attack(f"{name}: the ledger counts no more", {*GUARDS} <= in_force)
    tally.attack(f"{name}: nobody was told", is_announced or name in UNTOLD)


def _judge(tally: Tally, what: str, home: Guarded, calls: list[Call]) -> None:
    """Each guarded call is asked about or denied; no unapproved byte ran."""
    for call in calls:
        wanted = {"deny"} if call.agent == CANNOT_ASK else WANTED[call.tool]
        note = tally.keep if call.tool == "Read" else tally.attack
        note(f"{what}, {call.tool} of {call.agent}: {call.verdict}", call.verdict in wanted)
    tally.attack(f"{what}: unapproved bytes of {home.ran}", not home.ran)


def _controls(tally: Tally, name: str, home: Guarded, *, loses: bool) -> None:
    if loses:
        with home.tray(forgets=True) as tray:
            goes_on = [call for call in tray.calls() if call.tool != "Read" and call.verdict == "silence"]
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


# ---- the home and its calls


@dataclass(frozen=True, slots=True)
class Guarded:
    """A home below `root` whose guards are connected and approved.

    `marks` gets a file for each hook that ran unapproved bytes.
    """

    root: Path
    paths: Paths
    marks: Path

    @classmethod
    def make(cls, root: Path) -> Guarded:
        """Approved, edited, never approved and revoked hooks; HOME is already the person's folder below `root`."""
        marks = root / "marks"
        marks.mkdir(parents=True)
        for settings in (".claude", ".codex"):
            (root / "person" / settings).mkdir(parents=True)
        own_agent_of_kiro(root / "person")
        house = House(root)
        house.hook("default", on="tool_before", tool="Bash", script=DENY)
        house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
        for name in MARKED:
            house.hook(name, on="tool_before", tool="Bash", script="exit 0", approved=name != "never")
            house.script(f"{name}.sh", f": >{marks / name}")
        house.consent.revoke(house.state("revoked").key, "torture")
        for agent in AGENTS:
            installed_relay.prepare_to_connect(house.paths, agent)
            place = site(house.paths, root)
            apply_connect(place, agent, connectors()[agent].connect(place))
        house.close()
        made = cls(root, house.paths, marks)
        with made.tray():  # its start writes the relay's table
            pass
        return made

    @contextlib.contextmanager
    def tray(self, *, forgets: bool = False) -> Iterator[Judge]:
        """What a tray makes of the files at its start, in this process. `forgets`: the control, without a memory."""
        self.paths.prepare()
        stores = open_stores(self.paths, create=True)
        if stores.ledger.state.tampered:
            begin_anew(self.paths.database, "altered")
            stores = open_stores(self.paths, create=True)
        background = BackgroundProcesses()
        try:
            if not forgets:
                guards_in_force.note_loss(self.paths, stores.database, stores.ledger.state)
            catalog = HookCatalog(self.paths, stores.ledger, stores.copies)
            files = RelayFiles(self.paths, stores, catalog)
            if not forgets:
                files.install()
            catalog.refresh()
            if not forgets:
                files.write()
            options = EngineOptions(background=background, lost=files.lost)
            engine = Engine(stores, Deaf(), IdleWorkers(), options)
            yield Judge(stores, catalog, engine.begin, files.write)
        finally:
            background.close()
            stores.journal.close()

    def calls(self, number: int | None = None) -> list[Call]:
        """What the installed relay tells the agents, all at once, since it may wait for each."""
        asked = [
            (agent, tool, Asked(None, [str(self.paths.relay)], "PreToolUse", payload(agent, tool), agent))
            for agent, tool in CALLS[:number]
        ]
        return [Call(agent, tool, verdict(*one.answer())) for agent, tool, one in asked]

    @property
    def ran(self) -> list[str]:
        """The hooks that ran bytes which are not approved."""
        return sorted(one.name for one in self.marks.iterdir())

    def copied(self, folder: Path) -> Callable[[], None]:
        """Keep all of it; the function returned puts it back."""
        shutil.copytree(self.root, folder, symlinks=True)

        def restore() -> None:
            shutil.rmtree(self.root)
            shutil.copytree(folder, self.root, symlinks=True)

        return restore


class Deaf:
    """Hears nothing."""

    def arrived(self, event: object, *, answered: bool) -> None: ...
    def decided(self, event: object, decision: object, record: object) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Judge:
    """A tray in this process."""

    stores: Stores
    catalog: HookCatalog
    begin: Callable[[RelayRequest], object]
    refresh: Callable[[], None]

    def review(self) -> int:
        """What the user does: approve the guards and refuse all others; how many one review of the source offers."""
        consent = user_controls(self.stores, self.catalog)
        offered = sum(len(batch.hooks) for batch in consent.batches)
        for one in self.catalog.states:
            if one.hook.name in GUARDS and one.state is not ApprovalState.APPROVED:
                consent.approve(one.key, one.digest, "torture")
            elif one.hook.name in MARKED and one.waiting:
                consent.deny(one.key, one.digest, "torture")
        self.refresh()
        return offered

    def calls(self) -> list[Call]:
        return [Call(agent, tool, self._verdict(agent, tool)) for agent, tool in CALLS]

    def _verdict(self, agent: str, tool: str) -> str:
        request = RelayRequest(
            agent=agent,
            event="PreToolUse",
            id=f"{agent}{tool}".encode().hex(),
            body=payload(agent, tool),
            cwd="/",
            environment={"PATH": "/usr/bin:/bin"},
        )
        begun = self.begin(request)
        answer = begun.run(None) if isinstance(begun, Execution) else begun
        return verdict(answer.code, answer.stdout) if isinstance(answer, Answer) else "parked"


def payload(agent: str, tool: str) -> bytes:
    return json.dumps(PAYLOADS[agent] | {"tool_name": tool}).encode()
