"""T03: an agent tries to approve, to switch off, to revoke, by every way but a click on the user's own desktop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from plain import Plain

from torture.attempts import ATTEMPTS, controls, through_the_trays_own_process
from torture.bus_attempts import on_the_bus
from torture.frame import Tally
from torture.offline import offline
from torture.page_attempts import at_the_page, browser
from torture.place import COMMANDS, HERE, PYTHON, Place, fresh
from torture.terminals import DRIVER, Way, missing, ways

TITLE = "self-approval by an agent"


def torture(tally: Tally) -> None:
    found = [*ways().items()]
    plain = Plain(tally.folder)
    plain.environment["PATH"] = f"{browser(tally.folder)}:{plain.environment['PATH']}"
    with ThreadPoolExecutor(5) as pool:
        bus = pool.submit(on_the_bus, tally, tally.folder / "bus")  # a tray of its own, with an icon
        try:
            place = Place.made(plain, tally.folder)
            # The page comes first: this process is no agent until it sends an event.
            at_the_page(tally, place)
            list(pool.map(lambda way: _control(tally, *way), found))
            # In the quick form each way has one try: hashing a guess takes half a second, which a first one avoids.
            first = found if tally.full else [way for way in found if way not in found[::3]]
            list(pool.map(lambda way: _try(tally, place, way[0], way[1], "passphrase"), first))
            held = through_the_trays_own_process(place)  # then the user approves again and sets a passphrase
            tally.attack(through_the_trays_own_process.__name__, held and place.held())
            below = (*COMMANDS, "deny guard") if tally.full else (COMMANDS[0], "deny guard")
            list(pool.map(lambda command: _below(tally, place, command), below))
            for _ in range(tally.many(1, 5)):
                list(pool.map(lambda one: _try(tally, place, *one), _tries(tally, found)))
            for round_ in range(tally.many(1, 25)):
                for attempt in (*ATTEMPTS, through_the_trays_own_process) if round_ else ATTEMPTS:
                    held = attempt(place) is not False
                    tally.attack(f"{attempt.__name__}, round {round_}", held and place.held())
            controls(tally, place)
            offline(tally, place)
        finally:
            plain.close()
        bus.result()
    tally.not_run += missing()
    tally.not_run.append("what takes a program of the user's own at his desktop (docs/security.md): xdotool, ptrace")


def _tries(tally: Tally, found: list[tuple[str, Way]]) -> list[tuple[str, Way, str]]:
    """Every way with every command; in the quick form a third of the ways, each with one command in turn."""
    if tally.full:
        return [(*way, command) for way in found for command in COMMANDS]
    return [(*way, COMMANDS[number % len(COMMANDS)]) for number, way in enumerate(found[::3])]


def _control(tally: Tally, name: str, way: Way) -> None:
    folder = fresh(tally.folder / f"control-{name}")
    way([*PYTHON, str(HERE / "naive.py"), str(folder / "granted")], folder)
    tally.control(name, (folder / "granted").exists())


def _try(tally: Tally, place: Place, name: str, way: Way, command: str) -> None:
    way(place.live.argv(*command.split()), fresh(tally.folder / f"{name}-{command.replace(' ', '-')}"))
    tally.attack(f"{name}: {command}", place.held())


def _below(tally: Tally, place: Place, command: str) -> None:
    """At a terminal, with the right passphrase, below an agent."""
    argv = [*DRIVER, "--right", *place.live.argv(*command.split())]
    place.plain.run(place.as_agent(argv), timeout=60)
    tally.attack(f"below the agent: {command}", place.held() and place.live.states()["guard"] == "pending")
