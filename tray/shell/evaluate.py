"""Evaluates a shell line: its simple commands with the possible texts of their words, also in nested lines.

`Places` gives the values; this module reads nothing. The caller decides which words of a command are code for a
shell. `rewrite` returns the line with some words replaced.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice, product
from operator import attrgetter
from typing import Protocol

import msgspec

from tray.shell.expand import (
    MADE,
    MARKS,
    MOST,
    UNKNOWN,
    UNSEEN,
    Places,
    Scope,
    Texts,
    clouded,
    either,
    expand,
    joined,
    last_name,
    parent,
    pieces,
    plain,
    scope_of,
    under,
    whole,
)
from tray.shell.split import (
    KEYWORDS,
    SETTING,
    TOO_LONG,
    HereDocument,
    ShellWord,
    read,
    spliced,
    substitutions,
    without_env,
)
from tray.text.words import word_set

DEPTH = 6  # lines inside each other
_LINE_LIMIT = 200  # of all lines inside one
_DECLARATIONS = word_set("declare export local readonly typeset")
_OPENING = word_set("case for if select until while")
_CLOSING = word_set("done esac fi")
# Commands that print nothing.
SILENT = word_set(": [ [[ cd declare exit export false local pushd readonly return set shift test true typeset unset")
_PRINTED_LAST = ("|", "|&")


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One word as a program gets it. `word` is the word of the line that it comes from."""

    text: str
    word: ShellWord

    @property
    def is_known(self) -> bool:
        return not MARKS & set(self.text)


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """Words of a command that are a line for another shell, and the words that this shell gets from `$0` on."""

    first: int
    last: int
    arguments: tuple[str, ...] = ()
    takes_more: bool = False  # it gets further words when it runs


class SimpleCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One command, with the lists of words with which it may be started."""

    variants: tuple[tuple[Field, ...], ...]
    redirects: tuple[Field, ...]
    settings: tuple[tuple[str, Field], ...]  # the variables in front of it
    folder: Texts  # base of its relative words; () for the folder in which the line starts
    prints: Texts
    operator: str  # in front of it
    number: int

    words: tuple[ShellWord, ...]
    given: tuple[HereDocument, ...]

    @property
    def fields(self) -> Iterator[Field]:
        for variant in self.variants:
            yield from variant
        yield from self.redirects


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """A line inside the line. With `is_quoted` it is a separate text; without `is_movable` it cannot be changed."""

    start: int
    end: int
    script: EvaluatedLine
    is_quoted: bool = False
    is_backtick: bool = False
    is_movable: bool = True


class EvaluatedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line, its commands in order, and the lines inside it."""

    line: str
    commands: tuple[SimpleCommand, ...]
    inner: tuple[Inner, ...]

    def scripts(self, *, is_movable: bool = True) -> Iterator[tuple[EvaluatedLine, bool]]:
        """Yields this line and all lines inside it, each with True if its words can be replaced."""
        yield self, is_movable
        for one in self.inner:
            yield from one.script.scripts(is_movable=is_movable and one.is_movable)


class Programs(Protocol):
    """Knows which programs run code for a shell. The module `approvals.programs` is one."""

    def find_code(self, argv: Sequence[str]) -> Iterable[Code]:
        """Returns the words that are code."""
        ...

    def reads_shell_code(self, argv: Sequence[str]) -> bool:
        """True if the program runs its input."""
        ...


def evaluate(line: str, places: Places, programs: Programs) -> EvaluatedLine:
    """Returns the evaluated line. Raises ValueError if a quote is not closed."""
    return _Evaluator(programs).script(line, scope_of(places), 0)[0]


