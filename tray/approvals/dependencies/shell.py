"""Shell scripts: what they source, run or name by the place of their own file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache

from tray.agents.placeholders import folder_variables
from tray.approvals.dependencies.analysis import (
    InclusionKind,
    Reference,
    Script,
    ScriptAnalysis,
    ScriptProblem,
    ScriptProblemKind,
    join_path,
    may_name_file,
)
from tray.lazy_pattern import lazy_pattern

OWN_FOLDER = "\x02"  # the folder of the script, while its text is worked on
OWN_FILE = "\x03"  # the script itself
ROUNDS = 6  # in which variables get their values
CONTEXT_SIZE = 200  # characters in front of a word that are looked at: a line may be as long as its file
FILE = r"(?:\$\{?0\}?|\$\{?BASH_SOURCE(?:\[0\])?\}?|\$\{BASH_SOURCE(?:\[0\])?:-\$0\}|\$\{\(%\):-%x\}|\$\{0:A\})"
REAL = r"(?:g?readlink\s+-f|readlink|realpath)"
IDIOMS = (
    (lazy_pattern(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}|\$\{0:A:h\}"), OWN_FOLDER),
    (lazy_pattern(FILE), OWN_FILE),
    (lazy_pattern(rf"\$\({REAL}\s+(?:--\s+)?([{OWN_FOLDER}{OWN_FILE}][^\s()]*)\)"), r"\1"),
    (lazy_pattern(rf"\$\(\s*dirname\s+(?:--\s+)?{OWN_FILE}\s*\)|`dirname\s+(?:--\s+)?{OWN_FILE}`"), OWN_FOLDER),
    (lazy_pattern(rf"\$\(\s*dirname\s+(?:--\s+)?({OWN_FOLDER}[^\s()]*)\s*\)"), r"\1/.."),
    (
        lazy_pattern(
            rf"\$\(\s*(?:CDPATH=\S*\s+)?(?:builtin\s+)?cd\s+(?:-[LP]\s+)?(?:--\s+)?({OWN_FOLDER}[^\s()]*)"
            r"[^()]*?(?:&&|;)\s*pwd(?:\s+-[LP])?[^()]*\)"
        ),
        r"\1",
    ),
)
ASSIGNMENT = lazy_pattern(
    r"(?:^|[\s;&(])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?"
    rf"([A-Za-z_]\w*)=({OWN_FOLDER}[^\s;&|()<>]*)",
    re.MULTILINE,
)
FIXED = lazy_pattern(r"(?:^|[\s;&(])([A-Za-z_]\w*)=((?:~|\$HOME|\$\{HOME\})?/[^\s;&|()<>$]*)")
COMMENT = lazy_pattern(r"(^|\s)#[^\n]*")
WORD = lazy_pattern(r"[^\s;&|()<>`]+")
SOURCED = lazy_pattern(r"(?:^|[\s;&|(])(?:\.|source)\s+$")
WRITES = lazy_pattern(r"(?:[>]{1,2}\|?\s*|\b(?:tee(?:\s+-\w+)*|touch|rm(?:\s+-\w+)*|mkdir(?:\s+-\w+)*)\s+)$")
FILE_TEST = lazy_pattern(r"(?:\[\[?\s+(?:!\s+)?|\btest\s+(?:!\s+)?)-[efrsx]\s+$")
VARIABLE = lazy_pattern(r"^\$\{?\w+[^/}]*\}?/")


def analyse(script: Script) -> ScriptAnalysis:
    text = _normalise(script.text)
    references: list[Reference] = []
    problems: dict[str, ScriptProblem] = {}
    written: set[str] = set()
    uncopied: list[str] = []
    tested: set[str] = set()
    fixed = dict(FIXED.findall(text))
    for word, line, before in _words(text):
        sourced = bool(SOURCED.search(before))
        path = _path(script, word)
        if WRITES.search(before):
            written.add(path or _target(word, fixed))
        elif FILE_TEST.search(before):
            tested.add(path)
        if sourced and _fixed_place().match(word):
            uncopied.append(word)
        elif path and script.exists(path):
            references.append(
                Reference(path=path, kind=InclusionKind.IMPORTED if sourced else InclusionKind.NAMED, line=line)
            )
        elif path and sourced and OWN_FOLDER in word and not re.search(r"[$*?\[]", word):
            problems.setdefault(
                path, ScriptProblem(kind=ScriptProblemKind.FILE, name=path, script=script.path, line=line)
            )
    return ScriptAnalysis(
        references=tuple(reference for reference in references if reference.path not in written),
        problems=tuple(problem for path, problem in problems.items() if path not in tested | written),
        written_files=frozenset(written - {""}),
        uncopied=tuple(dict.fromkeys(uncopied)),
        uses_own_path=OWN_FOLDER in text or OWN_FILE in text,
    )


def _normalise(text: str) -> str:
    """The text without comments and double quotes, with marks where it uses the script's own place."""
    text = COMMENT.sub(lambda found: found[1], text.replace("\\\n", " ")).replace('"', "").replace("'", "")
    for _ in range(ROUNDS):
        before = text
        for pattern, replacement in IDIOMS:
            text = pattern.sub(replacement, text)
        for name, value in dict(ASSIGNMENT.findall(text)).items():
            text = re.sub(rf"\$(?:\{{{name}\}}|{name}\b)", lambda found, value=value: value, text)  # type: ignore[misc]
        if text == before:
            break
    return text


def _words(text: str) -> Iterator[tuple[str, int, str]]:
    """Each word, its line, and the text before it in that line."""
    for number, line in enumerate(text.splitlines(), start=1):
        for found in WORD.finditer(line):
            word = found[0]
            name, equals, value = word.partition("=")
            before = line[max(0, found.start() - CONTEXT_SIZE) : found.start()]
            yield (value if equals and re.fullmatch(r"-*[\w-]+", name) else word), number, before


def _target(word: str, fixed: Mapping[str, str]) -> str:
    """The file that is written to by a whole path, or by a variable that has one; "" for any other word."""
    word = re.sub(r"^\$(?:\{(\w+)\}|(\w+))", lambda found: fixed.get(found[1] or found[2], found[0]), word)
    word = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/)", "~", word)
    path = os.path.expanduser(word)  # noqa: PTH111 - of texts, which need not be paths
    return os.path.normpath(path) if path.startswith("/") and "$" not in path else ""


@cache
def _fixed_place() -> re.Pattern[str]:
    """What begins like this is the same place for a script and for its approved copy."""
    names = sorted({"HOOK_SOURCE_DIR", "HOME", "PWD", *folder_variables()})
    return re.compile(rf"\$\{{?(?:{'|'.join(names)})\b|~/|/")


def _path(script: Script, word: str) -> str:
    """The file that a word may name beside the script; "" for any other word."""
    if word.startswith(OWN_FOLDER):
        return os.path.normpath(script.folder + word.removeprefix(OWN_FOLDER)) if word != OWN_FOLDER else ""
    plain = VARIABLE.sub("", word)
    if (
        not may_name_file(plain)
        or "$" in plain
        or plain.startswith(("/", "~"))
        or OWN_FILE in plain
        or OWN_FOLDER in plain
    ):
        return ""
    if plain != word and _fixed_place().match(word):
        return ""
    return join_path(script.folder, plain)
