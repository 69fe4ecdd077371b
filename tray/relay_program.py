"""The relay that this installation brings: the native one where it runs, else the portable one."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
NATIVE_RELAY = HERE / "native" / ("hooktray-hook.exe" if sys.platform == "win32" else "hooktray-hook")
PORTABLE_RELAY = HERE / "relay.py"
SOURCES = HERE.parent / "native"  # only in a checkout
SOURCES_DIGEST = "sources.sha256"  # beside the relay, of the sources that an editable install built it from
TIMEOUT = 5.0  # seconds for the native relay to show that it runs here
NAME = "hooktray-hook" if sys.platform != "win32" else f"hooktray-hook.{'exe' if NATIVE_RELAY.exists() else 'cmd'}"
# Other interpreters that may run the portable relay when ours is gone; never one of the agent's PATH.
INTERPRETERS = ("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3")
SCRIPT = """#!/bin/sh
# Written by Hooktray, which runs the relay of agents' hooks by it. Without an interpreter it does nothing.
relay="${{0%/*}}/relay.py"
if [ -r "$relay" ]; then
    [ -x {python} ] && exec {python} -I -S "$relay" "$@"
    for python in {others}; do
        [ -x "$python" ] && "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null &&
            exec "$python" -I -S "$relay" "$@"
    done
fi
cat >/dev/null
"""
BATCH = """@echo off\r
if exist "{python}" if exist "%~dp0relay.py" ( "{python}" -I -S "%~dp0relay.py" %* & exit /b )\r
more >nul\r
exit /b 0\r
"""


def argv(options: Sequence[str] = (), native: Path = NATIVE_RELAY) -> list[str]:
    """The fastest relay of this installation that runs here, up to AGENT [EVENT]. It costs a process."""
    relay = portable() if problem(native) else [str(native)]
    return [*relay, *options]


def portable() -> list[str]:
    return [sys.executable, "-I", "-S", str(PORTABLE_RELAY)]


def files(native: Path = NATIVE_RELAY) -> Mapping[str, bytes]:
    """The files of the installed relay by name, the program first. It costs a process."""
    return portable_files() if problem(native) else native_files(native)


def native_files(native: Path = NATIVE_RELAY) -> Mapping[str, bytes]:
    """Empty without a native relay."""
    return {NAME: native.read_bytes()} if native.exists() else {}


def portable_files() -> Mapping[str, bytes]:
    """A script that starts the portable relay beside it, so that the installed relay needs no package of ours."""
    if sys.platform == "win32":
        script = BATCH.format(python=sys.executable)
    else:
        script = SCRIPT.format(python=shlex.quote(sys.executable), others=" ".join(INTERPRETERS))
    return {NAME: script.encode("utf-8", "surrogateescape"), PORTABLE_RELAY.name: PORTABLE_RELAY.read_bytes()}


def is_stale(native: Path = NATIVE_RELAY, sources: Path = SOURCES) -> bool:
    """Whether a checkout's sources are not those that its native relay was built from."""
    found = sorted(sources.glob("*.[ch]"))
    if not found or not native.exists():
        return False
    built = native.with_name(SOURCES_DIGEST)
    digest = hashlib.sha256()
    for path in found:
        digest.update(path.read_bytes())
    return not built.exists() or built.read_text(encoding="ascii", errors="replace") != digest.hexdigest()


def problem(native: Path = NATIVE_RELAY) -> str:
    """Why the native relay cannot be used; "" when it can."""
    if not native.exists():
        return f"{native}: not built; it takes a C compiler when Hooktray is installed, or a wheel for this platform"
    if native == NATIVE_RELAY and is_stale():
        return f"{native}: was built from other sources than those in {SOURCES}; run `pip install -e {HERE.parent}`"
    import subprocess  # the relay's names are needed for each event, its check is not

    try:
        # Without an address it gives the neutral answer: silence and exit 0.
        done = subprocess.run([str(native)], input=b"", capture_output=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{native}: does not run here: {error}"
    if (done.returncode, done.stdout, done.stderr) != (0, b"", b""):
        return f"{native}: is not a relay of ours; it ended with code {done.returncode}"
    return ""
