"""A shell line's words, their positions and what they name, as far as that can be known without a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from operator import attrgetter

import msgspec

from tray.text.words import word_set

_PLACEHOLDER = re.compile(r"\$\{(env:)?(\w+)\}")  # of hook formats
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+|#[^\n]*")
_OPERATOR = re.compile(r"\n|;+&?|&&|\|\||&>>?|<<<|<<-?|[<>]&|<>|>>|>\||\|&|\$\(|[&|()<>`]")
_ATOM = re.compile(
    r"""\\.|\$'(?:[^'\\]|\\.)*'|'[^']*'|\$?"(?:[^"\\]|\\.)*"|\$\{[^}]*\}|\$\w+|\$[?$!#@*-]|\$(?!\()|[^\s;&|()<>`'"\\$]+""",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ESCAPED = re.compile(r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})|.)", re.DOTALL)
_QUOTING = re.compile(r"\$?'([^']*)'|\$?\"([^\"]*)\"|\\(.)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
SETTING = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_PREFIX = re.compile(r"(?:-{1,2}[\w-]+=)?")
KEYWORDS = word_set("! { do elif else if then until while")  # a command follows
# Programs and built-ins of the shell that run the command in their arguments.
WRAPPERS = word_set(
    "busybox chroot chronic command doas env exec ionice nice nohup setsid stdbuf sudo time timeout toybox unbuffer "
    "xargs xvfb-run"
)
# These, and programs with their own arguments in front of the command.
COMMAND_RUNNERS = WRAPPERS | word_set(
    "ash bash catchsegv chrt dash direnv eval expect find fish flock ksh mise parallel screen script sh ssh strace "
    "systemd-run taskset tmux watch xterm zsh"
)
_BEFORE_COMMAND = KEYWORDS | word_set("command exec nohup time")  # mostly without options of their own
_HERE_OPERATORS = {"<<", "<<-"}  # a text follows on the next lines, up to a mark
# The command goes on behind the word of these.
_REDIRECTS = {">", ">>", ">|", "&>", "&>>", ">&", "<>", "<", "<&", "<<<", *_HERE_OPERATORS}
TOO_LONG = "too much to be read"
_TOKEN_LIMIT = 4096  # words, operators and parts of words; reading more takes time that the agent may not give
_INNER = re.compile(r"\$\(|`|[<>]\(")
_NESTING_LIMIT = 40


class ShellWord(msgspec.Struct, frozen=True, kw_only=True):
    """One word. `text` is what the shell would make of it, if that is known (`is_literal`)."""

    start: int
    end: int
    raw: str
    text: str
    is_literal: bool
    is_command: bool  # it is where a command's name would be
    redirect: str  # the operator in front of it, such as `>`; "" for a word of the command itself
    command: int  # the number of the simple command that it is part of

    @property
    def is_output(self) -> bool:
        """Whether it is written to."""
        return self.redirect.startswith((">", "&", "<>"))

    @property
    def prefix(self) -> str:
        """`--rules=` of `--rules=./rules.json`; only what follows it can name a file."""
        return option_prefix(self.text)

    @property
    def value(self) -> str:
        return self.text[len(self.prefix) :]


class Reading(msgspec.Struct, frozen=True):
    """A line whose words hold their substitutions. `operators` are those in front of each simple command."""

    words: tuple[ShellWord, ...]
    texts: tuple[HereDocument, ...]
    operators: tuple[tuple[int, str], ...]


class HereDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The text between `<<EOF` and `EOF`. `is_literal`: the shell expands nothing in it, as its mark is quoted."""

    start: int
    end: int  # behind the line of its mark
    text: str
    is_literal: bool
    command: int  # the command that it is given to


class _HereMark(msgspec.Struct, frozen=True, kw_only=True):
    """The word behind `<<`: the line with this text ends the HereDocument."""

    text: str
    strips_tabs: bool
    is_literal: bool
    command: int


def words(line: str, placeholders: Mapping[str, str]) -> list[ShellWord]:
    """The line's words in order. Raises ValueError when a quote is not closed."""
    return parse(line, placeholders)[0]


def parse(line: str, placeholders: Mapping[str, str]) -> tuple[list[ShellWord], list[HereDocument]]:
    """The line's words, and the texts that it gives to its commands. Raises ValueError as `words`."""
    reader = _Reader(line, placeholders)
    return list(reader.words()), reader.texts


def read(line: str) -> Reading:
    """Returns the line with `$(…)`, backticks and `<(…)` as parts of its words. Raises ValueError as `words`."""
    reader = _Reader(line, {}, is_whole=True)
    return Reading(tuple(reader.words()), tuple(reader.texts), tuple(reader.operators))


