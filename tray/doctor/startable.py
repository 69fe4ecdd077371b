"""Whether an approved command could start, without starting it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from tray.approvals.command_resolver import CommandResolver
from tray.errors import HooktrayError
from tray.execution import script
from tray.files import file_head
from tray.model.hook import Command
from tray.store.copies import Copies
from tray.store.ledger import ApprovedHook

HEAD = 256  # bytes; the kernel reads no more of an interpreter line


def start_problem(copies: Copies, one: ApprovedHook) -> str:
    """What keeps it from starting; "" when nothing does, and for hooks that are no command."""
    if not isinstance(one.hook.action, Command):
        return ""
    cwd = str(Path.home())
    try:
        argv = CommandResolver(copies).argv(one.hook, one.digest)
    except HooktrayError as error:
        return error.message
    except (OSError, ValueError) as error:
        return str(error)
    return script.missing_program(argv, cwd) or _program(argv, cwd, dict(_originals(copies, one)))


def _program(argv: tuple[str, ...], cwd: str, originals: dict[str, str]) -> str:
    program, named = argv[0], originals.get(argv[0], argv[0])
    if "/" not in program and "\\" not in program:
        return "" if shutil.which(program) else f"not found: {program}"
    if os.name == "nt":
        return ""
    if not os.access(program, os.X_OK):
        return f"{script.NOT_EXECUTABLE}{named}"
    interpreter = _interpreter(Path(program))
    if interpreter and not Path(interpreter).exists():
        missing = OSError(errno.ENOENT, os.strerror(errno.ENOENT), program)
        return script.start_error(argv, cwd, missing).replace(program, named)
    return ""


def _interpreter(program: Path) -> str:
    try:
        head = file_head(program, HEAD)
    except OSError:
        return ""
    words = head[2:].split(b"\n")[0].lstrip(b" \t").split(b" ") if head.startswith(b"#!") else [b""]
    return words[0].decode(errors="replace")


def _originals(copies: Copies, one: ApprovedHook) -> list[tuple[str, str]]:
    return [(str(copies.path(one.digest, path)), path) for path in copies.check(one.digest).files]
