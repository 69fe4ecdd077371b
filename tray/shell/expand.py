"""Expands one word as a shell does: its possible texts, with marks for parts known only at run time."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from fnmatch import translate
from itertools import islice, product
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.shell.split import atom_end, fill, unescape

Texts = tuple[str, ...]  # a word's possible texts
# Marks inside a text, which no line contains: see `has_marks`.
PROJECT = "/\ue000"  # the folder of the agent's project, which may be any
UNSEEN = "\ue001"  # a part that is not known, such as a variable of the environment
MADE = "\ue005"  # a part that the line computes when it runs
GLOB = "\ue002"  # a pattern of file names
_BREAK = "\ue003"  # between the words into which an unquoted value is split
_BLANK = "\ue004"  # a blank in the path of a place, which the formats put in as a whole
MARKS = frozenset("\ue000\ue001\ue002\ue003\ue004\ue005")
UNKNOWN: Texts = (MADE,)
MOST = 8  # texts at most of one word
_QUOTED_PART = re.compile(r"\\.|\$\w+|\$[?$!#@*-]|\$(?![({])|[^\\$`]+", re.DOTALL)
_PATTERN = re.compile(r"[*?]|\[[^\]]+\]|\{[^}]*(?:,|\.\.)[^}]*\}")
_PARAMETER = re.compile(r"(?:env:)?(!?)(\w+|[@*#?$!-])(.*)", re.DOTALL)
_ALTERNATIVE = re.compile(r"(:?[-=?+])(.*)", re.DOTALL)
_CUT = re.compile(r"(##?|%%?)(.*)", re.DOTALL)


class Substitutions(Protocol):
    """Evaluates the lines inside of words."""

    def substitute(self, line: str, start: int, *, is_backtick: bool) -> Texts:
        """Returns what the line prints that begins at `start`."""
        ...


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The environment variables and folders that are known before a line starts."""

    values: Mapping[str, str]
    folder: str  # relative words are looked up here, until the line goes to another folder
    cwd: str  # the shell's own folder
    root: str  # of the repository around it
    shell: str = "sh"  # `$0`


class Scope(msgspec.Struct, kw_only=True):
    """A shell's state at one place of a line. `folder` is () until the shell changes it."""

    places: Places
    variables: dict[str, Texts]
    exported: set[str]
    folder: Texts = ()
    arguments: tuple[Texts, ...] = ()  # `$0` and behind

    @property
    def cwd(self) -> Texts:
        return self.folder or (self.places.cwd,)

    def copy(self, *, is_child: bool = False) -> Scope:
        """Returns the state of a subshell, or of another shell that is started."""
        known = {name: one for name, one in self.variables.items() if not is_child or name in self.exported}
        return Scope(
            places=self.places,
            variables=known,
            exported=set(self.exported),
            folder=self.folder,
            arguments=() if is_child else self.arguments,
        )

    def value(self, name: str) -> Texts:
        if name.isdigit():
            at = int(name)
            if not at and not self.arguments:
                return (self.places.shell,)
            return self.arguments[at] if at < len(self.arguments) else UNKNOWN
        return self.variables.get(name, (UNSEEN,))


def scope_of(places: Places) -> Scope:
    """Returns the state in which a line starts. Blanks in its paths do not split words."""
    named = {name: value.replace(" ", _BLANK) for name, value in places.values.items()}
    cwd, root = (one.replace(" ", _BLANK) for one in (places.cwd, places.root))
    start = replace(places, values=named, cwd=cwd, root=root)
    variables: dict[str, Texts] = {name: (value,) for name, value in {**named, "PWD": cwd}.items()}
    return Scope(places=start, variables=variables, exported=set(variables))


def joined(*parts: Texts) -> Texts:
    """Returns every combination; beyond the limit, an unknown text."""
    found = tuple(dict.fromkeys("".join(one) for one in islice(product(*parts), MOST + 1)))
    return found if len(found) <= MOST else (*found[:MOST], *clouded(tuple(text for part in parts for text in part)))


