"""The command line: what a command takes is declared beside its parameters, and argparse reads it."""

from __future__ import annotations

import argparse
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Sequence
from shutil import get_terminal_size
from textwrap import fill
from typing import Annotated, NoReturn

import msgspec

from tray.strict.document import nearest

PROGRAM = "hooktray"
HELP = ("-h", "--help")
HELP_TEXT = "Show this message and exit."
HELP_COLUMN = 26  # where what a word means begins, in a help


class UsageError(Exception):
    """The command line is not understood; `parser` knows how to write it."""

    def __init__(self, message: str, parser: CommandParser | None = None) -> None:
        super().__init__(message)
        self.parser = parser

    def __str__(self) -> str:
        usage = f"{self.parser.format_usage()}Try '{self.parser.prog} -h' for help.\n\n" if self.parser else ""
        return f"{usage}Error: {self.args[0]}"


class Option:
    """An option, in the annotation of the parameter that it sets: `Annotated[str, Option("--hook", help="...")]`.

    A `bool` is a flag; a `list` has the values of an option that may be given several times.
    """

    def __init__(
        self, *flags: str, help: str, metavar: str = "", minimum: int | None = None, maximum: int | None = None
    ):
        self.flags = flags
        self.help = help
        self.metavar = metavar
        self.minimum = minimum
        self.maximum = maximum


class Argument:
    """A word that has its place, in the annotation of its parameter; one with a default may be left out."""

    flags: tuple[str, ...] = ()

    def __init__(self, *, metavar: str, help: str):
        self.metavar = metavar
        self.help = help


Json = Annotated[bool, Option("--json", help="One JSON object per line.")]


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a command's function, as people type it."""

    name: str
    kind: type
    is_list: bool
    default: object
    declared: Option | Argument

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def choices(self) -> list[str]:
        return [str(one.value) for one in self.kind] if issubclass(self.kind, enum.Enum) else []

    @property
    def shown(self) -> str:
        """How a usage line names the word."""
        if self.is_required or self.declared.metavar.startswith("["):
            return self.declared.metavar
        return f"[{self.declared.metavar}]{'...' if self.is_list else ''}"

    def convert(self, word: str) -> object:
        """The word as the function wants it. Raises argparse.ArgumentTypeError."""
        declared = self.declared
        if self.choices and word not in self.choices:
            raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(self.choices)}")
        try:
            value = self.kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{word}' is not a number") from None
        if isinstance(declared, Option) and isinstance(value, int):
            low, high = declared.minimum, declared.maximum
            if (low is not None and value < low) or (high is not None and value > high):
                raise argparse.ArgumentTypeError(f"{value} is not between {low} and {high}")
        return value


def parameters(function: Callable[..., object]) -> list[Parameter]:
    """What a command takes, in order; a parameter without a declaration is not of the command line."""
    hints = typing.get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        for declared in getattr(hints[parameter.name], "__metadata__", ()):
            kind, is_list = _kind(hints[parameter.name].__origin__)
            found.append(Parameter(parameter.name, kind, is_list, parameter.default, declared))
    return found


def _kind(annotation: object) -> tuple[type, bool]:
    """The type of one word, and whether there may be several: of `list[str] | None`, `str` and yes."""
    if isinstance(annotation, types.UnionType):
        (annotation,) = (one for one in typing.get_args(annotation) if one is not types.NoneType)
    if typing.get_origin(annotation) is list:
        return typing.get_args(annotation)[0], True
    assert isinstance(annotation, type)
    return annotation, False


class HelpLayout(argparse.HelpFormatter):
    """The layout of a help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=HELP_COLUMN)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[object],
        prefix: str | None = None,
    ) -> None:
        # The groups' type is private to argparse.
        super().add_usage(usage, actions, groups, prefix or "Usage: ")  # type: ignore[arg-type]


class CommandParser(argparse.ArgumentParser):
    """One that raises instead of ending the process, and lists the commands below it in its help."""

    def __init__(
        self,
        prog: str,
        help: str,
        takes: Sequence[str],
        commands: Sequence[tuple[str, str]] = (),
        closing: str = "",
    ) -> None:
        usage = " ".join((prog, "[OPTIONS]", *takes))
        super().__init__(prog, usage, _plain(help), add_help=False, allow_abbrev=False, formatter_class=HelpLayout)
        self.commands = commands
        self.closing = closing
        self.flags = list(HELP)
        self.arguments = self.add_argument_group("Arguments")
        self.options = self.add_argument_group("Options")

    def add(self, parameter: Parameter) -> None:
        """Take what the parameter declares."""
        declared = parameter.declared
        given: dict[str, object] = {"help": _plain(declared.help)}
        if not parameter.is_required:
            given["default"] = [] if parameter.is_list else parameter.default
        if parameter.is_flag:
            given["action"] = "store_true"
        else:
            given |= {"metavar": declared.metavar, "type": parameter.convert}
        if isinstance(declared, Option):
            self.flags += declared.flags
            if parameter.is_list:
                given["action"] = "append"
            add_option: Callable[..., object] = self.options.add_argument
            add_option(*declared.flags, dest=parameter.name, **given)
            return
        if parameter.is_list or not parameter.is_required:
            given["nargs"] = ("+" if parameter.is_required else "*") if parameter.is_list else "?"
        add_argument: Callable[..., object] = self.arguments.add_argument
        add_argument(parameter.name, **given)

    def add_help_option(self) -> None:
        self.options.add_argument(*HELP, action="help", help=HELP_TEXT)

    def values(self, words: Sequence[str]) -> dict[str, object]:
        """What the words set, by the names of the parameters. Raises UsageError."""
        # Before Python 3.12.5 the intermixed form loses a `--`; options may be anywhere in front of one.
        read = self.parse_known_args if "--" in words else self.parse_known_intermixed_args
        found, unknown = read(list(words))
        if unknown:
            self.error(self._about_unknown(unknown[0]))
        return vars(found)

    def _about_unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"Got an unexpected argument: {word}"
        return f"No such option: {word}{did_you_mean(word, self.flags)}"

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self)

    def format_help(self) -> str:
        """What argparse writes, the commands below this one, and the last sentence."""
        if not self.commands:
            return super().format_help()
        column = max(len(name) for name, _ in self.commands) + 4
        entries = [_entry(name, text, column) for name, text in self.commands]
        closing = ["", _wrapped(self.closing)] if self.closing else []
        return "\n".join((super().format_help(), "Commands:", *entries, *closing, ""))


def command_parser(name: str, help: str, found: Sequence[Parameter]) -> CommandParser:
    """The parser of one command."""
    takes = [one.shown for one in found if isinstance(one.declared, Argument)]
    parser = CommandParser(f"{PROGRAM} {name}", help, takes)
    for parameter in found:
        parser.add(parameter)
    parser.add_help_option()
    return parser


def did_you_mean(word: str, known: Collection[str]) -> str:
    near = nearest(word, known)
    return f". Did you mean '{near}'?" if near else ""


def _plain(text: str) -> str:
    """The text as it is, where argparse would fill in values."""
    return text.replace("%", "%%")


def _entry(name: str, text: str, column: int) -> str:
    return _wrapped(text, f"  {name:<{column - 2}}", " " * column)


def _wrapped(text: str, first: str = "", others: str = "") -> str:
    width = max(get_terminal_size().columns - 2, len(others) + 20)
    return fill(text, width, initial_indent=first, subsequent_indent=others)
