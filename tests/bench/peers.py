"""Hooks of other projects that PyPI has, each installed by its own installer into an environment and home of its own.

The others that are known (peon-ping, code-notify, agent-notifications, hookify) are in no registry: `--peer PATH`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
from bench.trays import PAYLOAD

CACHE = Path(__file__).parents[2] / ".cache" / "peers"
PEERS: Mapping[str, tuple[str, ...]] = {  # by requirement: the words with which it connects itself to Claude Code
    "hol-guard==3.57.0": ("hol-guard", "guard", "install", "claude-code"),
    "nah==0.11.0": ("nah", "install", "claude"),
}
WARM = 5  # calls before the first that counts: HOL Guard starts a process that stays
LONG = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class Peer:
    """The hook that its installer wrote for calls of Bash."""

    argv: list[str]
    environment: Mapping[str, str]


@contextlib.contextmanager
def installed() -> Iterator[Mapping[str, Peer]]:
    """By name and version; without those that cannot be installed here. What they leave running ends with it."""
    found = {}
    try:
        for requirement, words in PEERS.items():
            try:
                found[requirement.replace("==", " ")] = _install(requirement, words)
            except (OSError, subprocess.SubprocessError, LookupError) as error:
                print(f"{requirement}: left out: {error}", file=sys.stderr)
        yield found
    finally:
        _end_all()


def _install(requirement: str, words: tuple[str, ...]) -> Peer:
    folder = CACHE / requirement
    programs, home = folder / "venv" / "bin", folder / "home"
    if not (programs / words[0]).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=LONG)
        subprocess.run([str(programs / "pip"), "install", "-q", requirement], check=True, timeout=LONG)
    home.mkdir(exist_ok=True)
    environment = {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    argv = [str(programs / words[0]), *words[1:]]
    subprocess.run(argv, env=environment, cwd=home, stdout=subprocess.DEVNULL, check=True, timeout=LONG)
    one = Peer(_hook_of_bash(home / ".claude" / "settings.json"), environment)
    for _ in range(WARM):
        subprocess.run(one.argv, input=PAYLOAD, env=environment, capture_output=True, timeout=LONG, check=False)
    return one


def _hook_of_bash(settings: Path) -> list[str]:
    """Raises LookupError where it wrote none."""
    for group in json.loads(settings.read_text(encoding="utf-8"))["hooks"]["PreToolUse"]:
        if re.fullmatch(group.get("matcher") or ".*", "Bash"):
            hook = group["hooks"][0]
            return [hook["command"], *hook["args"]] if "args" in hook else ["/bin/sh", "-c", hook["command"]]
    raise LookupError(f"{settings}: no hook for calls of Bash")


def _end_all() -> None:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and any(str(CACHE) in word for word in process.cmdline()):
                process.kill()
