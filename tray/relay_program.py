"""Which relay agents are to run: the native one where it runs, else the portable one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
NATIVE_RELAY = HERE / "native" / ("hooktray-relay.exe" if sys.platform == "win32" else "hooktray-relay")
TIMEOUT = 5.0  # seconds for the native relay to show that it runs here


def argv(options: Sequence[str] = (), native: Path = NATIVE_RELAY) -> list[str]:
    """The fastest relay that runs here, up to AGENT [EVENT]. It costs a process: ask when settings are written."""
    relay = portable() if problem(native) else [str(native)]
    return [*relay, *options]


def portable() -> list[str]:
    return [sys.executable, "-I", "-S", str(HERE / "relay.py")]


def problem(native: Path = NATIVE_RELAY) -> str:
    """Why the native relay cannot be used; "" when it can."""
    if not native.exists():
        return f"{native}: not built; it takes a C compiler when Hooktray is installed, or a wheel for this platform"
    try:
        # Without an address it gives the neutral answer: silence and exit 0.
        done = subprocess.run([str(native)], input=b"", capture_output=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{native}: does not run here: {error}"
    if (done.returncode, done.stdout, done.stderr) != (0, b"", b""):
        return f"{native}: is no relay of ours; it ended with code {done.returncode}"
    return ""