def atom_end(text: str, at: int, depth: int = 0) -> int:
    """Returns the end of the part of a word that begins here, or `at`. Raises ValueError if it is not closed."""
    if depth > _NESTING_LIMIT:
        raise ValueError(TOO_LONG)
    two = text[at : at + 2]
    if two in ("$(", "<(", ">(", "${"):
        return _end_of(text, at + 2, ")" if two[1] == "(" else "}", depth)
    if two[:1] in ('"', "`") or two == '$"':
        return _end_of(text, at + 1 + (two == '$"'), two[-1] if two == '$"' else two[0], depth)
    atom = _ATOM.match(text, at)
    return atom.end() if atom else at


def _end_of(text: str, at: int, mark: str, depth: int) -> int:
    """Returns the position behind the closing mark, past everything quoted or nested."""
    while at < len(text):
        char, two = text[at], text[at : at + 2]
        if char == mark:
            return at + 1
        if char == "\\":
            at += 2
        elif mark == "`":
            at += 1
        elif two in ("$(", "${") or char == "`" or (char == '"' and mark != '"'):
            at = atom_end(text, at, depth + 1)
        elif char == "(" and mark == ")":
            at = _end_of(text, at + 1, ")", depth + 1)
        elif char == "'" and mark == ")":
            at = text.find("'", at + 1) + 1 or len(text)
        else:
            at += 1
    raise ValueError("a quote or a bracket is not closed")


def substitutions(text: str) -> Iterator[str]:
    """What is in `$(…)`, `<(…)` and backticks. Raises ValueError when one of them is not closed."""
    at = 0
    while opening := _INNER.search(text, at):
        at = opening.end()
        end = text.find("`", at) if opening[0] == "`" else _closing(text, at)
        if end < 0:
            raise ValueError("not closed")
        yield text[at:end]
        at = end + 1


def _closing(text: str, at: int) -> int:
    depth = 1
    for position in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if not depth:
            return position
    return -1


def commands(found: list[ShellWord]) -> Iterator[list[ShellWord]]:
    """The words of each simple command, beginning with its name."""
    for _, members in groupby(found, key=attrgetter("command")):
        group = list(members)
        start = next((index for index, word in enumerate(group) if word.is_command), None)
        if start is not None:
            yield [word for word in group[start:] if not word.is_output]


def fill(text: str, placeholders: Mapping[str, str]) -> str:
    """The text with the known values put in unquoted; anything else stays as it is."""
    return _PLACEHOLDER.sub(lambda found: placeholders.get(found[2], found[0]) if not found[1] else found[0], text)


def option_prefix(text: str) -> str:
    """Returns `--rules=` of `--rules=./rules.json`."""
    found = _PREFIX.match(text)
    return found[0] if found else ""


class _Reader:
    """One pass through a line. In `((…))`, which is arithmetic, `<<` moves bits and begins no text."""

    def __init__(self, line: str, placeholders: Mapping[str, str], *, is_whole: bool = False) -> None:
        self._line, self._placeholders, self._is_whole = line, placeholders, is_whole
        self._at = self._number = 0
        self._at_command, self._redirect = True, ""
        self._left = _TOKEN_LIMIT
        self._open: list[bool] = []  # of each parenthesis: whether it opens arithmetic
        self._pending: list[_HereMark] = []  # their texts begin behind this line
        self.texts: list[HereDocument] = []
        self.operators: list[tuple[int, str]] = []

    def words(self) -> Iterator[ShellWord]:
        while self._at < len(self._line):
            self._count()
            if blank := _BLANK.match(self._line, self._at):
                self._at = blank.end()
            elif self._is_whole and _INNER.match(self._line, self._at):
                yield self._word()
            elif operator := _OPERATOR.match(self._line, self._at):
                self._operator(operator[0])
            elif self._redirect in _HERE_OPERATORS:
                self._delimiter()
            else:
                yield self._word()

    def _operator(self, operator: str) -> None:
        if operator.endswith("("):
            is_arithmetic = operator == "(" and self._line[self._at - 1 : self._at] == "("
            self._open.append(is_arithmetic)
        elif operator == ")" and self._open:
            self._open.pop()
        self._at += len(operator)
        is_shift = operator in _HERE_OPERATORS and any(self._open)
        self._redirect = operator if operator in _REDIRECTS and not is_shift else ""
        if not self._redirect:
            self._at_command, self._number = True, self._number + 1
            self.operators.append((self._number, operator))
        if operator == "\n":
            marks, self._pending = self._pending, []
            for mark in marks:
                self.texts.append(_here_document(self._line, self._at, mark))
                self._at = self.texts[-1].end

    def _delimiter(self) -> None:
        start, self._at = self._at, self._end()
        raw = self._line[start : self._at]
        mark = _HereMark(
            text=_QUOTING.sub(r"\1\2\3", raw),
            strips_tabs=self._redirect == "<<-",
            is_literal=not set(raw).isdisjoint("'\"\\"),
            command=self._number,
        )
        self._pending.append(mark)
        self._redirect = ""

    def _word(self) -> ShellWord:
        start, self._at = self._at, self._end()
        raw = self._line[start : self._at]
        text, is_literal = _value(raw, self._placeholders)
        can_be_command = self._at_command and not self._redirect
        is_command = can_be_command and not _ASSIGNMENT.match(text) and text not in _BEFORE_COMMAND
        operator, self._redirect = self._redirect, ""
        self._at_command = self._at_command and not is_command
        return ShellWord(
            start=start,
            end=self._at,
            raw=raw,
            text=text,
            is_literal=is_literal,
            is_command=is_command,
            redirect=operator,
            command=self._number,
        )

    def _end(self) -> int:
        """Where the word ends that begins here."""
        end = self._at
        while self._is_whole and (further := atom_end(self._line, end)) > end:
            end = further
            self._count()
        if self._is_whole and self._line[end : end + 1] == "(" and _ASSIGNMENT.fullmatch(self._line, self._at, end):
            return _end_of(self._line, end + 1, ")", 0)
        while not self._is_whole and (atom := _ATOM.match(self._line, end)):
            end = atom.end()
            self._count()
        if end == self._at or self._line[end : end + 1] in ("'", '"', "\\"):
            raise ValueError(f"the quote at character {end + 1} is not closed")
        return end

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise ValueError(TOO_LONG)


