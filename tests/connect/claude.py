"""The real Claude Code binary, fetched with npm into .cache of the checkout, in a home of the test's own."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import pty
import shutil
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from filelock import FileLock

VERSION = "2.1.329"
PACKAGE = "@anthropic-ai/claude-code-linux-x64"
CACHE = Path(__file__).parents[2] / ".cache" / f"claude-code-{VERSION}"
LONGEST = 240  # seconds for a download of 167 MB, 361 MB unpacked; 14 s where the registry is near
KEY = "dummy-key-of-twenty-and-more-signs"


@pytest.fixture(scope="session")
def claude() -> Path:
    """The program; fetched once. Of the session's scope, so that npm has its own configuration and no test's home."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("the binary is for Linux on x86-64")
    program = CACHE / "node_modules" / PACKAGE / "claude"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE.parent / "claude-code.lock"):
        problem = "" if program.exists() else _fetch()
    if problem:
        pytest.fail(f"npm has to bring {PACKAGE} {VERSION} once, to {CACHE}: {problem}", pytrace=False)
    return program


def _fetch() -> str:
    """Why npm did not bring it; "" when it did."""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm"
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries", "1"]
    downloads = CACHE.parent / "npm"
    argv = [npm, "install", *options, "--prefix", str(CACHE), "--cache", str(downloads), f"{PACKAGE}@{VERSION}"]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return f"npm took more than {LONGEST} s"
    shutil.rmtree(downloads, ignore_errors=True)  # 167 MB that nobody needs again
    return done.stderr.decode("utf-8", "replace")[-500:] if done.returncode else ""


def environment(home: Path, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def settle_in(home: Path, project: Path) -> None:
    """All questions of a first start are answered."""
    state = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": VERSION,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(state))


class Terminal:
    """A program in a terminal of its own; what it draws is read and kept."""

    def __init__(self, argv: Sequence[str | Path], cwd: Path, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.drawn = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        self._reader.join(20)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._master, 65536)
            except OSError:  # the other end is closed
                return
            if not part:
                return
            self.drawn += part
