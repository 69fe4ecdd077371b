"""T24: payloads around every limit: a guard sees all bytes or none, and is never asked about a part."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from house import House

from torture import event_server
from torture.frame import Tally
from tray import relay
from tray.agents.registry import AGENTS
from tray.execution.process import OPENED_VARIABLE
from tray.model.decision import Verdict
from tray.model.event import PAYLOAD_LIMIT

TITLE = "payloads around the limits"
MB = 1024 * 1024
EVENTS = {
    "claude-code": "PreToolUse",
    "shelley": "chat-message",
    "starchild": "pre_tool_call",
    "x-code": "PreToolUse",
}
FILLED = {"shelley": b"Fix the parser."}  # what of each sample is filled up; a tool's command elsewhere
POWERS = tuple(2**n + d for n in (9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19) for d in (-1, 0, 1))
NEAR = (
    0,
    1,
    2,
    100,
    *POWERS,
    700_000,
    MB - 1,
    MB,
    MB + 1,
    4 * MB,
    7_654_321,
    PAYLOAD_LIMIT - 4097,
    PAYLOAD_LIMIT - 1,
)
OVER = tuple(PAYLOAD_LIMIT + n for n in (1, 2, 7, 4096, 65_536)) + tuple(n * MB for n in (17, 20, 24, 32, 48, 64))
TRIES = 3  # the server is in this busy process, and a relay takes one for hung that is silent for 0.3 s
EVIL = b" rm -rf /"  # the last that is filled in
GUARD = """import hashlib, os, sys
body = sys.stdin.buffer.read()
open(os.environ["SAW"], "w").write(hashlib.sha256(body).hexdigest())
if b"rm -rf" in body:
    print('{"decision": "%s", "reason": "no"}' % os.environ.get("WORD", "block"))
    print("no", file=sys.stderr)
    sys.exit(int(os.environ.get("CODE", "0")))
"""
SPOKEN = {  # how a hook of each dialect refuses: what it prints, and how it ends
    "claude-code": ("block", "2"),
    "shelley": ("block", "1"),
    "starchild": ("block", "0"),
    "x-code": ("deny", "0"),
}


def torture(tally: Tally) -> None:
    silent = 0
    house = House(tally.folder / "house")
    (house.paths.config.parent / "guard.py").write_text(GUARD)
    for agent, event in EVENTS.items():
        house.hook(
            agent, on=event, agent=agent, command="python3 ./guard.py", failure="block", timeout=60, dialect=agent
        )
    try:
        with event_server.opened(house):
            for number, agent in enumerate(EVENTS):
                for size in _sizes(tally, number):
                    silent += _size(tally, house, agent, size)
    finally:
        house.join()
        house.close()
    tally.keep(f"{silent} relays gave the server up", silent * 4 <= tally.inputs)
    _control(tally)


def _sizes(tally: Tally, number: int) -> tuple[int, ...]:
    """All of them; in the quick form each dialect has others."""
    if tally.full:
        return (*NEAR, PAYLOAD_LIMIT, *OVER)
    return (NEAR[number], (65_537, MB + 1, PAYLOAD_LIMIT, OVER[0])[number])


def _size(tally: Tally, house: House, agent: str, size: int) -> int:
    """The guard was given the very bytes that the agent sent, or none; and in no case was the agent let go on.

    Returns how many relays had gone before the server's answer.
    """
    saw = house.root / "saw"
    saw.unlink(missing_ok=True)
    body = _body(agent, size)
    sent = hashlib.sha256(body).hexdigest()
    answer, tries = b"", 0
    while not answer and tries < TRIES:
        house.decisions.clear()
        answer, tries = _relayed(house, agent, body, saw), tries + 1
    seen = saw.read_text() if saw.exists() else ""
    record = house.decisions[-1][2]
    denied = record.verdict is Verdict.DENY and bool(answer.strip())
    whole = len(body) >= len(_body(agent, 0)) and len(body) <= PAYLOAD_LIMIT
    identical = seen == record.digest == sent if whole else not seen
    hashes = f"sent {sent[:8]}, seen {seen[:8]}, kept {record.digest[:8]}"
    tally.attack(f"{agent}, {len(body)} bytes: {record.verdict.name}, {hashes}", denied and identical)
    return tries - 1


def _body(agent: str, size: int) -> bytes:
    """The agent's sample with so many bytes; below the smallest, the beginning of it."""
    sample = AGENTS[agent].protocol.sample(EVENTS[agent])
    before, found, after = sample.partition(FILLED.get(agent, b"ls -la"))
    assert found
    room = size - len(before) - len(after) - len(EVIL)
    if size and room < 0:
        return (before + EVIL + after)[:size]
    return before + b"x" * max(room, 0) + EVIL + after


def _relayed(house: House, agent: str, body: bytes, saw: Path) -> bytes:
    home = str(house.root / "home")
    argv = [sys.executable, "-I", "-S", str(Path(relay.__file__)), "--home", home, agent, EVENTS[agent]]
    word, code = SPOKEN[agent]
    # A child of ours, and of no hook.
    environment = {"PATH": os.environ["PATH"], "SAW": str(saw), OPENED_VARIABLE: "1", "WORD": word, "CODE": code}
    done = subprocess.run(argv, input=body, env=environment, capture_output=True, check=False, timeout=300)
    return done.stdout + done.stderr


def _control(tally: Tally) -> None:
    """The same guard and the same payloads behind a server that reads what its buffer holds, and decides."""
    (tally.folder / "guard.py").write_text(GUARD)
    path = tally.folder / "cut.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        server = threading.Thread(target=_cuts, args=(listener, tally.folder))
        server.start()
        said = [_asked(path, _body("claude-code", size)) for size in (ROOM, ROOM + 500, 2 * ROOM)]
        server.join()
    tally.control("a server that cuts at its limit and decides", said == [b"deny", b"allow", b"allow"])


ROOM = 65_536  # bytes in the buffer of the careless server


def _cuts(listener: socket.socket, folder: Path) -> None:
    for _ in range(3):
        caller = listener.accept()[0]
        with caller:
            body = caller.recv(ROOM, socket.MSG_WAITALL)
            argv = [sys.executable, "-I", "-S", str(folder / "guard.py")]
            guard = subprocess.run(
                argv, input=body, env={"SAW": os.devnull, "CODE": "2"}, capture_output=True, check=False, timeout=60
            )
            caller.sendall(b"deny" if guard.returncode == 2 else b"allow")


def _asked(path: Path, body: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(60)
        caller.connect(str(path))
        with contextlib.suppress(OSError):  # it hangs up on what it does not read
            caller.sendall(body)
            caller.shutdown(socket.SHUT_WR)
        return caller.recv(100)
