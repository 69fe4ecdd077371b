"""The command line: what a command takes is declared beside its parameters, and argparse reads it."""

from __future__ import annotations

import argparse
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Sequence
from functools import partial
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


class Argument:
    """A word that has its place, in the annotation of its parameter; one with a default may be left out."""

    def __init__(self, *flags: str, help: str, metavar: str = "") -> None:
        self.flags = flags
        self.help = help
        self.metavar = metavar


class Option(Argument):
    """An option, in the annotation of the parameter that it sets: `Annotated[str, Option("--hook", help="...")]`.

    A `bool` is a flag; a `list` has the values of an option that may be given several times.
    """


Json = Annotated[bool, Option("--json", help="One JSON object per line.")]


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a command's function, as people type it."""

    name: str
    kind: type
    is_list: bool
    default: object
    declared: Argument

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
        if self.choices and word not in self.choices:
            raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(self.choices)}")
        try:
            return self.kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{word}' is not a number") from None


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


class CommandParser(argparse.ArgumentParser):
    """One that raises instead of ending the process, and lists the commands below it in its help."""

    def __init__(
        self,
        prog: str,
        help: str,
        taken: Sequence[Parameter],
        commands: Sequence[tuple[str, str]] = (),
        closing: str = "",
    ) -> None:
        words = [one.shown for one in taken if not one.declared.flags] if not commands else ["COMMAND", "[ARGS]..."]
        layout = partial(argparse.HelpFormatter, max_help_position=HELP_COLUMN)
        super().__init__(
            prog, " ".join((prog, "[OPTIONS]", *words)), _plain(help),
            add_help=False, allow_abbrev=False, formatter_class=layout,
        )  # fmt: skip
        self.commands = commands
        self.closing = closing
        self.flags = list(HELP)
        self._arguments = self.add_argument_group("Arguments")
        self._options = self.add_argument_group("Options")
        for parameter in taken:
            self._add(parameter)
        self._options.add_argument(*HELP, action="help", help=HELP_TEXT)

    def _add(self, parameter: Parameter) -> None:
        """Take what the parameter declares."""
        declared = parameter.declared
        given: dict[str, object] = {"help": _plain(declared.help)}
        if not parameter.is_required:
            given["default"] = [] if parameter.is_list else parameter.default
        if parameter.is_flag:
            given["action"] = "store_true"
        else:
            given |= {"metavar": declared.metavar, "type": parameter.convert}
        if declared.flags:
            self.flags += declared.flags
            given["dest"] = parameter.name
            if parameter.is_list:
                given["action"] = "append"
        elif parameter.is_list or not parameter.is_required:
            given["nargs"] = ("+" if parameter.is_required else "*") if parameter.is_list else "?"
        group = self._options if declared.flags else self._arguments
        add: Callable[..., object] = group.add_argument
        add(*(declared.flags or (parameter.name,)), **given)

    def values(self, words: Sequence[str]) -> dict[str, object]:
        """What the words set, by the names of the parameters. Raises UsageError."""
        # Before Python 3.12.5 the intermixed form loses a `--`; options may be anywhere in front of one.
        read = self.parse_known_args if "--" in words else self.parse_known_intermixed_args
        found, unknown = read(list(words))
        for word in unknown:
            if word.startswith("-"):
                self.error(f"No such option: {word}{did_you_mean(word, self.flags)}")
            self.error(f"Got an unexpected argument: {word}")
        return vars(found)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self)

    def format_usage(self) -> str:
        return f"Usage: {self.usage}\n"

    def format_help(self) -> str:
        """What argparse writes, the commands below this one, and the last sentence."""
        text = super().format_help().replace("usage", "Usage", 1)
        if not self.commands:
            return text
        column = max(len(name) for name, _ in self.commands) + 4
        entries = [_wrapped(text, f"  {name:<{column - 2}}", " " * column) for name, text in self.commands]
        closing = ["", _wrapped(self.closing)] if self.closing else []
        return "\n".join((text, "Commands:", *entries, *closing, ""))


def did_you_mean(word: str, known: Collection[str]) -> str:
    near = nearest(word, known)
    return f". Did you mean '{near}'?" if near else ""


def _plain(text: str) -> str:
    """The text as it is, where argparse would fill in values."""
    return text.replace("%", "%%")


def _wrapped(text: str, first: str = "", others: str = "") -> str:
    width = max(get_terminal_size().columns - 2, len(others) + 20)
    return fill(text, width, initial_indent=first, subsequent_indent=others)
