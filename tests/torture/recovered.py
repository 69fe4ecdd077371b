"""A home whose guards are connected and approved, and who judges a call there: a tray, the relay, the hooks."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from connect.sites import own_agent_of_kiro
from house import PRE_TOOL_USE, House
from user_controls import user_controls
from workers import IdleWorkers

from torture.t30_damage import Deaf
from torture.trays import Asked
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

AGENTS = ("claude-code", "codex")  # one can ask its user before a tool, the other cannot
DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''
MARKED = ("edited", "never", "revoked")  # hooks whose bytes are not approved: each leaves a file of its name
GUARDS = ("default", "strict")
HOOKS = (*GUARDS, *MARKED)
CALLS = (("claude-code", "Bash"), ("claude-code", "Write"), ("codex", "Bash"), ("claude-code", "Read"))
SILENCE, ASK, DENIED = "silence", "ask", "deny"
PAYLOADS = {
    "claude-code": PRE_TOOL_USE,
    "codex": json.loads((Path(__file__).parents[1] / "agents/payloads/codex/PreToolUse.json").read_text()),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, and what its agent was answered."""

    agent: str
    tool: str
    verdict: str

    @property
    def goes_on(self) -> bool:
        return self.verdict == SILENCE


@dataclass(frozen=True, slots=True)
class Guarded:
    """Everything below `root`; `marks` gets a file for each hook that ran unapproved bytes."""

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
            engine = Engine(
                stores,
                Deaf(),
                IdleWorkers(),
                EngineOptions(background=background, lost=files.lost),
            )
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
        return [Call(agent, tool, said(*one.answer())) for agent, tool, one in asked]

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

    @property
    def in_force(self) -> set[str]:
        """The names of the approved hooks."""
        return {one.hook.name for one in self.stores.ledger.in_order()}

    def calls(self) -> list[Call]:
        return [Call(agent, tool, self._verdict(agent, tool)) for agent, tool in CALLS]

    def _verdict(self, agent: str, tool: str) -> str:
        begun = self.begin(
            RelayRequest(
                agent=agent,
                event="PreToolUse",
                id=f"{agent}{tool}".encode().hex(),
                body=payload(agent, tool),
                cwd="/",
                environment={"PATH": "/usr/bin:/bin"},
            )
        )
        answer = begun.run(None) if isinstance(begun, Execution) else begun
        return said(answer.code, answer.stdout) if isinstance(answer, Answer) else "parked"


def payload(agent: str, tool: str) -> bytes:
    return json.dumps(PAYLOADS[agent] | {"tool_name": tool}).encode()


def said(code: int | None, output: bytes) -> str:
    """What the agent is told."""
    if code != 0:
        return f"exit {code}"
    return str(json.loads(output)["hookSpecificOutput"]["permissionDecision"]) if output else SILENCE
