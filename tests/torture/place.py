"""Where self-approval is tried: a tray with a hook that waits and one that is approved, and what must stay so."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live import Live
from plain import Plain
from user_controls import user_controls

from torture.terminals import SECRET
from tray.approvals.catalog import HookCatalog
from tray.approvals.passphrase import KEY, Passphrase
from tray.engine.stores import Stores, open_stores
from tray.ipc import frames
from tray.paths import Paths, locate

HERE = Path(__file__).parent
PYTHON = [sys.executable, "-I", "-S"]
GUARD = {"name": "guard", "event": "tool_before", "command": "./guard.sh"}
KEPT = {"name": "kept", "event": "tool_before", "command": "./kept.sh"}
CONFIGURATION: Mapping[str, Any] = {"hooks": [GUARD, KEPT]}
REQUESTS: tuple[Mapping[str, Any], ...] = (
    {"op": "approve", "event": "tool_before", "hook": "./guard.sh"},
    {"op": "off"},
    {"op": "revoke", "hook": "kept"},
    {"op": "pause", "seconds": 3600},
    {"op": "deny", "hook": "guard"},
)
# What an agent types at a terminal. To deny takes no proof, and grants nothing.
COMMANDS = ("approve guard", "off", "revoke kept", "pause 1h", "passphrase", "passphrase forget")


@dataclass
class Place:
    """A running tray, below a folder of its own; everything that its file proposes but `guard` is approved."""

    live: Live
    plain: Plain
    folder: Path
    approved: frozenset[str]
    passphrase: str = ""  # its hash

    @classmethod
    def made(cls, plain: Plain, folder: Path, configuration: Mapping[str, Any] = CONFIGURATION) -> Place:
        live = Live.fresh(plain, folder, configuration=configuration, starts=False)  # approved first: it starts once
        for name in ("guard", "kept"):
            live.script(f"{name}.sh", "exit 0")
        names = frozenset(str(one["name"]) for one in configuration["hooks"]) - {"guard"}
        place = cls(live, plain, folder, names)
        place.paths.prepare()
        approve(place.paths, place.paths, *names)
        live.start()
        assert place.held()
        return place

    def held(self) -> bool:
        """Nothing was granted: the one waits, the others are in force, hooks are on, the passphrase is as it was."""
        kept = self.stores()
        state = kept.switch.state()
        wanted = {self.key(name) for name in self.approved}
        is_same = kept.ledger.state.setting_texts.get(KEY, "") == self.passphrase
        return set(kept.ledger.state.approved) == wanted and state.enabled and not state.pauses and is_same

    def approve_again(self) -> None:
        """Approves everything again as the user does after a loss, with a passphrase set on the page."""
        self.live.quit()
        approve(self.paths, self.paths, *self.approved)
        stores = self.stores()
        Passphrase(stores.ledger).set(SECRET, "page")
        self.passphrase = self.stores().ledger.state.setting_texts[KEY]
        stores.journal.close()
        self.live.start()

    def stores(self) -> Stores:
        return open_stores(self.paths, create=False)

    @property
    def paths(self) -> Paths:
        return locate(str(self.live.home))

    def key(self, name: str) -> str:
        return f"hooktray:{self.live.config}#{name}"

    def frame(self, request: Mapping[str, Any]) -> Path:
        path = self.folder / f"{abs(hash(json.dumps(request)))}.frame"
        path.write_bytes(frames.encode_control(request, ""))
        return path

    def asks(self, *requests: Mapping[str, Any]) -> list[str]:
        """Returns a command that sends these requests to the tray."""
        frames = [str(self.frame(request)) for request in requests]
        return [*PYTHON, str(HERE / "client.py"), str(self.paths.socket), *frames]

    def as_agent(self, argv: Sequence[str]) -> list[str]:
        """The same command, run by an agent whose relay the tray has met."""
        relay = json.dumps(self.live.relay_argv("claude-code", "PreToolUse"))
        return [*PYTHON, str(HERE / "agent.py"), relay, *argv]


def approve(paths: Paths, book: Paths, *names: str) -> None:
    """Approve hooks that the file of `paths` proposes, in the ledger of `book`."""
    kept = open_stores(book, create=True)
    proposals = HookCatalog(paths, kept.ledger, kept.copies)
    proposals.refresh()
    for one in proposals.states:
        if one.hook.name in names:
            user_controls(kept, proposals).approve(one.key, one.digest, "torture")
    kept.journal.close()


def fresh(folder: Path) -> Path:
    """An empty folder of this name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
