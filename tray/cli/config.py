"""`hooktray config check`: whether a file is valid, and what is wrong where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tray.cli import Json, app
from tray.errors import ConfigError, HooktrayError
from tray.paths import Paths

if TYPE_CHECKING:
    from tray.model.hook import Hook

config = typer.Typer(help="The settings file.", no_args_is_help=True)
app.add_typer(config, name="config")


@config.command()
def check(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Which file; default: the one in use.")] = "",
    as_json: Json = False,
) -> None:
    """Read a hooktray.yaml and say what is wrong, with line, column and the nearest valid word."""
    from tray.sources.configuration import parse

    paths: Paths = context.obj
    path = Path(file) if file else paths.config
    try:
        configuration = parse(path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise HooktrayError(
            f"{path}: there is no such file", hint="`hooktray run` makes one where `hooktray paths` says"
        ) from error
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror or error}", hint="name a file") from error
    except ConfigError as error:
        if as_json:
            print(json.dumps({"file": str(path), "good": False, "problem": str(error), "warnings": []}))
            raise typer.Exit(1) from None
        raise
    warnings = (*configuration.warnings, *_approval_problems(configuration.hooks))
    if as_json:
        row = {"file": str(path), "good": True, "problem": None, "warnings": warnings}
        print(json.dumps(row, ensure_ascii=False))
        return
    for warning in warnings:
        print(f"Warning: {warning}")
    print(f"{path}: good, {len(configuration.hooks)} {'hook' if len(configuration.hooks) == 1 else 'hooks'}.")


def _approval_problems(hooks: Sequence[Hook]) -> Iterator[str]:
    """What keeps a hook from being approved, such as a script that is not there."""
    from tray.approvals.inspection import read_bundle

    for hook in hooks:
        try:
            if not hook.inactive:
                read_bundle(hook)
        except (HooktrayError, OSError, ValueError) as error:
            yield f"{hook.source}: {error}"
