"""How to see the page of a machine that one is logged in to over SSH: what to type where one sits."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from tray.language import say

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
SSH_PORT = "22"
COPY = "hooktray.html"


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether this terminal is a login over SSH, and no browser started here would be seen."""
    return bool(environment.get("SSH_CONNECTION")) and not any(environment.get(name) for name in DISPLAYS)


def how_to_open(environment: Mapping[str, str], user: str, port: int, file: Path) -> str:
    """Two commands for the machine where the browser is; the link that signs it in stays in the file."""
    *_, host, ssh_port = environment["SSH_CONNECTION"].split()
    other = [] if ssh_port == SSH_PORT else [ssh_port]
    tunnel = ["ssh", *(["-p", *other] if other else []), "-L", f"{port}:127.0.0.1:{port}", f"{user}@{host}"]
    address = f"[{host}]" if ":" in host else host
    copy = ["scp", *(["-P", *other] if other else []), f"{user}@{address}:{file}", COPY]
    return "\n".join(
        (
            say("There is no screen here. On the machine where you sit, in two terminals:"),
            f"  {shlex.join(tunnel)}",
            f"  {shlex.join(copy)}",
            say("Then open {file} in a browser there, within {n} minutes; it signs in once.", file=COPY, n=10),
            say("What you click there asks for your passphrase: `hooktray passphrase` sets one."),
        )
    )