def rewrite(
    script: EvaluatedLine, replacement: Callable[[ShellWord, SimpleCommand], str | None], names: Collection[str]
) -> str:
    """Returns the line with other texts in place of some words, and with the placeholders `names` as variables."""
    edits: dict[tuple[int, int], str] = {}
    for command in script.commands:
        for word in command.words:
            if (text := replacement(word, command)) is not None:
                edits[word.start, word.end] = text
    for one in script.inner:
        text = rewrite(one.script, replacement, names)
        if not one.is_movable or text == one.script.line:
            continue
        if one.is_quoted:  # the text may come from several words
            edits = {span: edit for span, edit in edits.items() if not _is_inside(*span, [(one.start, one.end)])}
        elif _is_inside(one.start, one.end, edits):
            continue
        start, end = (one.start - 1, one.end + 1) if one.is_backtick else (one.start, one.end)
        edits[start, end] = shlex.quote(text) if one.is_quoted else f"$({text})" if one.is_backtick else text
    fixed = tuple(edits)
    for command in script.commands:
        for start, end, text in (one for word in command.words for one in spliced(word, names)):
            if not _is_inside(start, end, fixed):
                edits[start, end] = text
    parts, at = [], 0
    for (start, end), text in sorted(edits.items()):
        parts += [without_env(script.line[at:start]), text]
        at = end
    return "".join((*parts, without_env(script.line[at:])))


def _is_inside(start: int, end: int, others: Iterable[tuple[int, int]]) -> bool:
    return any(first <= start and end <= last for first, last in others)


class _Evaluator:
    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        self._left = _LINE_LIMIT

    def script(self, line: str, scope: Scope, depth: int) -> tuple[EvaluatedLine, Texts]:
        """Returns the line, and what it prints."""
        self._left -= 1
        if depth > DEPTH or self._left < 0:
            raise ValueError(TOO_LONG)
        return _Line(self, line, scope, depth).script()


