"""A tray without an engine, for the panel's tests: shows what stdin says, prints what was clicked."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tray.agents.protocol import spec
from tray.desktop.artwork import IconState
from tray.desktop.icon import Icon, choose_icon
from tray.desktop.menu import menu
from tray.desktop.menu.actions import Action, QuitTray, ToggleSwitch
from tray.desktop.menu.state import Approval, MenuRequest, MenuState
from tray.desktop.pystray_icon import PystrayIcon
from tray.model.decision import Record, Verdict
from tray.model.hook import ApprovalState

NOW = time.time()
ROWS = (
    ("claude-code", "PreToolUse", "shop", Verdict.DENY, ()),
    ("shelley", "end-of-turn", "vm-one", Verdict.ABSTAIN, ()),
    ("starchild", "pre_tool_call", "garden_plan", Verdict.ASK, ()),
    ("x-code", "PreToolUse", "compiler", Verdict.ALLOW, ()),
    ("claude-code", "PostToolUse", "shop", Verdict.ABSTAIN, ("output",)),
)


def record(number: int, agent: str, event: str, project: str, verdict: Verdict, rewrites: tuple[str, ...]) -> Record:
    return Record(
        id=f"r{number}",
        at=NOW - 60 * number,
        agent=agent,
        session="s",
        project=project,
        event=event,
        kind=spec(agent, event).kind,
        verdict=verdict,
        reason="",
        ms=1.0,
        rewrites=rewrites,
    )


def library(toolkit: str) -> Any:
    """pystray with this toolkit; GTK's bindings are Debian's."""
    if toolkit != "xorg":
        sys.path.append("/usr/lib/python3/dist-packages")
    return importlib.import_module("pystray")


class Tray:
    """One state, changed by lines of JSON and by clicks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.state = MenuState(
            now=NOW,
            active_agents=3,
            recent=tuple(record(number, *row) for number, row in enumerate(ROWS)),
            approvals=(
                Approval(
                    key="k1",
                    name="block_secrets",
                    event="tool_before",
                    state=ApprovalState.PENDING,
                    digest="1a2b3c4d5e6f",
                ),
                Approval(key="k2", name="notify", event="turn_end", state=ApprovalState.CHANGED, digest="99aabbccdd"),
            ),
            requests=(MenuRequest(id="q1", summary="Switch hooks off", requester="claude-code, pid 812"),),
        )
        self.look = IconState.ON
        if toolkit := os.environ.get("PYSTRAY_BACKEND"):
            self.icon: Icon = PystrayIcon(library(toolkit), self)
        else:
            self.icon = choose_icon(loop, self)

    def act(self, action: Action) -> None:
        self.say(repr(action))
        if isinstance(action, ToggleSwitch):
            self.look = IconState.OFF if self.state.enabled else IconState.ON
            self.state = replace(self.state, enabled=not self.state.enabled)
        if isinstance(action, QuitTray):
            self.icon.stop()
        self.show()

    def opened(self) -> None:
        self.say("opened")

    def is_trusted_host(self, pid: int) -> bool:
        return True

    def menu_rejected(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        """Only the panel of the test clicks."""

    def take(self, line: str) -> None:
        """The keys of a MenuState, `look` for the icon, and `ask` to hear whether the icon is on the screen."""
        words: dict[str, Any] = json.loads(line)
        if words.pop("ask", False):
            self.say(f"visible: {self.icon.visible}")
        self.look = IconState(words.pop("look", self.look))
        self.state = replace(self.state, **words)
        self.show()

    def show(self) -> None:
        self.icon.show(self.look, f"Hooktray · {self.look}", menu(self.state))

    def say(self, text: str) -> None:
        print(text, flush=True)

    def listen(self) -> None:
        """Until stdin ends, and the tray with it."""
        for line in sys.stdin:
            self.take(line)
        self.icon.stop()


def main() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="loop")
    thread.start()
    tray = Tray(loop)
    signal.signal(signal.SIGTERM, lambda number, frame: tray.icon.stop())
    tray.say(f"{tray.icon.name} {tray.icon.reason}".strip())
    tray.show()
    threading.Thread(target=tray.listen, name="stdin", daemon=True).start()
    tray.icon.run()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


if __name__ == "__main__":
    main()
