"""Why hooks fail, and what to do about it: one table for notifications, `doctor`, `why` and test runs."""

from __future__ import annotations

import enum
import shlex

import msgspec

from tray.approvals.variables import grant_command
from tray.execution.environment import withheld_in
from tray.execution.script import NOT_EXECUTABLE
from tray.language import phrase, say


class HookFailure(enum.Enum):
    """A cause that has a remedy of its own."""

    BROKEN_PROGRAM = enum.auto()  # it exits with 2, which refuses every call
    OTHER_WORDS = enum.auto()  # its answer is not in its own format
    PROGRAM_OF_SCRIPT = enum.auto()  # a program that the script starts is not there
    INTERPRETER_MODE = enum.auto()
    INTERPRETER = enum.auto()
    INTERPRETER_LINE = enum.auto()
    MODE = enum.auto()
    SCRIPT = enum.auto()
    PROGRAM_REPLACED = enum.auto()
    PROGRAM = enum.auto()
    TIME = enum.auto()
    NO_MODEL = enum.auto()
    SIZE = enum.auto()
    OUTPUT = enum.auto()
    COPY = enum.auto()
    ADDRESS = enum.auto()
    BUSY = enum.auto()


class FailureRow(msgspec.Struct, frozen=True):
    """By which words of a cause a failure is known, and its remedy, with `{path}` and `{source}`."""

    words: tuple[str, ...]
    remedy: str


OUTPUT_REMEDY = phrase("print JSON or nothing on stdout, and words for people on stderr")
LLM_REMEDY = phrase("write `llm:` in hooktray.yaml and confirm it in the tray's menu")
# The first row whose words are in the cause counts.
FAILURES = {
    HookFailure.BROKEN_PROGRAM: FailureRow(
        ("of a broken program",), phrase("correct the script or its command in {source}, then approve the change")
    ),
    HookFailure.OTHER_WORDS: FailureRow(
        ("its format,", "does not read its answer", "a reason and no decision", "word for word in the event"),
        phrase("print an answer in the words of its format, or name the format that it prints with `dialect:`"),
    ),
    HookFailure.PROGRAM_OF_SCRIPT: FailureRow(
        ("exit 127",), phrase("a program that the script starts is not there: install it, or write its whole path")
    ),
    HookFailure.INTERPRETER_MODE: FailureRow(
        ("interpreter not executable",),
        phrase("make the interpreter executable, or name another one in its first line"),
    ),
    HookFailure.INTERPRETER: FailureRow(
        ("interpreter not found",),
        phrase("install it, or correct the script's first line (and its line ends), then approve the change"),
    ),
    HookFailure.INTERPRETER_LINE: FailureRow(
        ("no interpreter line",),
        phrase("begin the script with a line such as `#!/bin/sh`, then approve the change"),
    ),
    HookFailure.MODE: FailureRow(("not executable", "ermission denied"), "chmod +x {path}"),
    HookFailure.SCRIPT: FailureRow(
        ("script not found", "no such", "No such"),
        phrase("put the script back, or correct the command in {source}, then approve the change"),
    ),
    HookFailure.PROGRAM_REPLACED: FailureRow(
        ("is another program than",), phrase("approve the hook again, if it was you who replaced the program")
    ),
    HookFailure.PROGRAM: FailureRow(
        ("not found",), phrase("install it, or correct the command in {source}, then approve the change")
    ),
    HookFailure.TIME: FailureRow(("timed out",), phrase("make it quicker, or raise its `timeout:` in {source}")),
    HookFailure.NO_MODEL: FailureRow(("no llm configured",), LLM_REMEDY),
    HookFailure.SIZE: FailureRow((" over ",), phrase("have it print less")),
    HookFailure.OUTPUT: FailureRow(("output",), OUTPUT_REMEDY),
    HookFailure.COPY: FailureRow(
        ("approved copy",),
        phrase("approve the hook again in the tray's menu, or start the tray: it mends the copy from the file"),
    ),
    HookFailure.ADDRESS: FailureRow(
        ("address",), phrase("correct `url:` in {source}; a local address needs `allow_local:`")
    ),
    HookFailure.BUSY: FailureRow(("busy",), phrase("too many events at once; it is asked again with the next one")),
}


def find_failure(cause: str) -> HookFailure | None:
    """Which row of the table this cause has."""
    return next((one for one, row in FAILURES.items() if any(words in cause for words in row.words)), None)


def remedy(cause: str, hook: str, source: object = "") -> str:
    """What to do about this failure of the hook, whose declaration is in `source`; "" for a cause without a row."""
    if names := withheld_in(cause):
        return say("`{command}` lets it through", command=grant_command(names, hook))
    found = find_failure(cause)
    return remedy_of(found, cause, source) if found else ""


def remedy_of(failure: HookFailure, cause: str = "", source: object = "") -> str:
    """What to do about a failure of this sort."""
    _, is_named, path = cause.partition(NOT_EXECUTABLE)
    its_file = say("its file")
    named = shlex.quote(path) if is_named else its_file
    return say(FAILURES[failure].remedy, path=named, source=source or its_file)
