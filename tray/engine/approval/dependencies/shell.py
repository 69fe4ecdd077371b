"""Shell scripts: what they source, run or name by the place of their own file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from tray.engine.approval.dependencies.reading import Lack, Lacking, Reading, Script, Use, Why, beside, nameable

OWN = "\x02"  # the folder of the script, while its text is worked on
SELF = "\x03"  # the script itself
ROUNDS = 6  # in which variables get their values
BEFORE = 200  # characters in front of a word that are looked at: a line may be as long as its file
FILE = r"(?:\$\{?0\}?|\$\{?BASH_SOURCE(?:\[0\])?\}?|\$\{BASH_SOURCE(?:\[0\])?:-\$0\}|\$\{\(%\):-%x\}|\$\{0:A\})"
REAL = r"(?:g?readlink\s+-f|readlink|realpath)"
IDIOMS = (
    (re.compile(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}|\$\{0:A:h\}"), OWN),
    (re.compile(FILE), SELF),
    (re.compile(rf"\$\({REAL}\s+(?:--\s+)?([{OWN}{SELF}][^\s()]*)\)"), r"\1"),
    (re.compile(rf"\$\(\s*dirname\s+(?:--\s+)?{SELF}\s*\)|`dirname\s+(?:--\s+)?{SELF}`"), OWN),
    (re.compile(rf"\$\(\s*dirname\s+(?:--\s+)?({OWN}[^\s()]*)\s*\)"), r"\1/.."),
    (
        re.compile(
            rf"\$\(\s*(?:CDPATH=\S*\s+)?(?:builtin\s+)?cd\s+(?:-[LP]\s+)?(?:--\s+)?({OWN}[^\s()]*)"
            r"[^()]*?(?:&&|;)\s*pwd(?:\s+-[LP])?[^()]*\)"
        ),
        r"\1",
    ),
)
ASSIGNED = re.compile(
    r"(?:^|[\s;&(])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?"
    rf"([A-Za-z_]\w*)=({OWN}[^\s;&|()<>]*)",
    re.MULTILINE,
)
FIXED = re.compile(r"(?:^|[\s;&(])([A-Za-z_]\w*)=((?:~|\$HOME|\$\{HOME\})?/[^\s;&|()<>$]*)")
COMMENT = re.compile(r"(^|\s)#[^\n]*")
WORD = re.compile(r"[^\s;&|()<>`]+")
SOURCED = re.compile(r"(?:^|[\s;&|(])(?:\.|source)\s+$")
WRITES = re.compile(r"(?:[>]{1,2}\|?\s*|\b(?:tee(?:\s+-\w+)*|touch|rm(?:\s+-\w+)*|mkdir(?:\s+-\w+)*)\s+)$")
TESTED = re.compile(r"(?:\[\[?\s+(?:!\s+)?|\btest\s+(?:!\s+)?)-[efrsx]\s+$")
LIVE = re.compile(r"\$\{?(?:HOOK_SOURCE_DIR|CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|HOME|PWD)\b|~/|/")
VARIABLE = re.compile(r"^\$\{?\w+[^/}]*\}?/")


def read(script: Script) -> Reading:
    text = _placed(script.text)
    uses: list[Use] = []
    lacks: dict[str, Lack] = {}
    written: set[str] = set()
    live: list[str] = []
    tested: set[str] = set()
    fixed = dict(FIXED.findall(text))
    for word, line, before in _words(text):
        sourced = bool(SOURCED.search(before))
        path = _path(script, word)
        if WRITES.search(before):
            written.add(path or _target(word, fixed))
        elif TESTED.search(before):
            tested.add(path)
        if sourced and LIVE.match(word):
            live.append(word)
        elif path and script.exists(path):
            uses.append(Use(path=path, why=Why.IMPORTED if sourced else Why.NAMED, line=line))
        elif path and sourced and OWN in word and not re.search(r"[$*?\[]", word):
            lacks.setdefault(path, Lack(what=Lacking.FILE, name=path, script=script.path, line=line))
    return Reading(
        uses=tuple(use for use in uses if use.path not in written),
        lacks=tuple(lack for path, lack in lacks.items() if path not in tested | written),
        written=frozenset(written - {""}),
        live=tuple(dict.fromkeys(live)),
        located=OWN in text or SELF in text,
    )


def _placed(text: str) -> str:
    """The text without comments and double quotes, with marks where it uses the script's own place."""
    text = COMMENT.sub(lambda found: found[1], text.replace("\\\n", " ")).replace('"', "").replace("'", "")
    for _ in range(ROUNDS):
        before = text
        for pattern, instead in IDIOMS:
            text = pattern.sub(instead, text)
        for name, value in dict(ASSIGNED.findall(text)).items():
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
            before = line[max(0, found.start() - BEFORE) : found.start()]
            yield (value if equals and re.fullmatch(r"-*[\w-]+", name) else word), number, before


def _target(word: str, fixed: Mapping[str, str]) -> str:
    """The file that is written to by a whole path, or by a variable that has one; "" for any other word."""
    word = re.sub(r"^\$(?:\{(\w+)\}|(\w+))", lambda found: fixed.get(found[1] or found[2], found[0]), word)
    word = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/)", "~", word)
    path = os.path.expanduser(word)  # noqa: PTH111 - of texts, which need not be paths
    return os.path.normpath(path) if path.startswith("/") and "$" not in path else ""


def _path(script: Script, word: str) -> str:
    """The file that a word may name beside the script; "" for any other word."""
    if word.startswith(OWN):
        return os.path.normpath(script.folder + word.removeprefix(OWN)) if word != OWN else ""
    plain = VARIABLE.sub("", word)
    if not nameable(plain) or "$" in plain or plain.startswith(("/", "~")) or SELF in plain or OWN in plain:
        return ""
    if plain != word and LIVE.match(word):
        return ""
    return beside(script.folder, plain)