def _here_document(line: str, start: int, mark: _HereMark) -> HereDocument:
    """Returns the text from `start` to the line that is its mark; without one, to the end."""
    at = start
    while at < len(line):
        end = line.find("\n", at) + 1 or len(line) + 1
        one = line[at : end - 1]
        if (one.lstrip("\t") if mark.strips_tabs else one) == mark.text:
            break
        at = end
    else:
        at, end = len(line), len(line)
    return HereDocument(
        start=start, end=min(end, len(line)), text=line[start:at], is_literal=mark.is_literal, command=mark.command
    )


def _value(raw: str, placeholders: Mapping[str, str]) -> tuple[str, bool]:
    parts = [_atom(atom[0], placeholders) for atom in _ATOM.finditer(raw)]
    text = "".join(part for part, _ in parts)
    if raw.startswith("~/"):
        text = os.path.expanduser(text)  # noqa: PTH111 - a word is no Path yet
    return text, all(is_literal for _, is_literal in parts)


def _atom(atom: str, placeholders: Mapping[str, str]) -> tuple[str, bool]:
    if atom.startswith("$'"):
        return unescape(atom[2:-1]), False
    atom = atom.removeprefix("$") if atom.startswith('$"') else atom  # a text that bash may translate
    if atom[0] == "'":
        return fill(atom[1:-1], {name: value for name, value in placeholders.items() if name != "HOME"}), True
    if atom[0] == '"':
        text, is_literal = _filled(re.sub(r"\\([\"\\`])", r"\1", atom[1:-1]), placeholders)
        return text, is_literal and "`" not in text and "$(" not in text
    if atom[0] == "\\":
        return atom[1:], True
    text, is_literal = _filled(atom, placeholders)
    return text, is_literal and not (atom[0] != "$" and re.search(r"[*?\[]|\{.*,", atom))


def unescape(text: str) -> str:
    """Returns what `$'…'` means."""
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    """The character that an escape of `$'…'` means, where it means one."""
    base, digits = (8, found["octal"]) if found["octal"] else (16, found["hex"] or found["u"])
    number = int(digits, base) if digits else 0
    return chr(number) if 0 < number <= 0x10FFFF else found[0][1:]


def _filled(text: str, placeholders: Mapping[str, str]) -> tuple[str, bool]:
    """The text with its variables' values; not plain when one of them is not known."""
    full = _VARIABLE.sub(lambda found: placeholders.get(found[1] or found[2], found[0]), text)
    return full, re.search(r"\$[\w{(]", full) is None


def spliced(word: ShellWord, names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yields each placeholder in a word in single quotes, with the variable that replaces it."""
    at = 0
    while at < len(word.raw):
        end = max(atom_end(word.raw, at), at + 1)
        part = word.raw[at:end]
        if part[0] == "'" and (text := _PLACEHOLDER.sub(lambda found: _splice(found, names), part)) != part:
            yield word.start + at, word.start + end, text
        at = end


def _splice(found: re.Match[str], names: Collection[str]) -> str:
    return f"""'"${{{found[2]}}}"'""" if found[1] or found[2] in names else found[0]


def without_env(text: str) -> str:
    return text.replace("${env:", "${")
