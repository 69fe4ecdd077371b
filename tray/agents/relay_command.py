"""The command that an agent runs for each event: safe without Hooktray, and recognised when it is read again."""

from __future__ import annotations

import functools
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

import msgspec

from tray.agents.registry import AGENTS
from tray.errors import HooktrayError
from tray.paths import Paths

SEPARATORS = frozenset({"&&", "||", ";", "|", "then", "{", "(", ")", "else"})
CMD_SAFE = re.compile(r"[\w./=+-]+", re.ASCII)  # for cmd.exe
CMD_OPERATORS = frozenset({"(", ")", ">nul"})
CMD_UNSAFE = re.compile(r'["%^&|<>!\r\n]')  # for cmd.exe, in quotes or out of them
SHIM_START = "#!/bin/sh\n# Written by `hooktray connect`; `hooktray disconnect` takes it away.\n"


class RelayCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One of our commands, parsed; `required_files` holds its program."""

    agent: str
    event: str = ""
    state_folder: str = ""  # the folder that it leads to; "" = from the agent's environment
    required_files: tuple[str, ...] = ()


def relay_argv(paths: Paths) -> tuple[str, ...]:
    """The relay up to AGENT [EVENT]: its one stable place, and nothing that an upgrade would change."""
    return (str(paths.relay),)


def shell_line(words: Sequence[str], *, otherwise: str = "cat >/dev/null", replaces_shell: bool = True) -> str:
    """For an agent that gives it to a shell. Without Hooktray it reads its input to the end and prints nothing.

    Without `replaces_shell` the shell waits for the relay, so that the line exits 0 even when the system cannot start
    it: a shell exits 126 then, which some agents take for a refusal.
    """
    if sys.platform == "win32":
        return cmd_line(words)
    start = "exec " if replaces_shell else ""
    return f"[ -x {shlex.quote(words[0])} ] && {start}{shlex.join(words)} || {otherwise}"


def answering_line(words: Sequence[str], answer: bytes) -> str:
    """For an agent that takes silence or an exit code for a refusal: without Hooktray the line answers, and ends
    with 0 whatever becomes of the relay.
    """
    text = answer.decode()
    if sys.platform == "win32":
        return cmd_line(words, answer=text)
    otherwise = f"{{ cat >/dev/null; printf %s {shlex.quote(text)}; }}" if text else "cat >/dev/null"
    return shell_line(words, otherwise=otherwise, replaces_shell=False)


def exec_line(words: Sequence[str]) -> str:
    """For an agent that splits the command into words, as a POSIX shell does, and starts the first one."""
    return shlex.join(cmd_argv(words) if sys.platform == "win32" else ("/bin/sh", "-c", shell_line(words)))


def cmd_line(words: Sequence[str], *, answer: str = "") -> str:
    """For cmd.exe, which reads it unchanged; `more` reads the input to its end, and `answer` is printed then."""
    line = " ".join(
        word if CMD_SAFE.fullmatch(word) or word in CMD_OPERATORS else f'"{word}"' for word in _guarded(words)
    )
    return f"{line[:-2]} & echo {answer})" if answer else line


def cmd_argv(words: Sequence[str]) -> list[str]:
    """For whoever starts programs on Windows by words: cmd.exe with one word each, so that the quotes agree.

    Its own rules and the C library's, by which agents quote, differ in nothing but signs that no path here has.
    """
    return ["cmd.exe", "/d", "/c", *_guarded(words)]


def _guarded(words: Sequence[str]) -> list[str]:
    unsafe = next((word for word in words if CMD_UNSAFE.search(word)), None)
    if unsafe is not None:
        raise HooktrayError(f"{unsafe}: cmd.exe cannot be given this path", hint="install Hooktray in another folder")
    return ["if", "exist", words[0], "(", *words, ")", "else", "(", "more", ">nul", ")"]


def shim(words: Sequence[str], *, otherwise: str) -> bytes:
    """An executable of its own, for an agent whose hooks are files."""
    command = shell_line(words, otherwise=otherwise)
    return f"{SHIM_START}{command}\n".encode()


def parse(line: str | Sequence[str]) -> RelayCommand | None:
    """A command of ours; None for any other, whatever it mentions."""
    try:
        words = _words(line) if isinstance(line, str) else tuple(line)
    except ValueError:
        return None
    if len(words) == 3 and PurePath(words[0]).name in {"sh", "bash", "dash"} and words[1] == "-c":
        return parse(words[2])
    for part in _parts(words):
        if command := _parsed(part[1:] if part[:1] == ["exec"] else part):
            return command
    return None


def parse_for(agent: str, line: object) -> RelayCommand | None:
    """Returns the relay command of a line, or of words, if Hooktray wrote it for this agent; else None."""
    command = parse(line) if isinstance(line, str | Sequence) else None
    return command if command and command.agent == agent else None


def shell_argv(line: str) -> tuple[str, ...]:
    """Returns the command by which an agent runs a line in a shell."""
    return ("cmd.exe", "/d", "/c", *shlex.split(line)) if sys.platform == "win32" else ("/bin/sh", "-c", line)


@functools.lru_cache(maxsize=1024)  # the lines of all agents' events are read several times
def _words(line: str) -> tuple[str, ...]:
    return tuple(shlex.split(line, comments=True))


def _parts(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        parts.append([]) if word in SEPARATORS else parts[-1].append(word)
    return parts


def _parsed(words: Sequence[str]) -> RelayCommand | None:
    name = PurePath(words[0].replace("\\", "/")).name if words else ""
    program = name.removesuffix(".exe").removesuffix(".cmd")
    rest = list(words[1:])
    state = ""
    if program == "hooktray":
        state, rest = _state(rest)
        if rest[:1] != ["relay"]:
            return None
        rest = rest[1:]
    elif program != "hooktray-hook":
        return None
    relay_state, rest = _state(rest)
    if not 1 <= len(rest) <= 2 or rest[0] not in AGENTS:
        return None
    event = rest[1] if len(rest) > 1 else ""
    folder = relay_state or state
    return RelayCommand(agent=rest[0], event=event, state_folder=folder, required_files=(words[0],))


def _state(words: list[str]) -> tuple[str, list[str]]:
    """The folder that the option before them names, and the words behind it."""
    option, is_joined, folder = words[0].partition("=") if words else ("", "", "")
    if option not in {"--home", "--state"}:
        return "", words
    rest = words[1:] if is_joined else words[2:]
    folder = folder if is_joined else "".join(words[1:2])
    return (str(Path(folder, "state")) if option == "--home" and folder else folder), rest