class _Line:
    """One pass through one line, with the state of its shell."""

    def __init__(self, evaluator: _Evaluator, line: str, scope: Scope, depth: int) -> None:
        self._evaluator, self._line, self._scope, self._depth = evaluator, line, scope, depth
        self._reading = read(line)
        self._commands: list[SimpleCommand] = []
        self._inner: list[Inner] = []
        self._outer: list[Scope] = []  # the scopes around open subshells
        self._blocks: list[Texts] = []  # the folder at the start of each open `if`, `for` and the like

    def script(self) -> tuple[EvaluatedLine, Texts]:
        operators = list(self._reading.operators)
        for number, group in groupby(self._reading.words, key=attrgetter("command")):
            passed = []
            while operators and operators[0][0] <= number:
                passed.append(operators.pop(0)[1])
            for operator in passed:
                if operator == "(":
                    self._outer.append(self._scope)
                    self._scope = self._scope.copy()
                elif operator == ")" and self._outer:
                    self._scope = self._outer.pop()
            following = operators[0][1] if operators else ""
            self._command(list(group), passed[-1] if passed else "", following)
        script = EvaluatedLine(line=self._line, commands=tuple(self._commands), inner=tuple(self._inner))
        return script, _printed(self._commands)

    def _command(self, group: list[ShellWord], operator: str, following: str) -> None:
        words = [word for word in group if not self._is_descriptor(word)]
        redirects = tuple(
            Field(text=" ".join(pieces(text)), word=word)
            for word in words
            if word.redirect
            for text in expand(word.raw, self._scope, self, word.start)
        )
        settings: list[tuple[str, Field]] = []
        columns: list[list[tuple[Field, ...]]] = []
        before = self._scope
        self._scope = before.copy()  # assignments in front of a command apply to it only
        at = next((at for at, word in enumerate(words) if word.text not in KEYWORDS), 0)
        if words and words[at].text == "function":
            words = words[:at] + words[at + 2 :]  # its body begins here
        for word in (word for word in words if not word.redirect):
            found = SETTING.fullmatch(word.raw)
            if columns or (not found and word.text not in KEYWORDS):
                columns.append(self._readings(word, before))
            elif found:
                settings += self._setting(word, found)
            elif word.text in _OPENING:
                self._blocks.append(before.folder)
        is_piped = operator in _PRINTED_LAST or following in _PRINTED_LAST
        conditional = bool(self._blocks) or operator == "||"
        during = self._scope
        if not columns:
            for name, _ in settings:
                _keep(before, name, during.variables[name], conditional=conditional)
        self._scope = before
        variants = _variants(columns)
        command = SimpleCommand(
            variants=variants,
            redirects=redirects,
            settings=tuple(settings),
            folder=tuple(map(plain, before.folder)),
            prints=either(
                *(_output([one.text for one in variant], before) for variant in variants if variant),
                clouded(tuple(one.text for one in redirects)) if redirects and not columns else (),
            ),
            operator=operator,
            number=group[0].command,
            words=tuple(group),
            given=tuple(one for one in self._reading.texts if one.command == group[0].command),
        )
        self._commands.append(command)
        for variant in variants:
            self._nested(variant, command, during, is_only=len(variants) == 1)
            if variant:
                self._effect([one.text for one in variant], operator, is_piped=is_piped, conditional=conditional)

    def _is_descriptor(self, word: ShellWord) -> bool:
        """True if it is the number in front of `2>file`."""
        return word.raw.isdigit() and self._line[word.end : word.end + 1] in ("<", ">") and not word.redirect

    def _readings(self, word: ShellWord, scope: Scope) -> list[tuple[Field, ...]]:
        """Returns the lists of words that one word may become."""
        found = SETTING.fullmatch(word.raw)
        if found:  # of `export`, `env` and the like
            texts = self._value(found[3], word.start + found.start(3), scope)
            return [(Field(text=f"{found[1]}{found[2]}={plain(text)}", word=word),) for text in texts]
        texts = expand(word.raw, scope, self, word.start)
        return [
            tuple(Field(text=one, word=word) for one in pieces(text) if one or "'" in word.raw or '"' in word.raw)
            for text in texts
        ]

    def _setting(self, word: ShellWord, found: re.Match[str]) -> Iterator[tuple[str, Field]]:
        texts = self._value(found[3], word.start + found.start(3), self._scope)
        if found[2]:
            texts = joined(self._scope.value(found[1]), texts)
        self._scope.variables[found[1]] = texts
        self._scope.exported.add(found[1])
        yield from ((found[1], Field(text=plain(text), word=word)) for text in texts)

    def _value(self, raw: str, start: int, scope: Scope) -> Texts:
        texts = expand(raw, scope, self, start)
        if raw.startswith("("):  # a list
            return clouded(texts)
        return tuple(whole(text) for text in texts)

    def substitute(self, line: str, start: int, *, is_backtick: bool) -> Texts:
        script, printed = self._evaluator.script(line, self._scope.copy(), self._depth + 1)
        end = self._line.find("`", start) if is_backtick else start + len(line)
        if is_backtick and line != self._line[start:end]:
            self._add(start, start, script, is_movable=False)
        else:
            self._add(start, end, script, is_backtick=is_backtick)
        return printed

    def _add(self, start: int, end: int, script: EvaluatedLine, **options: bool) -> None:
        self._inner.append(Inner(start=start, end=end, script=script, **options))

    def _nested(self, variant: tuple[Field, ...], command: SimpleCommand, during: Scope, *, is_only: bool) -> None:
        """Evaluate the lines for other shells in a command's words and in its input."""
        argv = [field.text for field in variant]
        for one in self._evaluator.programs.find_code(argv):
            scope = during.copy(is_child=argv[one.first - 1] not in ("eval", "trap"))
            if argv[0] == "eval":
                scope = self._scope  # what it sets stays
            for word in argv[: one.first]:  # the variables of `env A=1 sh -c …`
                if found := SETTING.fullmatch(word):
                    scope.variables[found[1]] = (found[3],)
                    scope.exported.add(found[1])
            if one.arguments:
                scope.arguments = tuple(
                    (MADE if one.takes_more and "{}" in text else text,) for text in one.arguments
                )
            first, last = variant[one.first].word, variant[one.last].word
            text = " ".join(argv[one.first : one.last + 1])
            if first is last and re.fullmatch("'[^']*'", first.raw):
                text = first.raw[1:-1]
            script, _ = self._evaluator.script(text, scope, self._depth + 1)
            can_move = is_only and not MARKS & set(text)
            self._add(first.start, last.end, script, is_quoted=True, is_movable=can_move)
        is_shell = bool(argv) and self._evaluator.programs.reads_shell_code(argv)
        for given in (one for one in command.redirects if one.word.redirect == "<<<" and is_shell):
            script, _ = self._evaluator.script(given.text, during.copy(is_child=True), self._depth + 1)
            self._add(given.word.start, given.word.end, script, is_quoted=True, is_movable=given.is_known)
        for document in command.given:
            self._text(document, during, is_code=is_shell)
        if is_shell and command.operator in _PRINTED_LAST and len(self._commands) > 1:
            for document in self._commands[-2].given:
                self._text(document, during, is_code=True)
            for printed in self._commands[-2].prints:
                if not {UNSEEN, MADE} & set(printed):
                    script, _ = self._evaluator.script(printed, during.copy(is_child=True), self._depth + 1)
                    self._add(0, 0, script, is_movable=False)

    def _text(self, text: HereDocument, scope: Scope, *, is_code: bool) -> None:
        lines = (text.text,) if is_code else () if text.is_literal else substitutions(text.text)
        for line in lines:
            start = self._line.index(line, text.start) if line else text.start
            inner = scope.copy(is_child=is_code and text.is_literal)
            self._add(start, start + len(line), self._evaluator.script(line, inner, self._depth + 1)[0])

    def _effect(self, argv: list[str], operator: str, *, is_piped: bool, conditional: bool) -> None:
        """Apply the changes that the command makes to this shell."""
        name, scope = argv[0], self._scope
        if name in _CLOSING and self._blocks:
            start = self._blocks.pop()
            if start != scope.folder:
                scope.folder = either(start or (scope.places.cwd,), scope.folder)
        elif name in _OPENING:
            self._blocks.append(scope.folder)
        if name == "for" and len(argv) > 1:
            given = tuple(argv[3:]) if argv[2:] else tuple(text for one in scope.arguments[1:] for text in one)
            _keep(scope, argv[1], given[: MOST + 1] or UNKNOWN, conditional=conditional)
        elif name in _DECLARATIONS:
            for word in argv[1:]:
                if found := SETTING.fullmatch(word):
                    is_reference = "-n" in argv and name != "export"  # to another variable
                    _keep(scope, found[1], UNKNOWN if is_reference else (found[3],), conditional=conditional)
                if name == "export" or any(option.startswith("-") and "x" in option for option in argv[1:]):
                    scope.exported.add(word.partition("=")[0])
        elif name in ("cd", "pushd") and not is_piped:
            places = [word for word in argv[1:] if word == "-" or not word.startswith("-")]
            target = under(scope.cwd, places[0]) if places else scope.value("HOME")
            if places == ["-"]:
                target = scope.value("OLDPWD")
            scope.variables["OLDPWD"] = scope.cwd
            scope.folder = either(scope.cwd, target) if operator == "||" else target
            scope.variables["PWD"] = scope.folder
        elif name == "popd":
            scope.folder = scope.variables["PWD"] = UNKNOWN
        elif name == "unset":
            for word in argv[1:]:
                scope.variables[word] = ("",)
        elif name == "set" and "--" in argv:
            scope.arguments = (scope.value("0"), *((text,) for text in argv[argv.index("--") + 1 :]))
        elif name == "shift" and scope.arguments:
            by = int(argv[1]) if argv[1:] and argv[1].isdigit() else 1
            scope.arguments = (scope.arguments[0], *scope.arguments[1 + by :])
        elif name in ("read", "mapfile", "readarray"):
            redirects = self._commands[-1].redirects
            texts = tuple(one.text for one in redirects if one.word.redirect == "<<<") or UNKNOWN
            for word in argv[1:]:
                if re.fullmatch(r"[A-Za-z_]\w*", word):
                    scope.variables[word] = texts
        elif name == "printf" and argv[1:2] == ["-v"] and len(argv) > 3:
            _keep(scope, argv[2], _printf(argv[3:]), conditional=conditional)


