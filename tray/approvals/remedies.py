"""Why hooks fail, and what to do about it: one table for notifications, `doctor`, `why` and test runs."""

from __future__ import annotations

import enum
import shlex

from tray.approvals.variables import grant_command
from tray.execution.environment import withheld_in
from tray.execution.script import NOT_EXECUTABLE
from tray.language import phrase, say

OUTPUT_REMEDY = phrase("print JSON or nothing on stdout, and words for people on stderr")
LLM_REMEDY = phrase("write `llm:` in hooktray.yaml and confirm it in the tray's menu")


class HookFailure(enum.Enum):
    """A kind of failure: the words that identify it in a cause, and its remedy.

    The first kind with one of its words in the cause applies. Remedies may have `{path}` and `{source}`.
    """

    BROKEN_PROGRAM = (
        ("of a broken program",),
        phrase("correct the script or its command in {source}, then approve the change"),
    )
    OTHER_WORDS = (
        ("its format,", "does not read its answer", "a reason and no decision", "word for word in the event"),
        phrase("print an answer in the words of its format, or name the format that it prints with `dialect:`"),
    )
    PROGRAM_OF_SCRIPT = (
        ("exit 127",),
        phrase("a program that the script starts is not there: install it, or write its whole path"),
    )
    INTERPRETER_MODE = (
        ("interpreter not executable",),
        phrase("make the interpreter executable, or name another one in its first line"),
    )
    INTERPRETER = (
        ("interpreter not found",),
        phrase("install it, or correct the script's first line (and its line ends), then approve the change"),
    )
    INTERPRETER_LINE = (
        ("no interpreter line",),
        phrase("begin the script with a line such as `#!/bin/sh`, then approve the change"),
    )
    MODE = (("not executable", "ermission denied"), "chmod +x {path}")
    SCRIPT = (
        ("script not found", "no such", "No such"),
        phrase("put the script back, or correct the command in {source}, then approve the change"),
    )
    PROGRAM_REPLACED = (
        ("is another program than",),
        phrase("approve the hook again, if it was you who replaced the program"),
    )
    PROGRAM = (("not found",), phrase("install it, or correct the command in {source}, then approve the change"))
    TIME = (("timed out",), phrase("make it quicker, or raise its `timeout:` in {source}"))
    NO_MODEL = (("no llm configured",), LLM_REMEDY)
    SIZE = ((" over ",), phrase("have it print less"))
    OUTPUT = (("output",), OUTPUT_REMEDY)
    COPY = (
        ("approved copy",),
        phrase("approve the hook again in the tray's menu, or start the tray: it mends the copy from the file"),
    )
    ADDRESS = (("address",), phrase("correct `url:` in {source}; a local address needs `allow_local:`"))
    BUSY = (("busy",), phrase("too many events at once; it is asked again with the next one"))

    @property
    def remedy(self) -> str:
        return str(self.value[1])


def find_failure(cause: str) -> HookFailure | None:
    """Which row of the table this cause has."""
    return next((one for one in HookFailure if any(words in cause for words in one.value[0])), None)


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
    return say(failure.remedy, path=named, source=source or its_file)
