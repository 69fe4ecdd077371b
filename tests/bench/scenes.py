"""The comparisons: each builds what it needs, lets its candidates take turns, and returns rows of the page."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.peers import installed
from bench.timing import GAP, Sample, Times, burst, in_turns, process
from bench.trays import CALL, OF_A_PERSON, PAYLOAD, RESULT, Bench, ideal
from desk import Desk
from desktop.focus.terminals import front, tmux, wait_active
from headless import ENVIRONMENT
from msgspec.structs import replace
from servers import WebServer

from tray import relay_program
from tray.desktop.focus import focus
from tray.store.journal import Journal
from tray.store.writer import Committed

SHELL = ["/bin/sh", "-c", ":"]
BASE = "`sh -c :`"
PYTHON = "import json, sys\njson.load(sys.stdin)\nprint('{}')\n"
JQ = "#!/bin/bash\njq -r .tool_name >/dev/null\necho '{}'\n"
NEEDS_YOU = {
    "hook_event_name": "Notification",
    "message": "look",
    "notification_type": "permission_prompt",
    "cwd": "/",
}
GOING = 20  # clicks on *Go there*
SHOWN = 4  # notifications: more in a minute would be put together
PUSHED = 6
STARTED_WITHIN = 60.0  # seconds, on a busy machine
PEER_ROUNDS = 20
INTERPRETERS = {".js": "node", ".mjs": "node", ".py": sys.executable, ".sh": "bash"}
NODE = "const text = require('fs').readFileSync(0, 'utf8'); JSON.parse(text); console.log('{}')\n"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what was measured, and what it is compared with."""

    what: str
    times: Times
    base: str = ""
    ratio: float = 0.0


def rows(times: Mapping[str, Times], base: str) -> list[Row]:
    return [Row(what, found, base, found.p50 / times[base].p50) for what, found in times.items()]


def once(argv: list[str], payload: bytes | Path = PAYLOAD, environment: Mapping[str, str] = ENVIRONMENT) -> Sample:
    return process(argv, payload, environment)


@contextlib.contextmanager
def tray(folder: Path, **keys: int | bool | str) -> Iterator[Bench]:
    made = Bench(folder, **keys)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.stop()


def nothing_matches(folder: Path, others: Sequence[Path] = ()) -> list[Row]:
    """Nothing matches: what every call of a tool pays"""
    with tray(folder / "t") as on, tray(folder / "o", hooks=1, off=True) as off, ideal(folder / "i") as best:
        portable = relay_program.portable()
        samples = {
            BASE: once(SHELL),
            "relay, exec form": once(on.relay()),
            "relay, shell form": once(on.shell()),
            "the ideal tray in C, exec form": once(best.relay()),
            "the ideal tray in C, shell form": once(best.shell()),
            "switch off, exec form": once(off.relay("PostToolUse"), RESULT),
            "switch off, shell form": once(off.shell("PostToolUse"), RESULT),
            "portable relay, exec form": once(on.relay(relay=portable)),
            **dict(by_hand(folder)),
            **dict(map(peer, others)),
        }
        return rows(in_turns(samples, 200), BASE)


def otherwise(folder: Path) -> list[Row]:
    """The same 15 ms apart, from an agent with 80 variables more (10 KB), and in a session with a skill in force"""
    found = []
    with tray(folder / "s", skill=True) as one:
        samples = {
            BASE: once(SHELL),
            "exec form, a skill": once(one.relay()),
            "shell form, a skill": once(one.shell()),
        }
        found += rows(in_turns(samples, 200), BASE)
    with tray(folder / "t") as one:
        lines = {"exec form": one.relay(), "shell form": one.shell()}
        for how, gap, environment in (("15 ms apart", 0.015, ENVIRONMENT), ("80 variables", GAP, OF_A_PERSON)):
            samples = {f"{name}, {how}": once(argv, environment=environment) for name, argv in lines.items()}
            base = f"{BASE}, {how}"
            found += rows(in_turns({base: once(SHELL, environment=environment)} | samples, 200, gap), base)
    return found