def _keep(scope: Scope, name: str, texts: Texts, *, conditional: bool) -> None:
    """Set a variable. With `conditional` it may also keep its earlier value."""
    known = scope.variables.get(name, ())
    scope.variables[name] = either(texts, known) if conditional else texts


def _variants(columns: list[list[tuple[Field, ...]]]) -> tuple[tuple[Field, ...], ...]:
    """Returns every list of words. If there are too many, the varying words of the last one are unknown."""
    found = tuple(islice(product(*columns), MOST + 1))
    if len(found) > MOST:
        vague = [column if len(column) == 1 else [_vague(column)] for column in columns]
        found = (*found[:MOST], *product(*vague))
    return tuple(tuple(field for one in row for field in one) for row in found)


def _vague(column: list[tuple[Field, ...]]) -> tuple[Field, ...]:
    fields = [field for one in column for field in one]
    return tuple(Field(text=clouded(tuple(one.text for one in fields))[0], word=field.word) for field in fields[:1])


def _printed(commands: Sequence[SimpleCommand]) -> Texts:
    """Returns what all commands print together."""
    done: Texts = ()
    texts: Texts = ()
    last: Texts = ()
    for command in commands:
        if command.operator in _PRINTED_LAST:
            last = clouded(either(last, command.prints))
        elif command.operator == "||":
            done, texts, last = either(done, _after(texts, last)), (), command.prints
        else:
            texts, last = _after(texts, last), command.prints
    found = either(done, _after(texts, last))
    return tuple(text.rstrip("\n") for text in found if text) or ("",)