def either(*groups: Texts) -> Texts:
    return tuple(dict.fromkeys(text for group in groups for text in group))[: MOST + 1]


def clouded(texts: Texts) -> Texts:
    """Returns an unknown text that is made of these."""
    return (f"{PROJECT}/{MADE}",) if any(PROJECT in text for text in texts) else UNKNOWN


def pieces(text: str) -> list[str]:
    """Returns the words into which an unquoted text is split."""
    return [one.replace(_BLANK, " ") for one in text.split(_BREAK) if one or _BREAK not in text]


def whole(text: str) -> str:
    """Returns the text where a shell does not split words, as in `D=$X`."""
    return text.replace(_BREAK, " ")


def plain(text: str) -> str:
    """Returns the text as it is read outside of this package."""
    return whole(text).replace(_BLANK, " ")


def expand(raw: str, scope: Scope, substitutions: Substitutions, base: int = 0, *, quoted: bool = False) -> Texts:
    """Returns the possible texts of a word or of a double-quoted part, which begins at `base` in its line."""
    texts: Texts = ("",)
    at = 0
    while at < len(raw):
        if not quoted or raw[at] == "`" or raw[at : at + 2] in ("$(", "${"):
            end = max(atom_end(raw, at), at + 1)
        else:
            found = _QUOTED_PART.match(raw, at)
            end = found.end() if found else at + 1
        texts = joined(texts, _part(raw[at:end], scope, substitutions, base + at, quoted=quoted))
        at = end
    if not quoted and raw[:1] == "~":
        texts = tuple(_at_home(text, scope) for text in texts)
    return texts


def _at_home(text: str, scope: Scope) -> str:
    head, slash, rest = text.partition("/")
    home = {"~": scope.value("HOME"), "~+": scope.cwd}.get(head)
    return f"{home[0]}{slash}{rest}" if home else text


def _part(part: str, scope: Scope, substitutions: Substitutions, base: int, *, quoted: bool) -> Texts:
    if part[0] == "\\" and len(part) > 1:
        if part[1] == "\n":
            return ("",)
        return (part if quoted and part[1] not in '"\\`$' else part[1],)
    if not quoted:
        if part[0] == "'":
            return (fill(part[1:-1], {name: one for name, one in scope.places.values.items() if name != "HOME"}),)
        if part.startswith("$'"):
            return (unescape(part[2:-1]),)
        if part[0] == '"' or part.startswith('$"'):
            start = part.index('"') + 1
            return expand(part[start:-1], scope, substitutions, base + start, quoted=True)
        if part[:2] in ("<(", ">("):
            return clouded(substitutions.substitute(part[2:-1], base + 2, is_backtick=False))
    if part[0] not in "$`" or part == "$":
        return (part if quoted else _PATTERN.sub(GLOB, part),)
    texts = _expansion(part, scope, substitutions, base)
    return texts if quoted else tuple(re.sub(r"[ \t\n]+", _BREAK, text) for text in texts)


def _expansion(part: str, scope: Scope, substitutions: Substitutions, base: int) -> Texts:
    """Returns what `$…` and backticks become."""
    if part[0] == "`":
        return substitutions.substitute(re.sub(r"\\([\\`$])", r"\1", part[1:-1]), base + 1, is_backtick=True)
    if part.startswith("$(("):
        return UNKNOWN
    if part.startswith("$("):
        return substitutions.substitute(part[2:-1], base + 2, is_backtick=False)
    if part.startswith("${"):
        return _parameter(part[2:-1], scope, substitutions, base + 2)
    if part in ("$@", "$*"):
        separated = [one for argument in scope.arguments[1:] for one in ((_BREAK,), argument)][1:]
        return joined(*separated) if separated else UNKNOWN
    name = part[1:]
    if name[0].isdigit():
        return joined(scope.value(name[0]), (name[1:],))
    return scope.value(name) if name[0].isalpha() or name[0] == "_" else UNKNOWN


