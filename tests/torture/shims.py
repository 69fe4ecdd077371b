"""Small C libraries that are preloaded into a process to change what it meets; built where they are needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from torture.frame import HERE, Tally


def shim(tally: Tally, name: str, what: str) -> Path | None:
    """The library made of `name`.c; without it, `what` is not run here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        tally.not_run.append(f"{what}: no C compiler, or no LD_PRELOAD, here")
        return None
    path = tally.folder / f"{name}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", path, HERE / f"{name}.c", "-ldl"], check=True)
    return path
