"""The user's commands. Each one imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from typing import Annotated

import typer
from typer.models import CommandInfo

from tray import __version__
from tray.errors import HooktrayError
from tray.paths import Paths, drop_foreign_runtime, locate

# In the order in which users meet them; what is not named comes last.
ORDER = (
    "run", "status", "sessions", "focus", "open", "list", "log", "why", "on", "off", "pause", "review",
    "approve", "deny", "revoke", "connect", "agents", "disconnect", "import-hooks", "test", "doctor",
    "stats", "export", "replay", "autostart", "paths", "schema", "completion", "help",
)  # fmt: skip

app = typer.Typer(
    name="hooktray",
    help="One tray for every coding agent's hooks. Without a command: the status.",
    epilog="What an agent runs is `hooktray relay AGENT [EVENT]`, or `hooktray-relay`, which is quicker.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", metavar="", help="One JSON object per line.")]


def commands() -> typer.Typer:
    """The command line with all of its commands."""
    from tray.cli import (  # noqa: F401 - they add their commands
        agents,
        approvals,
        autostart,
        completion,
        config,
        doctor,
        history,
        overview,
        requests,
        review,
        run,
        sessions,
        status,
        testing,
    )

    app.registered_commands.sort(key=_position)
    completion.prepare()
    return app


def _position(command: CommandInfo) -> int:
    name = command.name or getattr(command.callback, "__name__", "")
    return ORDER.index(name) if name in ORDER else len(ORDER)


def main() -> int:
    """Run one command; the only place where an error becomes a message and an exit code."""
    try:
        code = int(commands()(standalone_mode=False, prog_name="hooktray") or 0)
        sys.stdout.flush()  # here a reader that has ended is still answered: `hooktray log | head`
        return code
    except HooktrayError as error:
        print(f"hooktray: {error}", file=sys.stderr)
        return 1
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last place that can answer
        return report_failure(error)


def prepared_paths(context: typer.Context) -> Paths:
    """Where this command's installation lives, made when it is not there yet."""
    paths: Paths = context.obj
    paths.prepare()
    return paths


def report_failure(error: Exception) -> int:
    """Our bug, or a usage error of the command line."""
    show = getattr(error, "show", None)  # a usage error of the command line
    if callable(show):
        show()
        return int(getattr(error, "exit_code", 2))
    print(
        f"hooktray {__version__} has a bug; Python {platform.python_version()}, {platform.platform()}",
        file=sys.stderr,
    )
    traceback.print_exception(error)
    return 3


def _version(requested: bool) -> None:
    if requested:
        print(f"hooktray {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def entry(
    context: typer.Context,
    home: Annotated[str, typer.Option("--home", metavar="DIR", help="Keep everything below DIR.")] = "",
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """One tray for every coding agent's hooks. Without a command: the status."""
    context.obj = locate(home or None)
    if context.invoked_subcommand not in (None, "run"):  # these two drop it when the tray starts
        ignored = drop_foreign_runtime(os.environ)
        if ignored and context.invoked_subcommand == "doctor":  # the others use nothing that depends on it
            print(ignored, file=sys.stderr)
    if context.invoked_subcommand is None:
        from tray.cli.overview import overview

        overview(context)
