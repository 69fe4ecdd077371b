"""Runs a program of the system that shows an alert; every word is an argument of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Sequence

from tray.notify.notifier import NotifierError


async def run_program(name: str, words: Sequence[str]) -> None:
    """Wait for its end; raises NotifierError where it is not there, or fails."""
    program = shutil.which(name)
    if program is None:
        raise NotifierError(f"{name} is not there")
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        program, *words, stdin=quiet, stdout=quiet, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, error = await process.communicate()
    except BaseException:  # also when the time is up
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise NotifierError(error.decode("utf-8", "replace").strip() or f"exit {process.returncode}")
