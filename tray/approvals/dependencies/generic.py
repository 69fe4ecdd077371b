"""Scripts of any other language: what they require by literals, and the words that name files beside them."""

from __future__ import annotations

import re

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

LITERAL = lazy_pattern(r"""(['"])((?:\\.|(?!\1)[^\\\n])*)\1""")
TOKEN = lazy_pattern(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[\w.+-]+")
REQUIRED = lazy_pattern(
    r"""\b(?:require_relative|load|require_once|include_once|require|include|do)\b\s*\(?\s*
    (?:(?:__DIR__|\$FindBin::Bin)\s*\.\s*)?(['"])(?P<name>[^'"\n]+)\1""",
    re.VERBOSE,
)
JOINED = lazy_pattern(
    r"""\b(?:join|catfile)\(\s*(?:__dir__|File\.dirname\(__FILE__\)|\$FindBin::Bin|\$Bin)\s*,
    \s*((?:(?:'[^']*'|"[^"]*")\s*(?:,\s*)?)+)\)""",
    re.VERBOSE,
)
LIBRARY = lazy_pattern(r"""use\s+lib\s+['"]\$(?:FindBin::)?Bin/([\w./-]+)['"]""")
MODULE = lazy_pattern(r"^\s*use\s+([A-Z]\w*(?:::\w+)*)", re.MULTILINE)
OWN_FOLDER = lazy_pattern(r"^(?:\#\{__dir__\}|\$\{?(?:FindBin::)?Bin\}?|\#\{File\.dirname\(__FILE__\)\})?/")
OWN_PATH = lazy_pattern(r"__dir__|__FILE__|__DIR__|FindBin|\$0|\$PSScriptRoot|arg\[0\]")
SUFFIXES = ("", ".rb", ".pl", ".pm", ".php", ".lua")


def analyse(script: Script) -> ScriptAnalysis:
    text = script.text
    references, problems = [], []
    for found in REQUIRED.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        name = OWN_FOLDER.sub("", found["name"])
        file = next((path for end in SUFFIXES if script.exists(path := join_path(script.folder, name + end))), "")
        if file:
            references.append(Reference(path=file, kind=InclusionKind.IMPORTED, line=line))
        elif found[0].startswith("require_relative"):
            problems.append(ScriptProblem(kind=ScriptProblemKind.MODULE, name=name, script=script.path, line=line))
    for folder in ("", *LIBRARY.findall(text)):
        for module in MODULE.finditer(text):
            path = join_path(script.folder, f"{folder}/{module[1].replace('::', '/')}.pm".lstrip("/"))
            if script.exists(path):
                references.append(
                    Reference(path=path, kind=InclusionKind.IMPORTED, line=text.count("\n", 0, module.start()) + 1)
                )
    names = ["/".join(part[2] for part in LITERAL.finditer(found[1])) for found in JOINED.finditer(text)]
    names += (OWN_FOLDER.sub("", found[2]) for found in LITERAL.finditer(text))
    names += TOKEN.findall(text)
    for name in dict.fromkeys(names):
        path = join_path(script.folder, name.lstrip("/"))
        if may_name_file(name) and script.exists(path):
            references.append(Reference(path=path, kind=InclusionKind.NAMED))
    return ScriptAnalysis(
        references=tuple(references), problems=tuple(problems), uses_own_path=bool(OWN_PATH.search(text))
    )
