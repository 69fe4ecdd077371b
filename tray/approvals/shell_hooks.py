"""Finds the files that a hook's line runs, as its shell expands it, and rewrites the line to the approved copies."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePath

import msgspec

from tray.agents.placeholders import declared_values, project_placeholders
from tray.approvals import programs
from tray.approvals.command_words import is_user_file, program_of, split_line
from tray.approvals.script_start import script_words
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook
from tray.paths import repository
from tray.shell import split
from tray.shell.evaluate import SILENT, EvaluatedLine, Field, SimpleCommand, evaluate, rewrite
from tray.shell.expand import GLOB, MADE, MARKS, PROJECT, UNKNOWN, UNSEEN, Places, under
from tray.text.words import word_set

BUILTINS = word_set("""
. : [ [[ break case cd continue do done echo elif else esac eval exit export false fi for function if in local printf
pwd read return set shift source test then trap true type umask unset until wait while { }
""")
# In these a word where a command could be is a pattern, a value or a function's name: the shell's PATH decides there.
UNCLEAR = re.compile(r"\b(?:alias|case|function)\b|\[\[|\(\(|=\(|\(\s*\)")
MAX_SCRIPTS = 128  # lines that are remembered: each is asked about several times


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A program, or a file that a program runs. `paths` has its possible paths; () for a name that is looked up."""

    field: Field
    is_script: bool
    argv: tuple[str, ...]  # the words of its command
    position: int  # index in `argv`
    paths: tuple[str, ...]
    shown: str  # the word of the hook's own line
    is_nested: bool  # inside a text
    is_movable: bool  # a copy can be written in its place

    @property
    def in_project(self) -> bool:
        return any(PROJECT in text for text in (self.field.text, *self.paths))

    @property
    def path(self) -> str:
        """The path, if only one is possible; otherwise ""."""
        return self.paths[0] if len(self.paths) == 1 and is_plain(self.paths[0]) else ""


def script_of(hook: Hook, command: Command) -> EvaluatedLine:
    """Returns the evaluated line of the hook. Raises ValueError if a quote is not closed."""
    line = command.line
    if not command.shell:
        first, *others = split_line(line)
        words = [program_of(hook, command) or first, *others]
        line = shlex.join(os.path.expanduser(word) for word in words)  # noqa: PTH111 - a word is no Path
    known = places(hook, command)
    return _script(line, tuple(known.values.items()), known.folder, known.cwd, known.root, known.shell)


@lru_cache(MAX_SCRIPTS)
def _script(line: str, values: tuple[tuple[str, str], ...], *folders: str) -> EvaluatedLine:
    folder, cwd, root, shell = folders
    known = Places(values=dict(values), folder=folder, cwd=cwd, root=root, shell=shell)
    return evaluate(line, known, programs)


def places(hook: Hook, command: Command) -> Places:
    """Returns the known variables and folders at the hook's start. A hook outside a project starts in any project."""
    project = hook.match.project or PROJECT
    values = {
        **dict.fromkeys(project_placeholders(), project),
        "HOME": str(Path.home()),
        "HOOK_SOURCE_DIR": os.path.dirname(hook.source.path),  # noqa: PTH120
        **declared_values(hook, command),
    }
    root = repository(project) if hook.match.project else PROJECT
    return Places(values=values, folder=command.folder, cwd=project, root=root, shell=command.interpreter or "sh")


def runs(script: EvaluatedLine, folder: str, shown: str = "", *, is_movable: bool = True) -> Iterator[Run]:
    """Yields everything that the line would run from `folder`, also in the lines inside it."""
    for command in script.commands:
        for variant in command.variants:
            argv = tuple(field.text.replace(GLOB, "*") for field in variant)
            positions = list(programs.program_positions(argv, 0))
            for position, _ in positions:
                is_script = (position, True) in positions
                field = variant[position]
                yield _run(field, command, argv, position, folder, shown, is_script=is_script, is_movable=is_movable)
            code = [variant[position] for position, _ in positions] + [
                variant[one.first] for one in programs.find_code(argv)
            ]
            for field, giver in _code_files(script, command, code, argv):
                words = (*argv[:1], field.text)
                yield _run(field, giver, words, 1, folder, shown, is_script=True, is_movable=is_movable)
    for inner in script.inner:
        outer = shown or (script.line[inner.start : inner.end] if inner.is_quoted else "")
        if inner.start == inner.end and inner.script.line:  # what another command prints
            outer = outer or script.line
        yield from runs(inner.script, folder, outer, is_movable=is_movable and inner.is_movable)


def _run(
    field: Field,
    command: SimpleCommand,
    argv: tuple[str, ...],
    position: int,
    folder: str,
    shown: str,
    *,
    is_script: bool,
    is_movable: bool,
) -> Run:
    text = _named_part(field.text) if position else field.text
    is_path = is_script or "/" in text or "\\" in text
    return Run(
        field=field,
        is_script=is_script,
        argv=argv,
        position=position,
        paths=UNKNOWN
        if is_path and "{}" in text and any(PurePath(word).name in programs.REPEATERS for word in argv[:position])
        else under(programs.start_folder(argv[:position], command.folder or (folder,)), text)
        if is_path and text and "\0" not in text
        else (),
        shown=shown or field.word.raw,
        is_nested=bool(shown),
        is_movable=is_movable and len(_readings(field.word, command)) == 1,
    )


def _code_files(
    script: EvaluatedLine, command: SimpleCommand, code: Iterable[Field], argv: tuple[str, ...]
) -> Iterator[tuple[Field, SimpleCommand]]:
    """Yields the files whose text an interpreter runs: on its stdin, or in `$(cat x)` where it expects code."""
    files = [field for field in command.redirects if field.word.redirect == "<"]
    if programs.reads_code(argv):
        yield from ((field, command) for field in files)
        repeats = PurePath(argv[0]).name in programs.REPEATERS
        others = (
            () if files else (one for one in script.commands if one is not command and _gives(one, repeats=repeats))
        )
        yield from ((field, one) for one in others for field in _named(one))
    for word in {field.word.start: field.word for field in code if not field.is_known}.values():
        for inner in script.inner:
            if word.start <= inner.start and inner.end <= word.end and not inner.is_quoted:
                givers = (one for one in inner.script.commands if _gives(one, repeats=False))
                yield from ((field, one) for one in givers for field in _named(one))


def _gives(command: SimpleCommand, *, repeats: bool) -> bool:
    """True if the command may print a file that it names; with `repeats` also its name, which `xargs` would run."""
    names = {variant[0].text for variant in command.variants if variant}
    return not names & SILENT and (repeats or not names & {"echo", "printf"})


def _named(command: SimpleCommand) -> Iterator[Field]:
    """Yields the words that name files which the command reads."""
    for variant in command.variants:
        yield from (field for field in variant[1:] if "/" in field.text and "://" not in field.text)
    yield from (field for field in command.redirects if field.word.redirect == "<")


def paths(hook: Hook, command: Command) -> Iterator[str]:
    """Yields every path that a word may name. Raises ValueError if a quote is not closed."""
    for script, _ in script_of(hook, command).scripts():
        for one in script.commands:
            yield from (path for field in one.fields if (path := _path(field, one, command)))


def named_paths(hook: Hook, command: Command) -> Iterator[tuple[str, str]]:
    """Yields each word of the line that may name a file, also one that is written to, with its path."""
    for script in _own_scripts(script_of(hook, command)):
        for one in script.commands:
            firsts = {variant[0].word.start for variant in one.variants if variant}
            for field in one.fields:
                path = _location(field, one, command)
                if path and field.word.redirect != "<<<" and field.word.start not in firsts:
                    yield field.word.raw, path


def rewrite_line(hook: Hook, command: Command, copies: Mapping[str, str], approved: Mapping[str, str]) -> str:
    """Returns the line with the copies of files that it runs, absolute paths of data, and the approved programs."""
    script = script_of(hook, command)
    own = {id(one) for part in _own_scripts(script) for one in part.commands}
    named = {id(field): approved[field.text] for field in bare_programs(hook, command) if field.text in approved}

    def replacement(word: split.ShellWord, one: SimpleCommand) -> str | None:
        readings = _readings(word, one)
        if len(readings) != 1:
            return None
        (fields,) = readings.values()
        texts = [
            shlex.quote(named[id(field)]) if id(field) in named
            else _copied(field, one, command, copies, approved, is_own=id(one) in own)
            for field in fields
        ]  # fmt: skip
        if not any(texts):
            return None
        return " ".join(text or shlex.quote(field.text) for text, field in zip(texts, fields, strict=True))

    names = declared_values(hook, command).keys() | project_placeholders()
    return rewrite(script, replacement, names - {"HOME"})


def _copied(
    field: Field,
    one: SimpleCommand,
    command: Command,
    copies: Mapping[str, str],
    approved: Mapping[str, str],
    *,
    is_own: bool,
) -> str:
    """Returns the text that replaces this word; "" if it stays."""
    path, named = _path(field, one, command), _named_part(field.text)
    prefix = field.text.removesuffix(named)
    if copy := copies.get(path):
        is_program = any(variant and variant[0] is field for variant in one.variants)
        *words, last = script_words(copy, approved) if is_program else (copy,)
        return " ".join((*map(shlex.quote, words), shlex.quote(prefix + last)))
    is_relative = path and is_own and not one.folder and not named.startswith("/")
    return shlex.quote(prefix + path) if is_relative and os.path.isfile(path) else ""  # noqa: PTH113


def require_line(hook: Hook, command: Command) -> None:
    """Raises HooktrayError unless each file that the line runs exists and its copy can replace it in the line."""
    try:
        script = script_of(hook, command)
    except ValueError as error:
        raise HooktrayError(f"{hook.name}: {error}", hint="close its quotes, or put it into a script") from error
    commands = [one for part, _ in script.scripts() for one in part.commands]
    texts = (field.text for one in commands for field in (*one.fields, *(value for _, value in one.settings)))
    uses_project = any(PROJECT in text for text in texts)
    written = set()  # the files that the line creates
    for one in commands:
        places = {variant[0].text for variant in one.variants if variant} & programs.PLACERS
        written |= {_location(field, one, command) for field in one.fields if field.word.is_output or places}
    for run in runs(script, command.folder):
        _reject_project(run.shown, is_there=run.in_project or (uses_project and MADE in run.field.text))
        programs.require_safe_imports([word if is_plain(word) else "" for word in run.argv[run.position :]])
        if run.path and run.path in written:
            raise HooktrayError(f"{run.shown}: the line writes what it runs", hint="run a file that is there before")
        if run.path and run.path != os.devnull and not os.path.isfile(run.path):  # noqa: PTH113 - Path raises for some
            what = "file" if run.is_script else "program"
            hint = f"it is looked up in {PurePath(run.path).parent}; {programs.MISSING_HINT}"
            raise programs.MissingError(f"{run.field.text}: there is no such {what}", hint=hint)
        can_move = run.is_movable and (command.shell or not run.is_nested)
        if run.path and is_user_file(run.path) and not can_move:
            raise HooktrayError(
                f"{run.shown}: {run.path} is named where its approved copy cannot be written",
                hint=programs.QUOTED_HINT,
            )
    for part, _ in script.scripts():
        for name, field in _settings(part):
            _check_setting(name, field, hook)
        for one in part.commands:
            _check_code(one, hook)


def _reject_project(shown: str, *, is_there: bool) -> None:
    """Raises HooktrayError if `is_there`: the user's own settings may not run what any project contains."""
    if is_there:
        raise HooktrayError(
            f"{shown}: each project would bring its own program",
            hint="name the file by its path, or declare the hook in the project's own settings",
        )


def _settings(script: EvaluatedLine) -> Iterator[tuple[str, Field]]:
    """Yields the variables that the line sets, for its shell or for one program."""
    for command in script.commands:
        yield from command.settings
        for field in command.fields:
            if found := split.SETTING.fullmatch(field.text):
                yield found[1], field


def _check_setting(name: str, field: Field, hook: Hook) -> None:
    if name not in programs.LOADING_VARIABLES:
        return
    is_there = PROJECT in field.text or (programs.names_relative_code(name, field.text) and not hook.match.project)
    _reject_project(field.word.raw, is_there=is_there)
    value = field.text.partition("=")[2] if split.SETTING.fullmatch(field.text) else field.text
    if name == "PATH" and any(part[:1] not in ("/", "$", "~", UNSEEN) for part in value.split(":")):
        raise HooktrayError(
            f"{field.word.raw}: programs would come from the agent's folder", hint="write whole paths"
        )


def _check_code(command: SimpleCommand, hook: Hook) -> None:
    """Raises HooktrayError for Python on stdin that imports, and if other code starts a file of the project."""
    for variant in command.variants:
        argv = [field.text for field in variant]
        reads_code = argv and programs.interprets_python(argv[0]) and programs.reads_code(argv)
        is_isolated = any("I" in word for word in argv[1:])
        if reads_code and not is_isolated and any("import" in text.text for text in command.given):
            raise HooktrayError("python imports from the agent's folder first", hint="write python3 -I -")
    names = (PROJECT, *project_placeholders())
    for shown, text in _foreign_code(command):
        is_there = programs.starts_others(text) and any(name in text for name in names)
        _reject_project(shown, is_there=is_there and not hook.match.project)


def _foreign_code(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    """Yields code in other languages in a command's words, its input and its aliases, each with its word."""
    for variant in command.variants:
        argv = [field.text for field in variant]
        for at in programs.foreign_code(argv):
            names = {PurePath(word).name for word in argv[:at]}
            starts = names & programs.EDITORS or (names & programs.OTHER_SHELLS and "/" in argv[at])
            yield variant[at].word.raw, f"exec {argv[at]}" if starts else argv[at]
        if argv[:1] == ["alias"]:
            yield from ((field.word.raw, f"exec {field.text}") for field in variant[1:] if "=" in field.text)
        if argv and programs.reads_code(argv) and not programs.reads_shell_code(argv):
            yield from ((argv[0], text.text) for text in command.given)
            yield from ((field.word.raw, field.text) for field in command.redirects if field.word.redirect == "<<<")


def unseen_words(hook: Hook, command: Command) -> tuple[str, ...]:
    """Returns the words that run something known only when the hook runs, which no approval can cover."""
    try:
        script = script_of(hook, command)
    except ValueError:
        return ()
    found = tuple(runs(script, command.folder))
    replaced = {id(one.field.word) for one in found if one.is_movable and one.path and is_user_file(one.path)}
    words = [
        one.shown
        for one in found
        if (one.paths or not is_plain(one.field.text)) and not one.path and id(one.field.word) not in replaced
    ]
    own = {id(one.field) for one in found}
    for part, _ in script.scripts():
        words += _perhaps_run(part, command, own)
        words += _unseen_code(part, hook.match.project or PROJECT)
        words += [
            field.word.raw
            for name, field in _settings(part)
            if name in programs.LOADING_VARIABLES
            and hook.match.project
            and (hook.match.project in field.text or programs.names_relative_code(name, field.text))
        ]
    return tuple(dict.fromkeys(words))


def _unseen_code(script: EvaluatedLine, project: str) -> Iterator[str]:
    """Yields code in another language that may run files, and code that another program prints."""
    for before, command in zip((None, *script.commands), script.commands, strict=False):
        for shown, text in _foreign_code(command):
            if project in text or not is_plain(text) or programs.starts_others(text):
                yield shown
        for variant in command.variants:
            argv = [field.text for field in variant]
            if not argv or not programs.reads_code(argv) or command.given or command.redirects:
                continue
            own = script.line[variant[0].word.start : variant[-1].word.end]
            if command.operator not in ("|", "|&") or before is None:
                yield from (own,) if len(argv) == 1 or argv[-1] in ("-", "-s") else ()
            elif not all(map(is_plain, before.prints)) and not any(_named(before)):
                text = script.line[before.words[0].start : before.words[-1].end]
                yield text if len(text) > 1 else own


def _perhaps_run(script: EvaluatedLine, command: Command, known: Collection[int]) -> Iterator[str]:
    """Yields executable files, and files of any project, that the line gives to a program which may run them."""
    for one in script.commands:
        for first, *others in (variant for variant in one.variants if variant):
            argv = [first.text, *(field.text for field in others)]
            name, code = PurePath(first.text).name, {code.first for code in programs.find_code(argv)}
            compiles = name in programs.COMPILERS and (
                name in ("java", "swift") or not {"run", "script"}.isdisjoint(argv)
            )
            for at, field in enumerate(others, start=1):
                if id(field) in known or at in code or name in programs.NON_EXECUTING | BUILTINS | programs.PLACERS:
                    continue
                path = _location(field, one, command) if compiles or "/" in field.text else ""
                is_of_any_project = (compiles or name in programs.STARTERS) and f"{PROJECT}/" in field.text
                may_run = os.path.exists(path) if compiles else is_user_file(path) and os.access(path, os.X_OK)  # noqa: PTH110
                if is_of_any_project or may_run:
                    yield field.word.raw


def uncovered_words(hook: Hook, command: Command) -> tuple[str, ...]:
    """The words of the line that run or make something which the approval does not hold."""
    try:
        parts = [one for script in _own_scripts(script_of(hook, command)) for one in script.commands]
    except ValueError:
        return ()
    firsts = [variant[0] for one in parts for variant in one.variants if variant]
    fields = [(field, one) for one in parts for field in one.fields if not field.word.is_output]
    names = [one.text for one in firsts if one.is_known and "/" not in one.text and one.text not in BUILTINS]
    unclear = [field.word.raw for field, _ in fields if not field.is_known]
    missing = [
        field.word.raw
        for field, one in fields
        if field.is_known
        and programs.SCRIPT.fullmatch(field.text)
        and not os.path.isfile(_location(field, one, command))  # noqa: PTH113
    ]
    return tuple(dict.fromkeys((*names, *unclear, *missing)))


def bare_programs(hook: Hook, command: Command) -> Iterator[Field]:
    """Yields the programs that the shell looks up by name. Raises ValueError if a quote is not closed."""
    for one in () if UNCLEAR.search(command.line) else runs(script_of(hook, command), command.folder):
        is_name = one.field.is_known and not (one.is_script or one.is_nested or one.paths)
        if is_name and one.field.text not in BUILTINS and not programs.is_searched_elsewhere(one.argv, one.position):
            yield one.field


def is_plain(text: str) -> bool:
    """True if every part of the text is known."""
    return not MARKS & set(text)


def _own_scripts(script: EvaluatedLine) -> Iterator[EvaluatedLine]:
    """Yields the line, and the lines inside it that are not quoted."""
    yield script
    for inner in script.inner:
        if not inner.is_quoted:
            yield from _own_scripts(inner.script)


def _readings(word: split.ShellWord, command: SimpleCommand) -> dict[tuple[str, ...], tuple[Field, ...]]:
    """Returns the known words that one word may become."""
    found = (
        tuple(field for field in fields if field.word is word) for fields in (*command.variants, command.redirects)
    )
    return {
        tuple(field.text for field in fields): fields
        for fields in found
        if any(field.text for field in fields) and all(field.is_known for field in fields)
    }


def _named_part(text: str) -> str:
    """Returns the part of `--rules=./rules.json` that can name a file."""
    return text[len(split.option_prefix(text)) :]


def _location(field: Field, one: SimpleCommand, command: Command) -> str:
    """Returns the path that the word would name; "" if it is unknown."""
    value = _named_part(field.text)
    if not field.is_known or not value or "\0" in value:
        return ""
    found = under(one.folder or (command.folder,), value)
    return found[0] if len(found) == 1 and is_plain(found[0]) else ""


def _path(field: Field, one: SimpleCommand, command: Command) -> str:
    """Returns the path that the word names; "" if the shell looks it up by name, writes to it, or creates it."""
    is_name = "/" not in field.text and any(variant and variant[0] is field for variant in one.variants)
    return "" if is_name or field.word.is_output or field.word.redirect == "<<<" else _location(field, one, command)