def by_hand(folder: Path) -> Iterator[tuple[str, Sample]]:
    """The same by hand: a hook of a few lines that reads its event and has no opinion."""
    scripts = {"python": ("p.py", PYTHON, [sys.executable]), "node": ("n.js", NODE, [shutil.which("node") or ""])}
    scripts["bash and jq"] = ("j.sh", JQ, ["/bin/bash" if shutil.which("jq") else ""])
    for name, (file, text, interpreter) in scripts.items():
        if interpreter[0]:
            (folder / file).write_text(text)
            yield f"a hook in {name}, by hand", once([*interpreter, str(folder / file)])


def peer(hook: Path) -> tuple[str, Sample]:
    """Another project's hook, as its checkout has it."""
    program = INTERPRETERS.get(hook.suffix)
    return f"a peer: {hook.parent.name}/{hook.name}", once(
        [*([shutil.which(program) or program] if program else []), str(hook)]
    )


def one_hook(folder: Path) -> list[Row]:
    """One hook matches: a shell script, run by itself and run by us"""
    with tray(folder / "t", hooks=1) as one:
        samples = {
            "the hook by itself": once(one.hook, RESULT),
            "through Hooktray": once(one.relay("PostToolUse"), RESULT),
        }
        return rows(in_turns(samples, 200), "the hook by itself")


def eight_hooks(folder: Path) -> list[Row]:
    """Eight hooks match"""
    with tray(folder / "t", hooks=8) as eight:
        samples = {
            "the eight by themselves, at once": burst(eight.hook, RESULT, ENVIRONMENT, 8),
            "through Hooktray": once(eight.relay("PostToolUse"), RESULT),
        }
        return rows(in_turns(samples, 60), "the eight by themselves, at once")


def bursts(folder: Path) -> list[Row]:
    """Events at once, until all are answered"""
    found = []
    with tray(folder / "t") as one:
        for count in (8, 32, 128):
            base = f"{count} {BASE}"
            samples = {base: burst(SHELL, PAYLOAD, ENVIRONMENT, count)}
            samples[f"{count} events, shell form"] = burst(one.shell(), PAYLOAD, ENVIRONMENT, count)
            samples[f"{count} events, exec form"] = burst(one.relay(), PAYLOAD, ENVIRONMENT, count)
            found += rows(in_turns(samples, 15), base)
    return found


