"""A tray on a desk, and an agent in a pane of a real tmux whose end of a turn somebody can bring about by a key."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desk import Desk, wait
from desktop.focus.terminals import LONG, Tmux, front, tmux, wait_active
from live import Live

SESSION = "8599ab20-15e7"
STOP = {"session_id": SESSION, "cwd": "/home/dev/shop", "hook_event_name": "Stop"}
WATCHED = {**STOP, "last_assistant_message": "Watched"}
PROMPT = {**STOP, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the login"}


@dataclass
class Scene:
    """A tray, and an agent in the second window of a tmux session, with another terminal in front."""

    live: Live
    server: Tmux
    agent: int  # its process

    def leave(self) -> None:
        """Another window of tmux is shown, and another terminal is in front."""
        self.server.run("select-window", "-t", "work:0")
        front(self.live.desk, "plain")

    def is_there(self) -> bool:
        return self.agent in self.server.shown()

    def arrive(self) -> None:
        wait_active(self.live.desk, "one")
        wait(self.is_there, what="the pane is shown")

    def look(self) -> None:
        """As a person does: the agent's window of tmux is shown, and its terminal is in front."""
        self.server.run("select-window", "-t", "work:1")
        front(self.live.desk, "one")

    def look_away(self) -> None:
        front(self.live.desk, "plain")

    def end_turn(self) -> None:
        """The key in its terminal upon which the agent ends one more turn."""
        before = len(self.live.log())
        self.live.desk.run(["xdotool", "key", "Return"])
        self.live.wait_log(before + 1)

    def wait_alerted(self, word: str, seconds: float = LONG) -> None:
        """The journal has this of the latest event's notification."""
        wait(lambda: self.live.log()[0]["alerted"] == word, seconds, f"it is noted as {word}")


@contextmanager
def tmux_scene(desk: Desk, folder: Path, configuration: Mapping[str, Any]) -> Iterator[Scene]:
    live = Live.fresh(desk, folder, configuration=configuration)
    with tmux(desk, folder) as server:
        server.attach("work", "one")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])
        script = folder / "agent.sh"
        prompt, stop, watched = (
            f"echo {shlex.quote(json.dumps(payload))} | {shlex.join(live.relay_argv('claude-code', name))}"
            for name, payload in (("UserPromptSubmit", PROMPT), ("Stop", STOP), ("Stop", WATCHED))
        )
        script.write_text(f"{prompt}\n{stop}\nwhile read line; do {watched}; done\n")
        words = ("-t", "work", "-P", "-F", "#{pane_pid}", "sh", str(script))
        agent = int(server.run("new-window", "-d", *words))
        live.wait_log(2)
        yield Scene(live, server, agent)
    live.quit()
