"""The command line: what is taken, what is refused with what words, and what is imported for it."""

from __future__ import annotations

import enum
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from every import every

from tray.cli import run_command
from tray.cli.command_line import Argument, CommandParser, Option, UsageError, parameters
from tray.cli.commands import COMMANDS, GROUPS
from tray.paths import Paths

DESKTOP = ("asyncio", "jinja2", "ssl", "tray.desktop", "tray.ipc.server", "tray.notify", "tray.web")
HEAVY = ("asyncio", "jinja2", "regex", "sqlite3", "yaml", "tray.app", "tray.agents", "tray.engine")


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


def paint(
    paths: Paths,
    colour: Annotated[Colour, Argument(metavar="COLOUR", help="100% of it.")],
    walls: Annotated[list[str] | None, Argument(metavar="WALL", help="Which.")] = None,
    coats: Annotated[int, Option("--coats", "-n", metavar="N", help="How many.")] = 1,
    note: Annotated[str, Option("--note", metavar="TEXT", help="What to write.")] = "",
    tools: Annotated[list[str] | None, Option("--tool", metavar="NAME", help="With what.")] = None,
    dry: Annotated[bool, Option("--dry", help="Only look.")] = False,
) -> None:
    """A command with all that there is."""


def values(*words: str) -> dict[str, Any]:
    return CommandParser("hooktray paint", "Paint.", parameters(paint)).values(words)


PLAIN = {"colour": Colour.RED, "walls": [], "coats": 1, "note": "", "tools": [], "dry": False}


@every(
    ("words", "given"),
    [
        (["red"], {}),
        (["--dry", "green", "-n", "3"], {"colour": Colour.GREEN, "coats": 3, "dry": True}),
        (["red", "north", "--note", "wet", "south"], {"walls": ["north", "south"], "note": "wet"}),
        (["red", "-n2", "--note=--dry"], {"coats": 2, "note": "--dry"}),
        (["--dry", "red", "--", "--north", "-x"], {"walls": ["--north", "-x"], "dry": True}),
        (["--", "red", "-"], {"walls": ["-"]}),
        (["--tool", "brush", "red", "--tool=roll"], {"tools": ["brush", "roll"]}),
    ],
)
def test_words_become_the_values_of_the_parameters(words: list[str], given: dict[str, Any]) -> None:
    assert values(*words) == PLAIN | given


@every(
    ("words", "why"),
    [
        ([], "required: COLOUR"),
        (["blue"], "argument COLOUR: 'blue' is not one of red, green"),
        (["red", "-n", "many"], "'many' is not a number"),
        (["red", "--coat", "2"], "No such option: --coat. Did you mean '--coats'?"),
        (["red", "--note"], "argument --note: expected one argument"),
        (["red", "--dry=yes"], "--dry"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_way_to_write_it(words: list[str], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        values(*words)

    assert why in str(refused.value)
    assert str(refused.value).startswith("Usage: hooktray paint [OPTIONS] COLOUR [WALL]...\nTry 'hooktray paint -h'")


@pytest.mark.parametrize("number", ["0", "10001"])
def test_a_number_of_rows_has_limits(tmp_path: Path, number: str) -> None:
    with pytest.raises(UsageError, match=f"argument --limit/-n: {number} is not between 1 and 10000") as refused:
        run_command(["--home", str(tmp_path), "log", "-n", number])

    assert str(refused.value).startswith("Usage: hooktray log [OPTIONS]\nTry 'hooktray log -h'")


def test_the_help_explains_every_word_as_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        values("--help")

    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert shown.startswith("Usage: hooktray paint [OPTIONS] COLOUR [WALL]...\n\nPaint.\n\nArguments:\n")
    assert "100% of it." in shown
    assert "--coats N, -n N" in shown
    assert [word for word in ("WALL", "--note TEXT", "--dry", "-h, --help") if word not in shown] == []


def test_every_command_of_the_table_is_there_and_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            run_command([*command.name.split(), "-h"])

        shown = " ".join(capsys.readouterr().out.split())
        assert shown.startswith(f"Usage: hooktray {command.name} [OPTIONS]")
        assert command.help in shown
        assert "[[" not in shown, "an argument that may be left out is in brackets once"


def test_a_group_by_itself_shows_its_commands_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    for group in GROUPS:
        assert run_command([group]) == 2
        below = [command.name.split()[1] for command in COMMANDS if command.name.startswith(f"{group} ")]
        shown = capsys.readouterr().out.split("Commands:")[1]
        assert [word for word in below if f"  {word}  " not in shown] == []


@every(
    ("words", "why"),
    [
        (["lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["config", "chek"], "No such command 'chek'. Did you mean 'check'?"),
        (["--hoem", "x", "list"], "No such option: --hoem. Did you mean '--home'?"),
        (["list", "more"], "Got an unexpected argument: more"),
    ],
)
def test_a_word_that_nobody_knows_is_a_usage_error(words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        run_command(words)


def imported(folder: Path, *words: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    code = "import sys, tray.cli; sys.argv[1:] = {words!r}; tray.cli.main(); print(*sys.modules, file=sys.stderr)"
    argv = [sys.executable, "-I", "-c", code.format(words=["--home", str(folder), *words])]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("word", ["--version", "help"])
def test_commands_that_read_nothing_import_next_to_nothing(tmp_path: Path, word: str) -> None:
    modules = imported(tmp_path, word)

    assert [name for name in HEAVY if name in modules] == []
    ours = sorted(name for name in modules if name.startswith("tray.cli."))
    assert len(ours) <= 8, ours


def test_a_command_that_reads_without_the_tray_imports_no_part_of_the_desktop(tmp_path: Path) -> None:
    modules = imported(tmp_path, "list")

    assert [name for name in DESKTOP if name in modules] == []