def _after(before: Texts, texts: Texts) -> Texts:
    return joined(before, ("\n",), texts) if any(before) and any(texts) else before if any(before) else texts


def _output(argv: list[str], scope: Scope) -> Texts:
    """Returns what a command prints, as far as that follows from its words."""
    if len(argv) > 1 and argv[0] in ("builtin", "command") and not argv[1].startswith("-"):
        argv = argv[1:]
    name, words = posixpath.basename(argv[0]), [word for word in argv[1:] if not word.startswith("-")]
    if name in SILENT:
        return ("",)
    if name == "pwd":
        return scope.cwd
    if name == "echo":
        return (" ".join(words if words != argv[1:] and re.fullmatch("-[neE]+", argv[1]) else argv[1:]),)
    if name == "printf":
        return _printf(argv[1:])
    if name in ("command", "type", "which") and len(words) == 1:
        return (words[0],)
    if name == "printenv" and len(words) == 1:
        return scope.value(words[0])
    if name == "git" and argv[-2:] == ["rev-parse", "--show-toplevel"]:
        folders = under(scope.cwd, argv[2]) if argv[1] == "-C" else scope.cwd
        root = scope.places.root
        return tuple(root if root and f"{one}/".startswith(f"{root}/") else clouded((one,))[0] for one in folders)
    if name == "git":
        return clouded((*argv, *scope.cwd))
    if name == "dirname" and words:
        return (parent(words[0]),)
    if name == "basename" and words:
        return (last_name(words[0]).removesuffix(words[1] if words[1:] else ""),)
    if name in ("realpath", "readlink") and len(words) == 1:
        return under(scope.cwd, words[0])
    return clouded(tuple(argv))


def _printf(argv: list[str]) -> Texts:
    if not argv:
        return ("",)
    pattern, *words = argv[0].replace("\\n", "\n"), *argv[1:]
    if "%" not in pattern.replace("%s", "") and "\\" not in pattern:
        parts = pattern.split("%s")
        if len(parts) == 1 or len(words) == len(parts) - 1:
            return ("".join(f"{part}{word}" for part, word in zip(parts, (*words, ""), strict=False)),)
        if len(parts) == 2:
            return ("".join(f"{parts[0]}{word}{parts[1]}" for word in words or ("",)),)
    return clouded(tuple(argv))