def _parameter(body: str, scope: Scope, substitutions: Substitutions, base: int) -> Texts:
    """Returns what `${body}` becomes."""
    found = _PARAMETER.fullmatch(body)
    if found is None or (body[0] == "#" and len(body) > 1):
        return UNKNOWN
    name, rest = found[2], found[3]
    if name in ("@", "*") and not rest:
        return _expansion(f"${name}", scope, substitutions, base)
    is_set = name in scope.variables or name.isdigit()
    value = scope.value(name)
    if found[1]:
        is_set, value = True, either(*(scope.value(text) for text in value))
    if not rest:
        return value
    if other := _ALTERNATIVE.fullmatch(rest):
        operator, word = other[1], expand(other[2], scope, substitutions, base + body.index(rest) + len(other[1]))
        return _alternative(name, value, word, operator, scope, is_set=is_set)
    if cut := _CUT.fullmatch(rest):
        (pattern, *_) = expand(cut[2].strip("'\""), scope, substitutions, base, quoted=True)
        return tuple(dict.fromkeys(_without(text, plain(pattern), cut[1]) for text in value))
    return clouded(value)


def _alternative(name: str, value: Texts, word: Texts, operator: str, scope: Scope, *, is_set: bool) -> Texts:
    """Returns a value with a default. A variable that neither the agent nor the line sets may still be set."""
    kind = operator[-1]
    may_be_unset = not is_set or UNSEEN in value or MADE in value or (operator[0] == ":" and "" in value)
    may_be_set = not is_set or any(text or operator[0] != ":" for text in value)
    if kind == "?":
        return value
    if kind == "+":
        return either(word if may_be_set else (), ("",) if may_be_unset else ())
    kept = tuple(text for text in value if text or operator[0] != ":")
    texts = either(word, kept) if may_be_unset else kept
    if kind == "=":
        scope.variables[name] = texts
    return texts


def _without(text: str, pattern: str, operator: str) -> str:
    """Returns `${X%…}` or `${X#…}`."""
    if {UNSEEN, MADE} & set(text) or MARKS & set(pattern):
        return clouded((text,))[0]
    matches = re.compile(translate(pattern)).match
    cuts = range(len(text) + 1)
    if operator[0] == "%":
        ordered = reversed(cuts) if len(operator) == 1 else iter(cuts)
        left = next((text[:at] for at in ordered if matches(text[at:])), text)
    else:
        ordered = iter(cuts) if len(operator) == 1 else reversed(cuts)
        left = next((text[at:] for at in ordered if matches(text[:at])), text)
    return left if PROJECT not in text or PROJECT in left else _outside(operator)


def _outside(operator: str) -> str:
    """Returns a part of the project's path: a folder above it, or a name."""
    return f"{PROJECT}/.." if operator[0] == "%" else MADE


def parent(path: str) -> str:
    """Returns what `dirname` prints."""
    above = posixpath.dirname(path.rstrip("/") or "/") or "."
    if {UNSEEN, MADE} & set(path) - set(above):
        return path
    return above if PROJECT not in path or PROJECT in above else _outside("%")


def last_name(path: str) -> str:
    """Returns what `basename` prints."""
    name = posixpath.basename(path.rstrip("/")) or "/"
    return MADE if MARKS & set(name) else name


def under(folders: Texts, path: str) -> Texts:
    """Returns the path relative to each of these folders."""
    return tuple(dict.fromkeys(_joined(folder, path) for folder in folders))


def _joined(folder: str, path: str) -> str:
    """Returns the path without `.` and `..`, unless that would hide its beginning."""
    first = path if os.path.isabs(path) else folder  # noqa: PTH117 - a word is no Path
    if not (first.startswith("/") or MARKS & set(folder + path)):  # relative, or a path of Windows
        return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - a Path keeps `..`
    whole = posixpath.join(folder, path)
    flat = posixpath.normpath(whole)
    return flat if MARKS & set(flat) == MARKS & set(whole) else whole
