"""T24: payloads around every limit: a guard sees all bytes or none, and is never asked about a part."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from house import PRE_TOOL_USE, House

from torture.frame import Tally
from tray import relay
from tray.door.address import Peer
from tray.door.listener import Gone, Listener
from tray.engine.pipeline import Engine
from tray.engine.questions import Said
from tray.engine.runners.orphans import OPENED
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, Knock

TITLE = "payloads around the limits"
MB = 1024 * 1024
NEAR = (
    0,
    1,
    2,
    100,
    4095,
    4096,
    4097,
    65_535,
    65_536,
    65_537,
    131_072,
    MB - 1,
    MB,
    MB + 1,
    4 * MB,
    PAYLOAD_LIMIT - 1,
)
OVER = (PAYLOAD_LIMIT + 1, PAYLOAD_LIMIT + 4096, 17 * MB, 32 * MB, 64 * MB)
SAW = """import hashlib, json, os, sys
command = json.load(sys.stdin)["tool_input"]["command"]
open(os.environ["SAW"], "w").write(hashlib.sha256(command.encode()).hexdigest())
"""


class Service:
    """What stands behind the door: the engine, and nobody's controls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def patience(self, agent: str, event: str) -> float:
        return 120.0

    def answer(self, knock: Knock, after: object, slow: object) -> Said | Callable[[Gone], Said]:
        return self._engine.begin(knock)

    def busy(self, knock: Knock) -> Answer:
        return self._engine.busy(knock)

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        return Answer()

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        return {}


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    path = house.paths.config.parent / "saw.py"
    path.write_text(SAW)
    house.hook(
        "saw", on="tool_before", command="python3 ./saw.py", failure="block", timeout=60, dialect="claude-code"
    )
    door = Listener(house.paths.socket, Service(house.engine))
    door.start()
    try:
        near = NEAR if tally.full else (0, 100, 65_537, MB + 1)
        over = OVER if tally.full else OVER[:1]
        for size in (*near, PAYLOAD_LIMIT, *over):
            for _ in range(tally.many(1, 3)):
                _size(tally, house, size)
    finally:
        door.close()
        house.join()
        house.close()
    _control(tally)


def _size(tally: Tally, house: House, size: int) -> None:
    saw = house.root / "saw"
    saw.unlink(missing_ok=True)
    body = _body(size)
    answer = _relayed(house, body, saw)
    denied = b'"deny"' in answer
    seen = saw.read_text() if saw.exists() else ""
    if len(body) > PAYLOAD_LIMIT or len(body) < 90:
        tally.attack(f"{len(body)} bytes: denied {denied}, seen {seen!r}", denied and not seen)
    else:
        command: str = json.loads(body)["tool_input"]["command"]
        whole = seen == hashlib.sha256(command.encode()).hexdigest()
        tally.attack(f"{len(body)} bytes: denied {denied}, whole {whole}", whole and not denied)


def _body(size: int) -> bytes:
    empty = json.dumps({**PRE_TOOL_USE, "tool_input": {"command": ""}}).encode()
    if size < len(empty):
        return empty[:size] if size < 90 else empty
    return empty.replace(b'"command": ""', b'"command": "' + b"x" * (size - len(empty)) + b'"')


def _relayed(house: House, body: bytes, saw: Path) -> bytes:
    argv = [
        sys.executable,
        "-I",
        "-S",
        str(Path(relay.__file__)),
        "--home",
        str(house.root / "home"),
        "claude-code",
        "PreToolUse",
    ]
    environment = {"PATH": os.environ["PATH"], "SAW": str(saw), OPENED: "1"}  # a child of ours, and of no hook
    return subprocess.run(argv, input=body, env=environment, capture_output=True, check=False, timeout=300).stdout


def _control(tally: Tally) -> None:
    """A guard that is shown the first megabyte, as it was elsewhere, sees nothing of what stands behind it."""
    body = b"x" * MB + b"rm -rf /"
    tally.control("a shortened copy", b"rm -rf" not in body[:MB])
