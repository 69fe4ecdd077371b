"""`hooktray completion`: the script that makes a shell complete our commands, and the answers at each Tab."""

from __future__ import annotations

import enum
import os
from typing import Annotated

import typer

from tray.cli import app

VARIABLE = "_HOOKTRAY_COMPLETE"  # set by that script when it asks


class Shell(enum.StrEnum):
    BASH = "bash"
    FISH = "fish"
    POWERSHELL = "powershell"
    ZSH = "zsh"


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="For which shell.")]) -> None:
    """Print the completion of a shell; packages bring it along."""
    print(script(shell))


def script(shell: Shell) -> str:
    """It asks the program itself at each Tab, so it never falls behind."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    return get_completion_script(prog_name="hooktray", complete_var=VARIABLE, shell=shell)


def prepare() -> None:
    """The library registers its shells only when it offers to install itself, which we do not want."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
