"""The Python environments that Hooktray runs from: what in them is ours, and what they share with a project.

An environment with nothing but Hooktray (of pipx, of `uv tool`) is protected like our own folders. In any other one,
installing and removing packages is the project's business. Denied is what would run in our own processes at each
start; asked about is what alters packages by hand, and what takes the whole environment away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath

from tray.lazy_dataclass import dataclass
from tray.lazy_pattern import lazy_pattern
from tray.model.decision import Verdict
from tray.text.words import word_set

SITE_NAMES = ("dist-packages", "site-packages")
OWN_FOLDERS = {
    ("pipx", "venvs"): "pipx",
    ("uv", "tools"): "uv",
    ("usr", "lib"): "",
}  # above one that is ours -> its tool
STARTUP = lazy_pattern(r"[^/]*\.pth|(?:site|user)customize(?:[./].*)?", re.IGNORECASE)
INTERPRETER = lazy_pattern(r"pyvenv\.cfg|(?:bin|scripts)/(?:python|pypy|hooktray)[^/]*", re.IGNORECASE)
HINTS = (".pth", "customize", "pyvenv", "-packages", "virtualenv", "venv")
MIN_WORD = 4  # characters of a folder's name; shorter ones are in every text
COMMON = word_set("home local root share work")
STARTUP_TEXT = "runs in Hooktray's own processes; changing it is for a person:"
ALTERED_TEXT = "is part of the Python environment that Hooktray runs in; changing it by hand,"
REMOVED_TEXT = "holds the Python environment that Hooktray runs in; taking it away,"
MANAGED_TEXT = "it changes or removes the installed Hooktray, and with it the user's guards;"
PIP = lazy_pattern(r"pip[\d.]*")
PYTHON = lazy_pattern(r"(?:python|pypy)[\d.]*")
PACKAGE_TOOLS = word_set("conda hatch pdm pip pipx poetry rye uv")
CHANGES = word_set("add inject install reinstall remove sync uninject uninstall upgrade update")
REPLACING = word_set("--force-reinstall --ignore-installed --reinstall --upgrade -I -U remove uninstall upgrade")
ALL_PACKAGES = word_set("reinstall-all uninstall-all upgrade-all")


@dataclass(frozen=True, slots=True)
class EnvironmentFinding:
    """What is wrong with a change of this path."""

    verdict: Verdict
    reason: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environments:
    """`own` hold nothing but Hooktray; `shared` are the roots of others, `packages` their folders of packages.

    `tools` are the programs that manage the own ones: pipx, uv.
    """

    own: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()

    def judge_write(self, path: str) -> EnvironmentFinding | None:
        """What to say of whatever surely changes this file."""
        name = PurePath(path).name
        for folder in self.packages:
            below = _below(path, folder)
            if below:
                is_startup = STARTUP.fullmatch(below) is not None
                verdict, text = (Verdict.DENY, STARTUP_TEXT) if is_startup else (Verdict.ASK, ALTERED_TEXT)
                return EnvironmentFinding(verdict, f"{name} {text}", path)
        if any(INTERPRETER.fullmatch(_below(path, root)) for root in self.shared):
            return EnvironmentFinding(Verdict.DENY, f"{name} {STARTUP_TEXT}", path)
        return None

    def judge_removal(self, path: str) -> EnvironmentFinding | None:
        """The same where this folder, with all that is below it, is removed, moved or replaced."""
        for place in (*self.shared, *self.packages):
            if place == path or _below(place, path) or _finds(path, place):
                return EnvironmentFinding(Verdict.ASK, f"{PurePath(path).name} {REMOVED_TEXT}", path)
        return self.judge_write(path)

    def hold(self, cwd: str) -> bool:
        """Whether a relative path of this folder may be in one of them; asked of each event."""
        return cwd.startswith((*self.shared, *self.packages))

    @property
    def words(self) -> tuple[str, ...]:
        """One of them is in each text that names one of these places or a tool that manages them."""
        if not (self.own or self.shared or self.packages):
            return ()
        places = [PurePath(place) for place in (*self.shared, *self.packages)]
        above = [folder for place in places for folder in (place, *place.parents)]
        return tuple(dict.fromkeys((*HINTS, *self.tools, *filter(None, map(_word, above)))))


NO_ENVIRONMENTS = Environments()


def find_environments(packages: Iterable[str], roots: Iterable[str], other: Iterable[str] = ()) -> Environments:
    """Of these folders of packages and roots of environments; `other` folders hold code that we run, too."""
    own = tuple(root for root in roots if _manager(root) is not None)
    shared = tuple(root for root in roots if root not in own)
    others = [folder for folder in (*packages, *other) if not any(_below(folder, root) for root in own)]
    tools = frozenset(filter(None, (_manager(root) for root in own)))
    return Environments(own=own, shared=shared, packages=tuple(dict.fromkeys(others)), tools=tools)


def changes_installation(texts: Sequence[str], program: str, cwd: str, environments: Environments) -> bool:
    """Whether a package tool changes, replaces or removes the installed Hooktray."""
    tool = "pip" if PIP.fullmatch(program) or (PYTHON.fullmatch(program) and _module(texts) == "pip") else program
    if tool not in PACKAGE_TOOLS:
        return False
    if tool in environments.tools and (ALL_PACKAGES & set(texts) or {"tool", "--all"} <= set(texts)):
        return True
    if not CHANGES & set(texts):
        return False
    if any(_is_in(text, cwd, environments.own) for text in texts):  # its own pip, `--target`, `--python`, VIRTUAL_ENV
        return True
    names_us = any(re.split(r"[=<>@~!\[]", PurePath(text).name)[0].lower() == "hooktray" for text in texts[1:])
    replaces = bool(REPLACING & set(texts)) and bool(environments.shared or environments.packages)
    return names_us and (tool == "pipx" or "tool" in texts or replaces)


def remade_environment(texts: Sequence[str], program: str, cwd: str, environments: Environments) -> str:
    """The environment of ours that a command makes anew: `uv venv`, `python -m venv --clear .venv`; "" for none."""
    if program == "uv" and "venv" in texts:
        named = [text for text in texts[texts.index("venv") + 1 :] if not text.startswith("-")] or [".venv"]
    elif "--clear" in texts and (program == "virtualenv" or (PYTHON.fullmatch(program) and _module(texts) == "venv")):
        named = [text for text in texts if not text.startswith("-")]
    else:
        return ""
    paths = (os.path.normpath(PurePath(cwd or "/") / text) for text in named)
    return next((path for path in paths if path in (*environments.own, *environments.shared)), "")


def _word(folder: PurePath) -> str:
    """The folder's name, with that of the folder above it when the name would be in every text."""
    name = folder.name.lower()
    if name in COMMON or len(folder.parts) < 3:
        return ""
    return name if len(name) >= MIN_WORD else f"{folder.parent.name.lower()}/{name}"


def _is_in(text: str, cwd: str, folders: Sequence[str]) -> bool:
    path = os.path.normpath(PurePath(cwd or "/") / text.rpartition("=")[2])
    return any(path == folder or _below(path, folder) for folder in folders)


def _module(texts: Sequence[str]) -> str:
    return next((name for flag, name in pairwise(texts) if flag == "-m"), "")


def _manager(root: str) -> str | None:
    """What manages an environment with nothing but Hooktray, "" for the system; None when it is another one."""
    path = PurePath(root)
    if not path.name.lower().startswith("hooktray"):
        return None
    return OWN_FOLDERS.get((path.parent.parent.name, path.parent.name))


def _below(path: str, folder: str) -> str:
    """The rest of the path below this folder; "" when it is not below it."""
    place = folder.rstrip("/") + "/"
    return path[len(place) :] if path.startswith(place) else ""


def _finds(pattern: str, place: str) -> bool:
    """Whether a shell's pattern finds this place or a folder above it: `.ven*`."""
    if not set(pattern) & set("*?["):
        return False
    parts, names = PurePath(pattern).parts, PurePath(place).parts
    return len(parts) <= len(names) and all(map(fnmatchcase, names, parts))
