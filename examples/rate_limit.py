#!/usr/bin/env python3
"""Allows a session so many tool calls in so many seconds, and refuses what is more.

    rate_limit.py CALLS SECONDS

Answers in: starchild and claude-code, unchanged. Needs Python 3.10.
It counts in a small database below $XDG_STATE_HOME (or ~/.local/state), so that calls which come together are counted
one after the other. `hooktray test` is not counted. It slows down who runs wild; deleting the file undoes it.
When it cannot count it exits 1, which is "failed".

Declare:
    - {event: tool_before, command: ./rate_limit.py 120 60}
Try:
    hooktray test PreToolUse --hook rate_limit --expect abstain
"""

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path


def main() -> None:
    calls, seconds = int(sys.argv[1]), float(sys.argv[2])
    session = str(json.load(sys.stdin).get("session_id") or "unknown")
    is_test = os.environ.get("HOOKTRAY_TEST") == "1"
    with closing(sqlite3.connect(_place() / "rate_limit.sqlite3", timeout=5, isolation_level=None)) as database:
        wait = _wait(database, session, calls, seconds, counts=not is_test)
    if wait > 0:
        reason = f"More than {calls} tool calls in {seconds:g} seconds. Wait {wait:.0f} seconds; batch them."
        print(json.dumps({"decision": "block", "reason": reason}))


def _wait(database: sqlite3.Connection, session: str, calls: int, seconds: float, *, counts: bool) -> float:
    """Seconds until the next call is free; 0 = now, and then it is counted."""
    now = time.time()
    database.execute("CREATE TABLE IF NOT EXISTS call (session TEXT, at REAL)")
    database.execute("BEGIN IMMEDIATE")  # nobody else counts until we are done
    database.execute("DELETE FROM call WHERE at <= ? OR at > ?", (now - seconds, now + 1))
    taken = database.execute("SELECT at FROM call WHERE session = ? ORDER BY at", (session,)).fetchall()
    free = len(taken) < calls
    if free and counts:
        database.execute("INSERT INTO call VALUES (?, ?)", (session, now))
    database.execute("COMMIT")
    return 0.0 if free else max(1.0, taken[-calls][0] + seconds - now)


def _place() -> Path:
    place = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "hooktray-examples"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


if __name__ == "__main__":
    main()
