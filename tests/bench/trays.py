"""Trays to measure: real processes with homes that were filled beforehand."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import headless
from headless import ENVIRONMENT
from house import PRE_TOOL_USE, House

from tray import relay_program
from tray.agents import relay_command
from tray.model.decision import Record, Verdict
from tray.model.event import EventKind
from tray.model.hook import Hook, Match, Rule, Source
from tray.store.journal import insert_statement, row_values
from tray.store.ledger import chain_value

HOOK = "#!/bin/sh\ncat >/dev/null\necho '{}'\n"
AGENT = "claude-code"
EVENTS = [kind.value for kind in EventKind]
OTHERS = [event for event in EVENTS if event != EventKind.TOOL_BEFORE.value]
SPREAD = 1000  # rules, of which a few are looked at on the event that is measured
CALL = PRE_TOOL_USE | {"tool_input": {"command": "make", "description": "the whole project, with its tests " * 48}}
PAYLOAD = json.dumps(CALL).encode()
RESULT = json.dumps(CALL | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "done"}}).encode()
OF_A_PERSON = ENVIRONMENT | {f"VARIABLE_{number}": "as long as most are, " * 6 for number in range(80)}
RELAY = relay_program.argv()
IDEAL = Path(__file__).with_name("ideal.c")


class Bench:
    """A tray of its own, filled before it starts: `hooks` run after a tool, nothing ever matches before one."""

    def __init__(
        self,
        folder: Path,
        *,
        hooks: int = 0,
        off: bool = False,
        rules: int = 0,
        approvals: int = 0,
        rows: int = 0,
        skill: bool = False,
        mode: str = "",
    ) -> None:
        house = House(folder)
        self.house, self.home = house, str(house.paths.home)
        for number in range(hooks):
            house.hook(f"hook{number}", on="tool_after", script=HOOK.partition("\n")[2])
        self.hook = [str(house.paths.config.parent / "hook0.sh")]
        fill_ledger(house, rules, approvals)
        fill_journal(house, rows)
        if skill:
            house.stores.sessions.mark(AGENT, str(CALL["session_id"]), "skill:lint")
        if off:
            house.stores.switch.set_enabled(False, "bench")
        house.close()
        self.process: subprocess.Popen[bytes] | None = None
        if mode != "down":
            self.start()

    def start(self) -> float:
        """Seconds from the start to the first answer."""
        started = time.perf_counter()
        self.process = headless.start(self.home)
        while not headless.is_open(self.house.paths.socket):
            time.sleep(0.001)
            assert time.perf_counter() - started < 60, "the tray does not start"
        self.ask()
        return time.perf_counter() - started

    def ask(self) -> None:
        subprocess.run(self.relay(), input=PAYLOAD, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)

    def relay(self, event: str = "PreToolUse", relay: Sequence[str] = RELAY) -> list[str]:
        return [*relay, "--home", self.home, AGENT, event]

    def shell(self, event: str = "PreToolUse") -> list[str]:
        """As an agent runs the line that `connect` writes."""
        return ["/bin/sh", "-c", relay_command.shell_line(self.relay(event))]

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(30)
            self.process = None


@contextlib.contextmanager
def ideal(folder: Path) -> Iterator[Bench]:
    """The same relay, answered at once by a program in C: no tray can be faster."""
    one, built = Bench(folder, mode="down"), folder / "ideal"
    subprocess.run(["cc", "-O2", "-o", str(built), str(IDEAL)], check=True)
    process = subprocess.Popen([str(built), str(one.house.paths.socket)])
    try:
        until = time.monotonic() + 60
        while not headless.is_open(one.house.paths.socket):
            time.sleep(0.001)
            assert time.monotonic() < until, "the ideal tray does not start"
        yield one
    finally:
        process.terminate()
        process.wait(30)


def fill_ledger(house: House, rules: int, approvals: int) -> None:
    """So many rules in force, of all events and agents, and a history of so many approvals in all."""
    if not rules:
        return
    chain, ledger = "", []
    for number in range(max(rules, approvals)):
        hook = a_rule(number % rules)
        place = json.dumps((1, number))
        row = (float(number), "approve", hook.key, "", hook.definition, place, "bench")
        chain = chain_value(chain, row)
        ledger.append((*row, chain))
    with house.stores.database.write() as connection:
        connection.execute("DELETE FROM ledger")
        connection.executemany(
            "INSERT INTO ledger(at, act, key, digest, definition, position, way, chain)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ledger,
        )


def a_rule(number: int) -> Hook:
    """Spread over the events and the agents, of many the most over other events; none matches what is measured."""
    events = EVENTS if number < SPREAD else OTHERS
    match = Match(
        event=events[number % len(events)], agents=(("shelley",), (AGENT,), ())[number % 3], pattern="never"
    )
    source = Source(kind="hooktray", path="/bench/hooktray.yaml")
    return Hook(
        name=f"rule{number}", source=source, match=match, action=Rule(verdict=Verdict.DENY), dialect="starchild"
    )


def fill_journal(house: House, count: int) -> None:
    if not count:
        return
    record = Record(
        id="", at=0.0, agent=AGENT, session="s", project="p", event="PreToolUse", kind="tool_before",
        verdict=Verdict.ABSTAIN, reason="", ms=1.0, payload=PAYLOAD.decode(), digest="0" * 64,
    )  # fmt: skip
    values = list(row_values(record))
    with house.stores.database.write() as connection:
        now = time.time()
        lines = ((f"{number:032x}", now, *values[2:]) for number in range(count))
        connection.executemany(insert_statement(1), lines)
