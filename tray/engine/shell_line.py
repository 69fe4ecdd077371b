"""A shell line's words, where they stand and what they name, as far as that can be told without a shell."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from tray.engine.placeholders import VARIABLE, fill

_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+|#[^\n]*")
_OPERATOR = re.compile(r"\n|;+&?|&&|\|\||&>>?|<<-?|[<>]&|<>|>>|>\||\|&|\$\(|[&|()<>`]")
_ATOM = re.compile(
    r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|\$\{[^}]*\}|\$\w+|\$[?$!#@*-]|\$(?!\()|[^\s;&|()<>`'"\\$]+""", re.DOTALL
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_PREFIX = re.compile(r"(?:-{1,2}[\w-]+=)?")
_GOES_ON = {"!", "{", "command", "do", "elif", "else", "exec", "if", "nohup", "then", "time", "until", "while"}
_JOINED = {">", ">>", ">|", "&>", "&>>", ">&", "<>", "<", "<&"}  # the command goes on behind their word


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word. `text` is what the shell would make of it, if that is known (`plain`)."""

    start: int
    end: int
    raw: str
    text: str
    plain: bool
    leads: bool  # stands where a command's name stands
    written: bool  # is written to
    command: int  # the number of the simple command that it is part of

    @property
    def prefix(self) -> str:
        """`--rules=` of `--rules=./rules.json`; only what stands behind it can name a file."""
        found = _PREFIX.match(self.text)
        return found[0] if found else ""

    @property
    def named(self) -> str:
        return self.text[len(self.prefix) :]


def words(line: str, places: Mapping[str, str]) -> list[Word]:
    """The line's words in order. Raises ValueError when a quote is not closed."""
    return list(_words(line, places))


def commands(found: list[Word]) -> Iterator[list[Word]]:
    """The words of each simple command, beginning with its name."""
    for _, members in groupby(found, key=lambda word: word.command):
        group = list(members)
        start = next((index for index, word in enumerate(group) if word.leads), None)
        if start is not None:
            yield [word for word in group[start:] if not word.written]


def rewritten(line: str, found: list[Word], instead: Callable[[Word], str | None], names: Collection[str]) -> str:
    """The line with other words in place of some, and with the placeholders `names` as variables of the shell."""
    parts: list[str] = []
    at = 0
    for word in found:
        other = instead(word)
        parts += [_spelled(line[at : word.start]), other if other is not None else _word(word.raw, names)]
        at = word.end
    return "".join((*parts, _spelled(line[at:])))


def quoted(word: Word, path: str) -> str:
    return shlex.quote(word.prefix + path)


def _words(line: str, places: Mapping[str, str]) -> Iterator[Word]:
    at = number = 0
    leads, redirected = True, ""
    while at < len(line):
        if blank := _BLANK.match(line, at):
            at = blank.end()
        elif operator := _OPERATOR.match(line, at):
            if operator[0].startswith("<<"):
                return  # what follows is text, up to a mark
            at = operator.end()
            redirected = operator[0] if operator[0] in _JOINED else ""
            if not redirected:
                leads, number = True, number + 1
        else:
            end = _end(line, at)
            text, plain = _value(line[at:end], places)
            prelude = leads and not redirected and (bool(_ASSIGNMENT.match(text)) or text in _GOES_ON)
            here = leads and not redirected and not prelude
            written = redirected.startswith((">", "&"))
            yield Word(start=at, end=end, raw=line[at:end], text=text, plain=plain, leads=here, written=written,
                       command=number)  # fmt: skip
            leads = leads and not here
            at, redirected = end, ""


def _end(line: str, at: int) -> int:
    end = at
    while atom := _ATOM.match(line, end):
        end = atom.end()
    if end == at:
        raise ValueError(f"the quote at character {at + 1} is not closed")
    if line[end : end + 1] in ("'", '"', "\\"):
        raise ValueError(f"the quote at character {end + 1} is not closed")
    return end


def _value(raw: str, places: Mapping[str, str]) -> tuple[str, bool]:
    parts = [_atom(atom[0], places) for atom in _ATOM.finditer(raw)]
    text = "".join(part for part, _ in parts)
    if raw.startswith("~/"):
        text = os.path.expanduser(text)  # noqa: PTH111 - a word is no Path yet
    return text, all(plain for _, plain in parts)


def _atom(atom: str, places: Mapping[str, str]) -> tuple[str, bool]:
    if atom[0] == "'":
        return fill(atom[1:-1], {name: place for name, place in places.items() if name != "HOME"}), True
    if atom[0] == '"':
        text, plain = _filled(re.sub(r"\\([\"\\`])", r"\1", atom[1:-1]), places)
        return text, plain and "`" not in text and "$(" not in text
    if atom[0] == "\\":
        return atom[1:], True
    text, plain = _filled(atom, places)
    return text, plain and not (atom[0] != "$" and re.search(r"[*?\[]|\{.*,", atom))


def _filled(text: str, places: Mapping[str, str]) -> tuple[str, bool]:
    """The text with its variables' values; not plain when one of them is not known."""
    full = _VARIABLE.sub(lambda found: places.get(found[1] or found[2], found[0]), text)
    return full, re.search(r"\$[\w{(]", full) is None


def _word(raw: str, names: Collection[str]) -> str:
    """Placeholders as variables, also where single quotes would keep the shell from looking."""
    parts = []
    for atom in _ATOM.finditer(raw):
        held = atom[0][0] == "'"
        parts.append(VARIABLE.sub(lambda found: _unheld(found, names), atom[0]) if held else _spelled(atom[0]))
    return "".join(parts)


def _unheld(found: re.Match[str], names: Collection[str]) -> str:
    return f"""'"${{{found[2]}}}"'""" if found[1] or found[2] in names else found[0]


def _spelled(text: str) -> str:
    return text.replace("${env:", "${")
