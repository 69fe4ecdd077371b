"""T21: many sessions at once while hooks are approved, revoked and switched off: nobody gets another's answer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from house import PRE_TOOL_USE, House
from ipc.event_frames import encode_event
from ipc.server_bench import answer
from msgspec.structs import replace

from torture import event_server
from torture.frame import Tally
from tray import relay, relay_program
from tray.execution.process import OPENED_VARIABLE
from tray.model.decision import EMPTY_ANSWER, Answer, Gate, Record, Verdict
from tray.store.db import Database

TITLE = "many sessions while approvals and the switch change"
AT_ONCE = 16  # sessions that are in the middle of an event
AGENT, EVENT = "claude-code", "PreToolUse"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    OPENED_VARIABLE: "1",
}  # our relays are no child of a hook, though the server is here
EVERY = 25  # this one of a session's events asks a process, which repeats whose event it was; the next has a relay
RULES = {"asks": Verdict.ASK, "denies": Verdict.DENY}
ECHO = """sed -n 's/.*"session_id": *"\\([^"]*\\)".*/\\1/p' >&2; exit 2"""
OFF = (Gate.SWITCH_OFF.value, Gate.PAUSED.value)


@dataclass(frozen=True, slots=True)
class Said:
    """What one session was told."""

    session: str
    id: str
    answer: Answer
    late: bool = False  # it was silence, after as long as a relay waits for a tray

    def in_vain(self, records: Mapping[str, Record]) -> bool:
        """Its relay gave the tray up, and said nothing where there was something to say."""
        found = records.get(self.id)
        return self.late and (found is None or found.verdict is not Verdict.ABSTAIN)


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        for name, verdict in RULES.items():
            reason = f"{name} it"
            house.hook(name, on="tool_before", type="rule", decision=verdict.word, reason=reason, approved=False)
        house.hook("echo", on="tool_before", tool="Read", script=ECHO, dialect="claude-code", timeout=60)
        with event_server.opened(house):
            said = _under_flips(tally, house, tally.many(20, 200), tally.many(50, 500))
        made = [record for _, _, record in house.decisions]
        records = {record.session: record for record in made} | {record.id: record for record in made}
    finally:
        house.join()
        house.close()
    held = Held(house.stores.database)
    relayed, in_vain = sum(one.session == one.id for one in said), sum(one.in_vain(records) for one in said)
    share = 20 if tally.full else 4  # in the quick form a moment of a loaded machine is a large part of all
    tally.keep(f"{in_vain} of {relayed} relays waited in vain", in_vain * share <= relayed)
    said = [one for one in said if not one.in_vain(records)]
    for one in said:
        tally.attack(f"{one.session}: {one.id}", one.id in records and held.right(one, records[one.id]))
    versions = {record.ledger for record in records.values()}
    tally.measured.append(
        f"{len(said):,} events of {tally.many(20, 200)} sessions met {len(versions)} ledger versions;"
        f" {in_vain} of {relayed:,} relays waited in vain for a tray in the process of its {AT_ONCE} agents"
    )
    tally.attack(f"only {len(versions)} versions were met", len(versions) > 3, faults=held.flips)
    misdated = (replace(records[one.id], ledger=records[one.id].ledger - 1) for one in said)
    wrong = [not held.right(one, record) for one, record in zip(said, misdated, strict=True)]
    tally.control("rows that name the version before the one they were judged by", any(wrong))
    tally.control("answers that went to a neighbour", _mixed_up(held, said, records))


class Held:
    """The ledger as its table tells it, read without the product."""

    def __init__(self, database: Database) -> None:
        with database.connect() as connection:
            rows = connection.execute("SELECT seq, act, key FROM ledger ORDER BY seq").fetchall()
        self._rows = [(int(row["seq"]), str(row["act"]), str(row["key"]).rpartition("#")[2]) for row in rows]
        self.flips = len(rows)

    def at(self, version: int) -> dict[str, bool]:
        """Which hooks were in force after this row."""
        return {name: act == "approve" for seq, act, name in self._rows if seq <= version}

    def verdict(self, record: Record) -> Verdict:
        """Of the rules alone, by the version that the row names; the switch may have turned between two hooks."""
        held = {str(hook["name"]) for hook in record.hooks if hook["gate"] in OFF}
        there = self.at(record.ledger)
        spoken = (verdict for name, verdict in RULES.items() if there.get(name) and name not in held)
        return max(spoken, default=Verdict.ABSTAIN)

    def right(self, said: Said, record: Record) -> bool:
        """The row is this session's, its verdict that of its version, and the answer says the same."""
        hooks = {str(hook["name"]): hook for hook in record.hooks}
        echoed = hooks.get("echo")
        there = {name for name, held in self.at(record.ledger).items() if held and name in RULES}
        if record.session != said.session or set(hooks) - {"echo"} != there:
            return False
        spoke = echoed is not None and not echoed["gate"]
        if spoke and (echoed is None or str(echoed["reason"]).strip() != said.session):
            return False
        wanted = Verdict.DENY if spoke else self.verdict(record)
        return (
            record.verdict is wanted
            and _told(said.answer) == (wanted.word if wanted else "")
            and (not spoke or said.session in _text(said.answer))
        )


