"""T03: an agent tries to approve, to switch off, to revoke, by every way but a click on the user's own desktop."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live import Live
from plain import Plain

from torture.frame import Tally
from torture.terminals import WAYS, Way
from tray.app import Stores, roster, stores
from tray.door import frames
from tray.engine.consent import Consent
from tray.model.decision import Status
from tray.paths import Paths, locate

TITLE = "self-approval by an agent"
HERE = Path(__file__).parent
PYTHON = [sys.executable, "-I", "-S"]
GUARD = {"name": "guard", "event": "tool_before", "command": "./guard.sh"}
KEPT = {"name": "kept", "event": "tool_before", "command": "./kept.sh"}
CONFIGURATION = {"hooks": [GUARD, KEPT]}


@dataclass
class Place:
    """A headless tray with one hook that waits and one that is approved, and what must stay so."""

    live: Live
    plain: Plain
    folder: Path
    socket: Path
    database: Path

    def held(self) -> bool:
        """Nothing was granted: the one waits, the other is in force, and hooks are on."""
        kept = self.stores()
        state = kept.switch.state()
        return set(kept.ledger.book.approved) == {self.key("kept")} and state.enabled and not state.pauses

    def stores(self) -> Stores:
        return stores(self.paths, migrate=False)

    @property
    def paths(self) -> Paths:
        return locate(str(self.live.home))

    def key(self, name: str) -> str:
        return f"hooktray:{self.live.config}#{name}"

    def frame(self, request: Mapping[str, Any]) -> Path:
        path = self.folder / f"{abs(hash(json.dumps(request)))}.frame"
        path.write_bytes(frames.encode_control(request, ""))
        return path

    def asks(self, request: Mapping[str, Any]) -> list[str]:
        return [*PYTHON, str(HERE / "client.py"), str(self.socket), str(self.frame(request))]


REQUESTS: tuple[Mapping[str, Any], ...] = (
    {"op": "approve", "event": "tool_before", "hook": "./guard.sh"},
    {"op": "off"},
    {"op": "revoke", "hook": "kept"},
    {"op": "pause", "seconds": 3600},
    {"op": "deny", "hook": "guard"},
)


def torture(tally: Tally) -> None:
    plain = Plain(tally.folder)
    try:
        place = _place(tally, plain)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda way: _control(tally, way), WAYS))
            for round_ in range(tally.many(1, 25)):
                every = [(way, request) for way in WAYS for request in REQUESTS]
                tries = every if tally.full else every[:: len(REQUESTS) + 1] + every[1 :: len(REQUESTS) + 1]
                list(pool.map(lambda one: _try(tally, place, *one), tries))
                for attack in ATTACKS:
                    attack(place)
                    tally.attack(f"{attack.__name__}, round {round_}", place.held())
        _offline(tally, place)
    finally:
        plain.close()
    tally.not_run.append(
        "what drives the user's own desktop (docs/security.md): xdotool, a debugger, a terminal of his"
    )


def _place(tally: Tally, plain: Plain) -> Place:
    live = Live(plain, tally.folder, configuration=CONFIGURATION)
    for name in ("guard", "kept"):
        live.script(f"{name}.sh", "exit 0")
    paths = locate(str(live.home))
    place = Place(live, plain, tally.folder, paths.socket, paths.database)
    live.quit()
    kept = place.stores()
    proposals = roster(paths, kept)
    proposals.refresh()
    (standing,) = [one for one in proposals.standings if one.hook.name == "kept"]
    Consent(kept.ledger, proposals).approve(standing.key, standing.digest, "torture")
    live.start()
    assert place.held()
    return place


def _folder(tally: Tally, name: str) -> Path:
    folder = tally.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _control(tally: Tally, way: Way) -> None:
    folder = _folder(tally, f"control-{way.__name__}")
    way([*PYTHON, str(HERE / "naive.py"), str(folder / "granted")], folder)
    tally.control(way.__name__, (folder / "granted").exists())


def _try(tally: Tally, place: Place, way: Way, request: Mapping[str, Any]) -> None:
    name = f"{way.__name__}: {request['op']}"
    way(place.asks(request), _folder(tally, f"{way.__name__}-{request['op']}"))
    tally.attack(name, place.held())


# ---- ways that need no terminal; each leaves the tray running


def says_it_is_the_tray(place: Place) -> None:
    for more in ({"way": "tray"}, {"granted": True}, {"pid": 1}, {"yes": True, "challenge": "aaaaaa"}):
        subprocess.run(place.asks({**REQUESTS[0], **more}), check=False, timeout=60)


def requests_that_do_not_exist(place: Place) -> None:
    for op in ("grant", "answer", "confirm", "undo", "toggle", "setting", "__class__", "_decide"):
        subprocess.run(place.asks({"op": op, "id": "1", "yes": True}), check=False, timeout=60)


def many_at_once(place: Place) -> None:
    started = [subprocess.Popen(place.asks(request)) for request in REQUESTS * 3]
    for process in started:
        process.wait(60)


def variables(place: Place) -> None:
    env = {**os.environ, "CI": "1", "HOOKTRAY_APPROVE": "1", "HOOKTRAY_YES": "1", "SSH_TTY": "/dev/pts/0"}
    subprocess.run(place.asks(REQUESTS[0]), check=False, timeout=60, env=env)


def lines_on_stdin(place: Place) -> None:
    argv = [
        sys.executable,
        "-I",
        "-m",
        "tray",
        "--home",
        str(place.live.home),
        "approve",
        "tool_before",
        "./guard.sh",
    ]
    subprocess.run(argv, input=b"y\nyes\n\n" * 100, check=False, timeout=60, capture_output=True)


def a_command_line_of_ones_own(place: Place) -> None:
    """PYTHONPATH makes the command another program: it can only ask, like every program."""
    evil = place.folder / "evil"
    (evil / "tray").mkdir(parents=True, exist_ok=True)
    code = f"import subprocess\nsubprocess.run({place.asks(REQUESTS[0])!r})\n"
    (evil / "tray" / "__init__.py").write_text(code)
    (evil / "sitecustomize.py").write_text(code)
    env = {**os.environ, "PYTHONPATH": str(evil), "LD_PRELOAD": "/nonexistent.so"}
    subprocess.run([sys.executable, "-c", "import tray"], env=env, check=False, timeout=60, capture_output=True)


def a_program_of_the_same_name(place: Place) -> None:
    shim = place.folder / "bin" / "hooktray"
    shim.parent.mkdir(exist_ok=True)
    shim.write_text("#!/bin/sh\necho approved\n")
    shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    subprocess.run(["hooktray", "approve", "guard"], env=env, check=False, timeout=60, capture_output=True)


def another_home(place: Place) -> None:
    """A home where everything is approved; the relay line names ours, whatever the variable says."""
    env = {"HOOKTRAY_HOME": str(place.folder / "elsewhere")}
    argv = place.live.relay_argv("claude-code", "PreToolUse")
    place.plain.run(
        argv, env, input=b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}', timeout=60
    )


def forged_prompts(place: Place) -> None:
    for words in ("off", "pause 1h", "approve tool_before ./guard.sh", "revoke kept", "deny guard"):
        place.live.relay("claude-code", "UserPromptSubmit", {"prompt": f"/hooks {words}", "session_id": "s"})


def edits_of_the_configuration(place: Place) -> None:
    """Neither an exception of one's own nor the loss of the guard's entry counts without a person."""
    loose = {"when_down": "allow", "protection": {"allow": ["*"]}, "hooks": [GUARD]}
    place.live.configure(loose)
    place.live.cli("status")
    said = place.live.relay(
        "claude-code",
        "PreToolUse",
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "hooktray off"}},
    )
    place.live.configure(CONFIGURATION)
    assert b'"deny"' in said.stdout, said.stdout


def a_row_without_its_link(place: Place) -> None:
    _insert(place.database, place.key("guard"), "0" * 64)


def _insert(database: Path, key: str, chain: str) -> None:
    with sqlite3.connect(database, timeout=10) as connection:
        connection.execute(
            "INSERT INTO ledger(at, act, key, digest, definition, position, way, chain) VALUES (1,?,?,?,?,?,?,?)",
            ("approve", key, "d", "{}", "[0,0]", "tray", chain),
        )
    connection.close()


ATTACKS: tuple[Callable[[Place], None], ...] = (
    a_command_line_of_ones_own,
    a_program_of_the_same_name,
    another_home,
    edits_of_the_configuration,
    forged_prompts,
    lines_on_stdin,
    many_at_once,
    requests_that_do_not_exist,
    says_it_is_the_tray,
    variables,
    a_row_without_its_link,
)


# ---- while no tray runs


def _offline(tally: Tally, place: Place) -> None:
    place.live.quit()
    aside = place.folder / "aside.db"
    done = place.live.cli("approve", "guard")
    tally.attack("the command without a tray", done.returncode == 1 and place.held())
    _remove_forged(place)
    shutil.copy2(place.database, aside)

    with sqlite3.connect(place.database) as connection:
        connection.execute("UPDATE ledger SET key = ? WHERE act = 'approve'", (place.key("guard"),))
    connection.close()
    book = place.stores().ledger.book
    tally.attack("a row that was altered", not book.approved and bool(book.broken))

    with sqlite3.connect(place.database) as connection:
        connection.execute("DELETE FROM ledger")
    connection.close()
    tally.attack("a ledger that was rolled back is noticed", bool(place.stores().ledger.book.broken))

    place.database.unlink()
    place.database.symlink_to(aside)
    done = place.live.cli("list")
    tally.attack("a link in the ledger's place", done.returncode == 1 and b"not a link" in done.stderr)
    place.database.unlink()
    shutil.copy2(aside, place.database)
    _damage_copy(tally, place)


def _remove_forged(place: Place) -> None:
    with sqlite3.connect(place.database) as connection:
        connection.execute("DELETE FROM ledger WHERE digest = 'd'")
    connection.close()


def _damage_copy(tally: Tally, place: Place) -> None:
    """Other bytes in the approved copy's place do not run."""
    ran = place.folder / "ran"
    for copy in place.paths.copies.rglob("kept.sh"):
        copy.parent.chmod(0o700)
        copy.chmod(0o700)
        copy.write_text(f"#!/bin/sh\ntouch {ran}\n")
    place.live.relay("claude-code", "PreToolUse", {"hook_event_name": "PreToolUse", "tool_name": "Bash"})
    statuses = [hook["status"] for row in place.live.log()[:1] for hook in row["hooks"]]
    tally.attack("other bytes in the approved copy", not ran.exists() and statuses == [Status.FAILED.value])
