"""The user's commands. `commands.py` has the table of them; each module is imported when its command runs."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from tray import __version__
from tray.cli.command_line import UsageError
from tray.cli.commands import explain, find_command, root_parser, split_globals
from tray.errors import FULL, MAKE_ROOM, HooktrayError
from tray.paths import drop_foreign_runtime, locate

COMPLETE = "__complete"  # what the shells' completions ask with


def main() -> int:
    """Run one command; an error becomes a message and an exit code. Exceptions that are our bugs pass."""
    try:
        code = run_command(sys.argv[1:])
        sys.stdout.flush()  # here a reader that has ended is still answered: `hooktray log | head`
        return code
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except HooktrayError as error:
        print(f"hooktray: {error}", file=sys.stderr)
        return 1
    except (EOFError, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        if error.errno not in FULL:
            raise
        _drop_output()
        print(f"hooktray: {error.filename or 'the output'}: {error.strerror}\n  {MAKE_ROOM}", file=sys.stderr)
        return 1


def _drop_output() -> None:
    """Discard the remaining output, which cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run_command(argv: Sequence[str]) -> int:
    """The exit code of one command line. Raises UsageError and HooktrayError."""
    if argv[:1] == [COMPLETE]:
        from tray.cli.completion import complete

        return complete(argv[1:])
    options, words = split_globals(argv)
    given = root_parser().values(options)
    if given["version"]:
        print(f"hooktray {__version__}")
        return 0
    paths = locate(str(given["home"] or "") or None)
    if not words:
        from tray.cli.overview import overview

        return overview(paths)
    command, rest = find_command(words)
    if command is None:
        return explain(words)
    if command.name != "run":  # it drops it when the tray starts
        ignored = drop_foreign_runtime(os.environ)
        if ignored and command.name == "doctor":  # the others use nothing that depends on it
            print(ignored, file=sys.stderr)
    parser = command.parser()
    try:
        return command.function()(paths, **parser.values(rest)) or 0
    except UsageError as error:
        raise UsageError(error.args[0], parser) from None


def report_failure(error: Exception) -> int:
    """Our bug: with all that a report about it needs."""
    print(
        f"hooktray {__version__} has a bug; Python {platform.python_version()}, {platform.platform()}",
        file=sys.stderr,
    )
    traceback.print_exception(error)
    return 3


@contextmanager
def new_file(path: str, newline: str | None = None) -> Iterator[TextIO]:
    """Write a new file that only the user may read. Raises HooktrayError when that cannot be done."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline=newline) as out:
            yield out
    except FileExistsError:
        raise HooktrayError(f"{path}: is there already", hint="choose another name; nothing is overwritten") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise HooktrayError(f"{path}: {why}", hint="choose a folder that you can write to") from error
