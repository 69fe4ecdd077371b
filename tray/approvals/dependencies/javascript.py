"""JavaScript and TypeScript: imports, packages of node_modules, the `package.json` that counts, and named files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

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
from tray.files import user_file
from tray.lazy_pattern import lazy_pattern
from tray.text.words import word_set

BUILTIN = word_set(
    "assert async_hooks buffer bun child_process cluster console constants crypto dgram diagnostics_channel dns "
    "domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline "
    "repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads "
    "zlib"
)
STRING = r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`"""
COMMENT = lazy_pattern(rf"({STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = lazy_pattern(r"""(['"`])((?:\\.|(?!\1)[^\\\n])*)\1""")
IMPORTS = lazy_pattern(
    r"""\b(?:import\s*(?:type\s+)?(?:[\w$*{}\s,]{1,4000}?\sfrom\s*|\{[^}]*\}\s*from\s*)?
    |export\s*(?:type\s*)?(?:\*(?:\s*as\s+\w+)?|\{[^}]*\})\s*from\s*
    |(?P<late>require(?:\.resolve)?|import)\s*\(\s*)(?P<quote>['"`])(?P<name>[^'"`\n$]+)(?P=quote)""",
    re.VERBOSE,
)
OWN_FOLDER = (
    r"(?:__dirname|import\.meta\.dirname|import\.meta\.dir\b|(?:path\.)?dirname\(\s*(?:__filename"
    r"|(?:url\.)?fileURLToPath\(\s*import\.meta\.url\s*\)|import\.meta\.filename)\s*\))"
)
JOINED = lazy_pattern(rf"(?:\bjoin|\bresolve)\(\s*({OWN_FOLDER}|[\w$]+)\s*,\s*((?:(?:{STRING})\s*(?:,\s*)?)+)\)")
NAMED = lazy_pattern(
    rf"\b(?:const|let|var)\s+([\w$]+)(?:\s*:\s*\w+)?\s*=\s*({OWN_FOLDER}|(?:path\.)?(?:join|resolve)\([^;\n]*\))"
)
URL = lazy_pattern(r"""new\s+URL\(\s*(['"`])([^'"`\n]+)\1\s*,\s*import\.meta\.url""")
TEMPLATE = lazy_pattern(r"\$\{([\w$.]+)\}(/[\w./@+-]+)")
WRITES = lazy_pattern(
    r"\b(?:(?:write|append)File(?:Sync)?|createWriteStream|(?:mkdir|unlink|rm)(?:Sync)?)\(\s*((?:[^(),]|\([^()]*\))+)"
)
LISTS = lazy_pattern(r"\b(?:readdir(?:Sync)?|glob(?:Sync)?)\(\s*((?:[^(),]|\([^()]*\))+)")
OWN_PATH = lazy_pattern(r"__dirname|__filename|import\.meta")
ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".node")
TYPED = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",)}
SCHEME = lazy_pattern(r"[a-z]+:")
TYPE_DEPENDENT = (".js", ".ts", ".jsx", ".tsx")  # whose meaning depends on `"type"`
MANIFEST = "package.json"
MAX_PROBLEMS = 50  # for each of which we look where in the script it is: that reads all before it


def analyse(script: Script) -> ScriptAnalysis:
    text = COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), script.text)
    places = _places(script, text)
    written = {path for found in WRITES.finditer(text) for path in _argument(script, found[1], places)}
    references = [*_configured(script)]
    problems: list[ScriptProblem] = []
    for found in IMPORTS.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        name = found["name"]
        file = _resolved(script, name)
        if file:
            references.append(Reference(path=file, kind=_inclusion_kind(name), line=line))
        elif name.startswith((".", "/")) or _is_package(name):
            problem_kind = ScriptProblemKind.MODULE if name.startswith(".") else ScriptProblemKind.PACKAGE
            certain = not found["late"] or (
                found["late"] == "require" and len(problems) < MAX_PROBLEMS and _at_top(text, found.start())
            )
            problems.append(
                ScriptProblem(kind=problem_kind, name=name, script=script.path, line=line, certain=certain)
            )
    references += [reference for reference in _literals(script, text, places) if reference.path not in written]
    return ScriptAnalysis(
        references=tuple(references),
        problems=tuple(problems),
        written_files=frozenset(written),
        uses_own_path=bool(OWN_PATH.search(text)),
    )


def packages(folder: str, root: str) -> tuple[tuple[str, ...], list[str]]:
    """The folders of a package and of all that it depends on, in each version, and the names of missing ones."""
    found: dict[str, None] = {}
    missing = []
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        if folder in found:
            continue
        found[folder] = None
        for needed in _dependency_names(folder):
            at = _package(folder, needed, root)
            if at:
                waiting.append(at)
            else:
                missing.append(needed)
    return tuple(found), missing


def _dependency_names(folder: str) -> list[str]:
    try:
        manifest = json.loads(user_file(Path(folder, MANIFEST)))
        return list(manifest.get("dependencies") or {})
    except (OSError, ValueError, AttributeError, TypeError):
        return []