def payloads(folder: Path) -> list[Row]:
    """Size of the payload, exec form"""
    with tray(folder / "t") as one:
        samples = {"2 KB": once(one.relay(), PAYLOAD)}
        for name, content in (
            ("64 KB", "word " * ((1 << 16) // 5)),
            ("1 MB", "word " * ((1 << 20) // 5)),
            ("10 MB", "word " * ((10 << 20) // 5)),
            ("10 MB of numbers", [1] * ((10 << 20) // 3)),
        ):
            path = folder / name
            path.write_text(json.dumps(CALL | {"tool_input": {"command": "make", "content": content}}))
            samples[name] = once(one.relay(), path)
        return rows(in_turns(samples, 40), "2 KB")


def without_tray(folder: Path) -> list[Row]:
    """The tray is not there, or hangs"""
    with tray(folder / "h") as hung, tray(folder / "d", mode="down") as down, tray(folder / "o") as once_:
        conf = (once_.house.paths.relay_conf).read_text()
        once_.stop()
        assert hung.process is not None
        hung.process.send_signal(signal.SIGSTOP)
        for one in (hung, down):
            one.house.paths.relay_conf.write_text("without_tray=allow\n")
        once_.house.paths.relay_conf.write_text(conf)
        samples = {
            BASE: once(SHELL),
            "no tray, `without_tray: allow`": once(down.relay()),
            "no tray, the one-shot engine": once(once_.relay()),
            "a hung tray, `without_tray: allow`": once(hung.relay()),
        }
        return rows(in_turns(samples, 15), BASE)


def one_shot_engine(folder: Path) -> list[Row]:
    """Answered by the one-shot engine, 150 ms apart"""
    base, hook = "`python -I -S -c pass`", "the hook by itself"
    with (
        tray(folder / "n") as nothing,
        tray(folder / "r", rules=50) as ruled,
        tray(folder / "h", hooks=1) as hooked,
    ):
        for one in (nothing, ruled, hooked):
            one.stop()  # it wrote what tells the relay to start the engine
        samples = {
            base: once([sys.executable, "-I", "-S", "-c", "pass"]),
            "nothing matches": once(nothing.relay()),
            "50 rules in force": once(ruled.relay()),
            hook: once(hooked.hook, RESULT),
            "one hook runs": once(hooked.relay("PostToolUse"), RESULT),
        }
        return rows(in_turns(samples, 30, 0.15), base)


def peers(folder: Path) -> list[Row]:
    """The hook of one Bash call: ours with and without the tray, and other projects' as they install it themselves"""
    ours = "ours, shell form"
    with tray(folder / "t") as on, tray(folder / "o") as off, installed() as others:
        off.stop()
        samples = {BASE: once(SHELL), ours: once(on.shell()), "ours, without the tray": once(off.shell())}
        samples |= {name: once(one.argv, environment=one.environment) for name, one in others.items()}
        return rows(in_turns(samples, PEER_ROUNDS), ours)


def growth(folder: Path) -> list[Row]:
    """What has piled up, exec form"""
    with contextlib.ExitStack() as ends:
        trays = {
            "an empty home": ends.enter_context(tray(folder / "e")),
            "200,000 rows in the journal": ends.enter_context(tray(folder / "j", rows=200_000)),
            "1,000 rules in force": ends.enter_context(tray(folder / "r", rules=1000)),
            "10,000 rules in force": ends.enter_context(tray(folder / "a", rules=10_000)),
            "10,000 approvals of 50 rules": ends.enter_context(tray(folder / "l", rules=50, approvals=10_000)),
        }
        return rows(in_turns({name: once(one.relay()) for name, one in trays.items()}, 200), "an empty home")


def journal(folder: Path) -> list[Row]:
    """The journal at 1,000,000 rows"""
    with tray(folder / "j", rows=1_000_000, mode="down") as one:
        kept = Journal(one.house.stores.database)
        newest = kept.recent(1)[0]
        number = iter(range(1_000_000, 2_000_000))

        def insert() -> None:
            assert kept.append(replace(newest, id=f"{next(number):032x}"), commit=True) is Committed.DONE

        samples = {"insert a row": timed(insert), "the latest 50": timed(lambda: kept.recent(50))}
        found = in_turns(samples, 300)
        kept.close()
        return [Row(name, times) for name, times in found.items()]


def timed(work: Callable[[], object]) -> Sample:
    def sample() -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return sample


def cold_start(folder: Path) -> list[Row]:
    """From the start to the first answer"""
    with tray(folder / "t", mode="down") as one:

        def start() -> float:
            seconds = one.start()
            one.stop()
            return seconds

        python = timed(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True))
        samples = {"`python -I -c pass`": python, "the tray, headless": start}
        return rows(in_turns(samples, 10), "`python -I -c pass`")


def until_registered(folder: Path) -> list[Row]:
    """From the start to the icon, which the desktop's tray host then has registered"""
    with contextlib.ExitStack() as ends:
        try:
            desk = ends.enter_context(Desk(folder / "d", notifications=None, sound=False))
        except FileNotFoundError:  # no programs for a desktop here
            return []
        one = ends.enter_context(tray(folder / "i", mode="down"))

        def start() -> float:
            argv, running = [sys.executable, "-I", "-m", "tray", "--home", one.home, "run"], []
            seconds = desk.bus.seconds_until(
                "StatusNotifierItemRegistered", lambda: running.append(desk.start(argv)), STARTED_WITHIN
            )
            desk.stop(*running)
            return seconds

        python = timed(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True))
        samples = {"`python -I -c pass`": python, "the tray, with its icon": start}
        return rows(in_turns(samples, 10), "`python -I -c pass`")


COMMANDS = ("--version", "paths", "status", "list", "log")


def commands(folder: Path) -> list[Row]:
    """The commands, with a running tray"""
    with tray(folder / "c") as one:
        subprocess.run(one.relay("PreToolUse"), input=PAYLOAD, stdout=subprocess.DEVNULL, check=True)

        python = [sys.executable, "-I"]
        argvs = {f"`hooktray {word}`": [*python, "-m", "tray", "--home", one.home, word] for word in COMMANDS}
        samples = {
            name: once(argv, b"") for name, argv in {"`python -I -c pass`": [*python, "-c", "pass"], **argvs}.items()
        }
        return rows(in_turns(samples, 20), "`python -I -c pass`")


def until_shown(folder: Path) -> list[Row]:
    """From an agent's event to its notification, until the desktop's server has noted that it shows it"""
    with contextlib.ExitStack() as ends:
        try:
            desk = ends.enter_context(Desk(folder / "d"))
        except FileNotFoundError:  # no programs for a desktop here
            return []
        one = ends.enter_context(tray(folder / "i", mode="down"))
        return _until_told(desk, one, lambda: len(desk.notifications()), SHOWN)


def _until_told(desk: Desk, one: Bench, told: Callable[[], int], rounds: int) -> list[Row]:
    """Times an event that needs the user until `told` counts one more; each event has its own session."""
    desk.wait_item(desk.start([sys.executable, "-I", "-m", "tray", "--home", one.home, "run"]).pid)
    numbers = iter(range(rounds + 1))

    def tell() -> float:
        payload = NEEDS_YOU | {"session_id": f"s{next(numbers)}"}
        before, started = told(), time.perf_counter()
        desk.run(one.relay("Notification"), input=json.dumps(payload).encode())
        while told() == before:
            time.sleep(0.0005)
            assert time.perf_counter() - started < 30, "no alert is sent"
        return time.perf_counter() - started

    return [Row(name, times) for name, times in in_turns({"an event that needs you": tell}, rounds).items()]


def going_there(folder: Path) -> list[Row]:
    """From the click to the terminal in front with the session's pane in it"""
    with contextlib.ExitStack() as ends:
        try:
            desk = ends.enter_context(Desk(folder / "d", panel=None, notifications=None, sound=False))
        except FileNotFoundError:  # no programs for a desktop here
            return []
        server = ends.enter_context(tmux(desk, folder))
        panes = itertools.cycle([server.first("work"), server.pane("new-window", "work")])
        server.attach("work", "one")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])

        def go() -> float:
            front(desk, "plain")
            pane = next(panes)
            place, started = pane.place, time.perf_counter()
            assert focus(place, "", desk.environment).raised
            wait_active(desk, "one")
            taken = time.perf_counter() - started
            assert pane.pid in server.shown()
            return taken

        found = in_turns({"a pane of tmux in xterm under openbox": go}, GOING)
        return [Row(name, times) for name, times in found.items()]


def pushed(folder: Path) -> list[Row]:
    """From an agent's event to a push service on this machine, while nobody is at the desktop"""
    with contextlib.ExitStack() as ends:
        try:
            desk = ends.enter_context(Desk(folder / "d"))
        except FileNotFoundError:  # no programs for a desktop here
            return []
        server = ends.enter_context(contextlib.closing(WebServer()))
        one = ends.enter_context(tray(folder / "p", mode="down"))
        one.house.configure({"push": [{"url": f"json://{server.place}"}], "away_after": 0.001})
        (setting,) = one.house.catalog.settings()
        one.house.consent.confirm(setting.key, setting.digest, "bench", accept=True)
        return _until_told(desk, one, lambda: len(server.asked), PUSHED)


SCENES = (
    nothing_matches,
    otherwise,
    one_hook,
    eight_hooks,
    bursts,
    payloads,
    without_tray,
    one_shot_engine,
    peers,
    growth,
    journal,
    cold_start,
    until_registered,
    commands,
    until_shown,
    pushed,
    going_there,
)
