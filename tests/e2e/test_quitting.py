"""Quitting while a guard runs: real trays, real relays, and a hook that cannot run twice at once unnoticed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import patient_relay
import pytest
from desk import Desk, Overdue, wait
from house import PRE_TOOL_USE, House
from live import Live
from notify import parts
from plain import Plain
from servers import Asked, Said, WebServer

from tray import relay_program
from tray.desktop.linux import query_screen
from tray.paths import locate

QUICK = str(Path(__file__).with_name("quick_tray.py"))
LONG = 60.0  # seconds; longer than anything here takes
KINDS = {"allow": {"failure": "allow"}, "block": {"failure": "block"}}
RELAYS = {
    "native": [str(relay_program.NATIVE_RELAY)],
    "portable": [sys.executable, "-I", "-S", patient_relay.__file__],
}

# It counts its starts, notes when another instance or a descendant of one still lives, and denies when `go` is there.
# The lock belongs to whoever inherited it: also to the descendant, which has left the hook's session.
GUARD = """
cat >/dev/null
exec 9>>{folder}/lock
flock -n 9 || echo overlap >>{folder}/overlaps
setsid sh -c 'exec >/dev/null 2>&1; sleep 600' &
echo $$ >>{folder}/started
while [ ! -e {folder}/go ]; do sleep 0.02; done
echo '{{"decision":"block","reason":"ask before you destroy"}}'
"""


class Scene:
    """A tray in whose home one guard is approved, and an agent's relay that waits for it."""

    def __init__(self, house: House, place: Desk | Plain, folder: Path, grace: float, name: str = "guard") -> None:
        self.house, self.folder, self.name = house, folder, name
        self.live = Live(place, house.root / "home", program=(QUICK, str(grace)))

    def explain(self) -> str:
        """What a failed test shows."""
        paths = [self.house.root / name for name in ("output", "home/logs/hooktray.log")]
        texts = [f"{path.name}: {path.read_text(errors='replace')}" for path in paths if path.exists()]
        return "\n".join([*map(str, self.rows()), f"started: {self.started}", *texts])

    def guard(self, **keys: Any) -> None:
        usual = {"script": GUARD.format(folder=self.folder), "timeout": LONG}
        self.house.hook(self.name, on="tool_before", **{**usual, **keys})

    def relay(self, way: str = "portable") -> subprocess.Popen[bytes]:
        argv = [*RELAYS[way], "--home", str(self.live.home), "claude-code", "PreToolUse"]
        payload = {**PRE_TOOL_USE, "tool_input": {"command": f"echo {self.name}"}}
        process = self.live.start_relay("claude-code", "PreToolUse", payload, argv=argv)
        wait(lambda: self.started, 60, "the guard runs")
        return process

    @property
    def started(self) -> list[int]:
        """The guard's processes, one for each start."""
        path = self.folder / "started"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def shut(self) -> None:
        """Wait until relays find no tray."""
        wait(lambda: not locate(str(self.live.home)).socket.exists(), 60, "the tray takes no more events")

    def go(self) -> None:
        (self.folder / "go").touch()

    def rows(self) -> list[Any]:
        """Those of this guard's events, the tray's first."""
        rows = [row for row in self.house.stores.journal.recent(20) if row.hooks[0]["name"] == self.name]
        return sorted(rows, key=lambda row: row.offline)

    def result(self, relay: subprocess.Popen[bytes]) -> tuple[object, ...]:
        """Whether the agent was denied, how often the guard ran, whether twice at once, and the rows."""
        found = denied(relay), len(self.started), self.overlapped
        return *found, [(row.verdict.word, row.offline, row.hooks[0]["status"]) for row in self.rows()]

    @property
    def overlapped(self) -> bool:
        return (self.folder / "overlaps").exists()


def verdict(relay: subprocess.Popen[bytes]) -> str:
    output, _ = relay.communicate(timeout=LONG)
    return str(json.loads(output)["hookSpecificOutput"]["permissionDecision"]) if output else "silence"


def denied(relay: subprocess.Popen[bytes]) -> bool:
    return verdict(relay) == "deny"