def _inclusion_kind(name: str) -> InclusionKind:
    return InclusionKind.IMPORTED if name.startswith((".", "/")) else InclusionKind.PACKAGE


def _resolved(script: Script, name: str) -> str:
    """The file of a relative name, or the folder of a package; "" when there is none or it is built in."""
    if name.startswith("."):
        return _file(script, join_path(script.folder, name))
    return _package(script.folder, _package_of(name), script.root) if _is_package(name) else ""


def _file(script: Script, path: str) -> str:
    stem, ending = os.path.splitext(path)  # noqa: PTH122
    tries = [path, *(path + one for one in ENDINGS), *(stem + one for one in TYPED.get(ending, ()))]
    tries += [join_path(path, f"index{one}") for one in ENDINGS]
    return next((one for one in tries if script.exists(one)), "")


def _is_package(name: str) -> bool:
    first = name.partition("/")[0]
    return not (SCHEME.match(name) or name.startswith((".", "/", "#", "@/", "~")) or first in BUILTIN)


def _package_of(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[: 2 if name.startswith("@") else 1])


def _package(folder: str, name: str, root: str) -> str:
    """Where node finds a package from here, not above the root."""
    while True:
        path = join_path(folder, f"node_modules/{name}")
        if os.path.isdir(path):  # noqa: PTH112
            return path
        if folder == root or not folder.startswith(root) or folder == os.path.dirname(folder):  # noqa: PTH120
            return ""
        folder = os.path.dirname(folder)  # noqa: PTH120


def _configured(script: Script) -> Iterator[Reference]:
    """The nearest `package.json`, where it changes what the script means, and `tsconfig.json` of TypeScript."""
    if not script.path.endswith(TYPE_DEPENDENT):
        return
    names = [MANIFEST, "tsconfig.json"] if script.path.endswith((".ts", ".tsx")) else [MANIFEST]
    for name in names:
        folder = script.folder
        while folder.startswith(script.root) and not script.exists(join_path(folder, name)) and folder != script.root:
            folder = os.path.dirname(folder)  # noqa: PTH120
        file = join_path(folder, name)
        if script.exists(file) and (name != MANIFEST or _sets_type(file)):
            yield Reference(path=file, kind=InclusionKind.IMPORTED)


def _sets_type(file: str) -> bool:
    try:
        manifest = json.loads(user_file(file))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and bool({"type", "imports"} & manifest.keys())


def _places(script: Script, text: str) -> dict[str, str]:
    """Names of the script that hold a place beside it."""
    places: dict[str, str] = {}
    for found in NAMED.finditer(text):
        path = next(iter(_argument(script, found[2], places)), "")
        if path:
            places[found[1]] = path
    return places


def _argument(script: Script, text: str, places: dict[str, str]) -> Iterator[str]:
    """The paths that an expression may name: a place, a name of one, a joined one, or a literal."""
    text = text.strip()
    if re.fullmatch(OWN_FOLDER, text):
        yield script.folder
    elif text in places:
        yield places[text]
    elif joined := JOINED.search(text if text.endswith(")") else f"{text})"):
        yield from _joined(script, joined, places)
    elif literal := LITERAL.fullmatch(text):
        yield join_path(script.folder, literal[2])


def _joined(script: Script, found: re.Match[str], places: dict[str, str]) -> Iterator[str]:
    base = script.folder if re.fullmatch(OWN_FOLDER, found[1]) else places.get(found[1], "")
    if base:
        yield join_path(base, "/".join(part[2] for part in LITERAL.finditer(found[2])))


def _literals(script: Script, text: str, places: dict[str, str]) -> Iterator[Reference]:
    named: list[tuple[str, int]] = []
    for found in JOINED.finditer(text):
        named += ((path, found.start()) for path in _joined(script, found, places))
    for found in TEMPLATE.finditer(text):
        base = script.folder if re.fullmatch(OWN_FOLDER, found[1]) else places.get(found[1], "")
        named += [(join_path(base, found[2].lstrip("/")), found.start())] if base else []
    named += ((join_path(script.folder, found[2]), found.start()) for found in URL.finditer(text))
    named += ((join_path(script.folder, found[2]), found.start()) for found in LITERAL.finditer(text)
              if may_name_file(found[2]) and not found[2].startswith("/"))  # fmt: skip
    for path, at in named:
        if script.exists(path):
            yield Reference(path=path, kind=InclusionKind.NAMED, line=text.count("\n", 0, at) + 1)
    for found in LISTS.finditer(text):
        for path in _argument(script, found[1], places):
            if os.path.isdir(path):  # noqa: PTH112
                yield Reference(path=path, kind=InclusionKind.FOLDER, line=text.count("\n", 0, found.start()) + 1)


def _at_top(text: str, at: int) -> bool:
    """Whether no brace is open there: code in a function or a `try` may never run."""
    before = re.sub(STRING, "", text[:at])
    return before.count("{") == before.count("}")