def _under_flips(tally: Tally, house: House, sessions: int, events: int) -> list[Said]:
    over = threading.Event()
    flips = threading.Thread(target=_flip, args=(house, over), name="flips")
    flips.start()
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            talks = list(pool.map(lambda number: _talk(house, f"session-{number}", events), range(sessions)))
    finally:
        over.set()
        flips.join()
    return [said for talk in talks for said in talk]


def _flip(house: House, over: threading.Event) -> None:
    """Approve and revoke, one after the other; now and then the switch."""
    keys = {name: house.state(name) for name in RULES}
    switch, count = house.stores.switch, 0
    while not over.wait(0.002):
        name = tuple(RULES)[count % 2]
        state = house.state(name)
        if state.approved:
            house.consent.revoke(state.key, "torture")
        else:
            house.consent.approve(state.key, keys[name].digest, "torture")
        count += 1
        if count % 6 == 0:
            switch.set_enabled(False, "torture")
        elif count % 6 == 1:
            switch.set_enabled(True, "torture")


def _talk(house: House, session: str, events: int) -> list[Said]:
    said = []
    for number in range(events):
        tool = "Read" if number % EVERY == 0 else "Bash"
        event = f"{session}-{number}"
        if number % EVERY == 1:  # a relay names its event by itself: a session of its own tells it apart
            said.append(_by_relay(house, event, tool))
        else:
            said.append(Said(session, event, _by_frame(house, session, event, tool)))
    return said


def _by_relay(house: House, event: str, tool: str) -> Said:
    argv, started = [*relay_program.argv(), "--home", str(house.paths.home), AGENT, EVENT], time.monotonic()
    done = subprocess.run(argv, input=_payload(event, tool), env=ENVIRONMENT, capture_output=True, check=False)
    answer = Answer(stdout=done.stdout, stderr=done.stderr, code=done.returncode)
    return Said(event, event, answer, late=answer == EMPTY_ANSWER and time.monotonic() - started >= relay.ACK_LIMIT)


def _by_frame(house: House, session: str, id: str, tool: str) -> Answer:
    fields = {"agent": AGENT, "event": EVENT, "id": id, "cwd": str(Path.cwd())}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(house.paths.socket))
        connection.sendall(encode_event(fields, ENVIRONMENT, _payload(session, tool)))
        return answer(connection)


def _payload(session: str, tool: str) -> bytes:
    return json.dumps(PRE_TOOL_USE | {"session_id": session, "tool_name": tool}).encode()


def _told(answer: Answer) -> str:
    """The verdict in the answer; "" for none."""
    return str(_specific(answer).get("permissionDecision", ""))


def _text(answer: Answer) -> str:
    return str(_specific(answer).get("permissionDecisionReason", ""))


def _specific(answer: Answer) -> Mapping[str, Any]:
    found = json.loads(answer.stdout) if answer.stdout else {}
    specific: Mapping[str, Any] = found.get("hookSpecificOutput", {})
    return specific


def _mixed_up(held: Held, said: Iterable[Said], records: Mapping[str, Record]) -> bool:
    several = list(said)
    swapped = zip(several, several[1:] + several[:1], strict=True)
    return any(not held.right(Said(one.session, other.id, other.answer), records[other.id]) for one, other in swapped)