class Guards:
    """One tray with a guard of each kind for each relay, and an agent that waits for it."""

    def __init__(
        self,
        house: House,
        place: Desk | Plain,
        grace: float,
        ways: Sequence[str],
        kinds: Mapping[str, Mapping[str, Any]] = KINDS,
    ) -> None:
        self.scenes: dict[str, Scene] = {}
        self.relays: dict[str, subprocess.Popen[bytes]] = {}
        self._ways = {f"{way}-{kind}": way for way in ways for kind in kinds}
        for name in self._ways:
            folder = house.root / name
            folder.mkdir()
            self.scenes[name] = Scene(house, place, folder, grace, name)
            self.scenes[name].guard(matcher=name, **kinds[name.partition("-")[2]])
        self.live = next(iter(self.scenes.values())).live

    def start(self) -> None:
        self.live.start()
        self.relays = {name: self.scenes[name].relay(way) for name, way in self._ways.items()}

    def shut(self) -> None:
        wait(lambda: not locate(str(self.live.home)).socket.exists(), 60, "the tray takes no more events")

    def wait_again(self) -> None:
        scenes = self.scenes.values()
        wait(lambda: all(len(one.started) == 2 for one in scenes), 60, "the one-shot engine asks each guard")

    def go(self) -> None:
        for scene in self.scenes.values():
            scene.go()

    def waiting(self) -> list[str]:
        """The agents that have no answer yet."""
        return [name for name, relay in self.relays.items() if relay.poll() is None]

    def check(self, *result: Any) -> None:
        """Each had this result, as `Scene.result` has it, and the tray ended in order."""
        code, (*_, rows) = self.live.process.wait(LONG), result
        with contextlib.suppress(Overdue):  # an answer leaves without its row where that takes too long
            wait(lambda: all(len(scene.rows()) >= len(rows) for scene in self.scenes.values()), LONG)
        found = {name: scene.result(self.relays[name]) for name, scene in self.scenes.items()}
        told = "\n".join(scene.explain() for name, scene in self.scenes.items() if found[name] != result)
        assert found == dict.fromkeys(self.scenes, result), told
        assert code == 0


def ways() -> list[str]:
    """Returns the relays that this machine has; tests/relay says why the native one is missing."""
    return [name for name in RELAYS if name != "native" or not relay_program.problem()]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_guard_that_ends_in_time_gives_its_answer_though_the_tray_quits(
    house: House, plain: Plain, number: signal.Signals
) -> None:
    guards = Guards(house, plain, LONG, ways())
    guards.start()

    guards.live.process.send_signal(number)
    guards.shut()
    assert guards.waiting() == list(guards.relays), "each agent waits"
    guards.go()

    guards.check(True, 1, False, [("deny", False, "ok")])


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_signal_with_the_first_event_or_while_it_closes_ends_the_tray_in_order(
    plain: Plain, tmp_path: Path, when: str
) -> None:
    program = Path(__file__).with_name("signalled_tray.py")

    tray = plain.start([sys.executable, "-I", program, when, "--home", tmp_path / "h", "run"])

    assert tray.wait(LONG) == 0, (tmp_path / "output").read_text()
    assert not locate(str(tmp_path / "h")).socket.exists()
    assert "deleted or replaced" not in (tmp_path / "output").read_text(), "the tray removed its socket itself"


def test_a_guard_that_takes_too_long_is_ended_before_the_one_shot_engine_asks_it_again(
    house: House, plain: Plain
) -> None:
    """This includes a guard that runs once in a session."""
    guards = Guards(house, plain, 0.2, ways(), {**KINDS, "once": {"failure": "allow", "once": True}})
    guards.start()

    guards.live.process.terminate()
    guards.wait_again()
    guards.go()

    guards.check(True, 2, False, [("abstain", False, "skipped"), ("deny", True, "ok")])
    trays = [scene.rows()[0] for scene in guards.scenes.values()]
    assert [row.reason for row in trays if "the tray quit" not in row.reason] == []
    assert [row.answer for row in trays] == [{} for _ in trays]


