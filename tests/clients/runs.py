"""What the real clients were last seen to do: runs.json, which `CLIENTS_RECORD=1 tests/clients/all` writes."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

from clients import packages
from clients.client import Client
from filelock import FileLock

WANTED = "CLIENTS_RECORD" in os.environ
FILE = Path(__file__).parent / "runs.json"


def recorded() -> dict[str, dict[str, Any]]:
    """By the client's row in packages.json: its agent, the version and the day, and the tests that passed."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def record(client: Client, test: str, *, passed: bool) -> None:
    """What another version passed does not count for this one."""
    version, today = packages.version_run(client.package), datetime.date.today().isoformat()
    with FileLock(packages.CACHE / "runs.lock"):
        every = recorded()
        row = every.get(client.package, {})
        if row.get("version") != version:
            row = {"agent": client.agent, "version": version}
        tests = set(row.get("passed", ()))
        row |= {"date": today, "passed": sorted(tests | {test} if passed else tests - {test})}
        text = json.dumps(every | {client.package: row}, indent=1, sort_keys=True)
        FILE.write_text(text + "\n", encoding="utf-8")
