"""Scripts of any other language: what they require by literals, and the words that name files beside them."""

from __future__ import annotations

import re

from tray.engine.approval.dependencies.reading import Lack, Lacking, Reading, Script, Use, Why, beside, nameable

LITERAL = re.compile(r"""(['"])((?:\\.|(?!\1)[^\\\n])*)\1""")
TOKEN = re.compile(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[\w.+-]+")
REQUIRED = re.compile(
    r"""\b(?:require_relative|load|require_once|include_once|require|include|do)\b\s*\(?\s*
    (?:(?:__DIR__|\$FindBin::Bin)\s*\.\s*)?(['"])(?P<name>[^'"\n]+)\1""",
    re.VERBOSE,
)
JOINED = re.compile(
    r"""\b(?:join|catfile)\(\s*(?:__dir__|File\.dirname\(__FILE__\)|\$FindBin::Bin|\$Bin)\s*,
    \s*((?:(?:'[^']*'|"[^"]*")\s*(?:,\s*)?)+)\)""",
    re.VERBOSE,
)
LIBRARY = re.compile(r"""use\s+lib\s+['"]\$(?:FindBin::)?Bin/([\w./-]+)['"]""")
MODULE = re.compile(r"^\s*use\s+([A-Z]\w*(?:::\w+)*)", re.MULTILINE)
PLACE = re.compile(r"^(?:\#\{__dir__\}|\$\{?(?:FindBin::)?Bin\}?|\#\{File\.dirname\(__FILE__\)\})?/")
LOCATED = re.compile(r"__dir__|__FILE__|__DIR__|FindBin|\$0|\$PSScriptRoot|arg\[0\]")
ENDINGS = ("", ".rb", ".pl", ".pm", ".php", ".lua")


def read(script: Script) -> Reading:
    text = script.text
    uses, lacks = [], []
    for found in REQUIRED.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        name = PLACE.sub("", found["name"])
        file = next((path for end in ENDINGS if script.exists(path := beside(script.folder, name + end))), "")
        if file:
            uses.append(Use(path=file, why=Why.IMPORTED, line=line))
        elif found[0].startswith("require_relative"):
            lacks.append(Lack(what=Lacking.MODULE, name=name, script=script.path, line=line))
    for folder in ("", *LIBRARY.findall(text)):
        for module in MODULE.finditer(text):
            path = beside(script.folder, f"{folder}/{module[1].replace('::', '/')}.pm".lstrip("/"))
            if script.exists(path):
                uses.append(Use(path=path, why=Why.IMPORTED, line=text.count("\n", 0, module.start()) + 1))
    names = ["/".join(part[2] for part in LITERAL.finditer(found[1])) for found in JOINED.finditer(text)]
    names += (PLACE.sub("", found[2]) for found in LITERAL.finditer(text))
    names += TOKEN.findall(text)
    for name in dict.fromkeys(names):
        path = beside(script.folder, name.lstrip("/"))
        if nameable(name) and script.exists(path):
            uses.append(Use(path=path, why=Why.NAMED))
    return Reading(uses=tuple(uses), lacks=tuple(lacks), located=bool(LOCATED.search(text)))