def test_a_guard_that_never_ends_does_not_allow_the_call_when_the_tray_quits(house: House, plain: Plain) -> None:
    kinds: dict[str, dict[str, Any]] = {"ask": {"failure": "ask"}, "block": {"failure": "block"}, "default": {}}
    guards = Guards(house, plain, 0.2, ways(), {kind: {**keys, "timeout": 15} for kind, keys in kinds.items()})
    guards.start()

    guards.live.process.terminate()

    for name, scene in guards.scenes.items():
        wanted = "deny" if name.endswith("block") else "ask"
        assert verdict(guards.relays[name]) == wanted, scene.explain()
        assert (len(scene.started), scene.overlapped) == (2, False)


def test_a_request_to_an_http_hook_is_cut_and_the_one_shot_engine_asks_again(
    house: House, plain: Plain, tmp_path: Path
) -> None:
    first = threading.Event()

    def respond(asked: Asked) -> Said:
        if not first.is_set():
            first.set()
            (tmp_path / "started").write_text("0\n")
            return Said(b" " * 600, drip=1.0)
        return Said(b'{"decision":"block","reason":"no"}')

    with contextlib.closing(WebServer(respond)) as server:
        scene = Scene(house, plain, tmp_path, 0.2)
        scene.guard(failure="allow", script="", type="http", url=server.url, allow_local=[server.place])
        scene.live.start()
        relay = scene.relay()

        scene.live.process.send_signal(signal.SIGTERM)

        assert denied(relay), scene.explain()
        assert scene.live.process.wait(LONG) == 0
        assert len(server.asked) == 2


def quits_in_order(scene: Scene, relay: subprocess.Popen[bytes]) -> None:
    """Checks that the guard finishes after the signal and that the agent is denied."""
    scene.live.process.send_signal(signal.SIGTERM)
    scene.shut()
    scene.go()

    assert denied(relay), scene.explain()
    assert scene.live.process.wait(LONG) == 0
    assert (len(scene.started), scene.overlapped) == (1, False)


@pytest.mark.desktop
def test_guards_stay_in_force_when_the_session_bus_dies(house: House, plain: Plain, tmp_path: Path) -> None:
    scene = Scene(house, plain, tmp_path, LONG)
    scene.guard(failure="allow")
    with parts.session_bus(tmp_path, os.environ) as address:
        plain.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        scene.live.start()
        relay = scene.relay()
    wait(lambda: "D-Bus session is gone" in (tmp_path / "output").read_text(), 60, "the tray notices")
    quits_in_order(scene, relay)


@pytest.mark.desktop
def test_an_x_server_that_dies_takes_no_guard_with_it(house: House, plain: Plain, tmp_path: Path) -> None:
    scene = Scene(house, plain, tmp_path, LONG)
    scene.guard(failure="allow")
    screen = ("Xvfb", "-displayfd", "1", "-noreset")  # else it starts anew, without tint2, when query_screen leaves
    with parts.process(*screen, environment=plain.environment, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        plain.environment["DISPLAY"] = f":{server.stdout.readline().decode().strip()}"
        host = plain.start(["tint2"])
        wait(lambda: query_screen(plain.environment).xembed, 60, "tint2 has a tray")
        plain.environment["PYSTRAY_BACKEND"] = "xorg"
        scene.live.start()
        relay = scene.relay()
    wait(lambda: host.poll() is not None, 60, "the display is gone")
    quits_in_order(scene, relay)


@pytest.mark.desktop
def test_quit_waits_for_the_guard_and_a_second_quit_ends_it(desk: Desk, house: House) -> None:
    guards = Guards(house, desk, LONG, ["portable"])
    guards.start()
    guards.live.click("Quit")
    desk.wait(lambda: guards.live.menu()[0].label.startswith("Quitting:"), 60, "the menu says what it waits for")

    guards.live.click("Quit")
    guards.wait_again()
    guards.go()

    guards.check(True, 2, False, [("abstain", False, "skipped"), ("deny", True, "ok")])
