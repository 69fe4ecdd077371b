"""Which files are protected from agents: ours, those that declare agents' hooks, the Python that Hooktray runs from.

An environment with nothing but Hooktray (of pipx, of `uv tool`) is protected like our own folders. In any other one,
installing and removing packages is the project's business. Denied is what would run in our own processes at each
start; asked about is what alters packages by hand, and what takes the whole environment away.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from pathlib import PurePath

import msgspec

from tray.agents.agent import ProtectedFiles
from tray.agents.overview import whole_overview
from tray.agents.registry import known_agent, known_agents
from tray.model.decision import Verdict
from tray.paths import real_path
from tray.text.words import word_set

OWN_KIND = "Hooktray's own"
GUARD_KIND = "used by an approved hook as it is"
PACKAGE_FOLDERS = word_set("node_modules site-packages .venv venv")  # package managers create these anew
MAX_NAME = 255  # characters of a name
MAX_PATH = 4096  # characters of a path; no system takes a longer one
LOGIN_FILES = ProtectedFiles(
    kind="Hooktray's start at login",
    pattern=re.compile(
        r".*/(?:autostart|systemd/user(?:/.*)?|launchagents)/[^/]*hooktray[^/]*(?:/.*)?"
        # Drop-ins that apply to every unit of the user.
        r"|.*/systemd/(?:user/(?:service|socket)\.d(?:/.*)?|user\.conf(?:\.d/.*)?)|.*/environment\.d(?:/.*)?"
    ),
)
LOGIN_FILE = ".config/autostart/hooktray.desktop"
OWN_FILES = ("hooktray.yaml", "hooktray.db", "relay.table", "hooktray-hook", "tray.sock")
OWN_WORDS = ("autostart", "hook")
GLOB_SIGNS = re.compile(r"[*?\[{]")
BRACES = re.compile(r"\{[^{}]*\}")
SITE_NAMES = ("dist-packages", "site-packages")
OWN_FOLDERS = {
    ("pipx", "venvs"): "pipx",
    ("uv", "tools"): "uv",
    ("usr", "lib"): "",
}  # above one that is ours -> its tool
STARTUP = re.compile(r"[^/]*\.pth|(?:site|user)customize(?:[./].*)?", re.IGNORECASE)
INTERPRETER = re.compile(r"pyvenv\.cfg|(?:bin|scripts)/(?:python|pypy|hooktray)[^/]*", re.IGNORECASE)
HINTS = (".pth", "customize", "pyvenv", "-packages", "virtualenv", "venv")
MIN_WORD = 4  # characters of a folder's name; shorter ones are in every text
COMMON = word_set("home local root share work")
STARTUP_TEXT = "runs in Hooktray's own processes; changing it is for a person:"
ALTERED_TEXT = "is part of the Python environment that Hooktray runs in; changing it by hand,"
REMOVED_TEXT = "holds the Python environment that Hooktray runs in; taking it away,"
MANAGED_TEXT = "it changes or removes the installed Hooktray, and with it the user's guards;"
PIP = re.compile(r"pip[\d.]*")
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
PACKAGE_TOOLS = word_set("conda hatch pdm pip pipx poetry rye uv")
CHANGES = word_set("add inject install reinstall remove sync uninject uninstall upgrade update")
REPLACING = word_set("--force-reinstall --ignore-installed --reinstall --upgrade -I -U remove uninstall upgrade")
ALL_PACKAGES = word_set("reinstall-all uninstall-all upgrade-all")


@cache
def hook_files() -> tuple[ProtectedFiles, ...]:
    """Where agents look for hooks, and what starts us."""
    return (*(files for agent in known_agents() for files in agent.protected), LOGIN_FILES)


@cache
def asked_kinds() -> frozenset[str]:
    """Returns the kinds of files whose change is asked about, not refused."""
    return frozenset({GUARD_KIND, *(files.kind for files in hook_files() if files.asks)})


def shell_lines(path: str) -> re.Pattern[str] | None:
    """Returns the pattern of lines that an agent runs by itself in the text at this path; None if it runs none."""
    if len(path) > MAX_PATH:
        return None
    low = path.lower().replace("\\", "/")
    texts = (agent.shell_texts for agent in known_agents() if agent.shell_texts)
    return next((one.lines for one in texts if one.files.fullmatch(low)), None)


@cache
def hook_settings() -> tuple[str, ...]:
    """Examples below a home or a project, for a shell's patterns and for other names of the same file."""
    return (*(path for agent in known_agents() for path in agent.settings_files), LOGIN_FILE)


@cache
def hook_words() -> tuple[str, ...]:
    """Words without one of which a text names none of these files, and starts no agent that has no hooks."""
    return tuple(dict.fromkeys((*OWN_WORDS, *whole_overview().protected_words)))


def agent_homes(environment: Mapping[str, str]) -> dict[str, str]:
    """The folders of agents that the environment names, by agent, as far as something in them is protected."""
    named, homes = whole_overview().home_variables, {}
    for variable in environment.keys() & named.keys():
        if folder := environment[variable]:
            home = os.path.normpath(os.path.expanduser(folder))  # noqa: PTH111
            homes[named[variable]] = home.replace(os.sep, "/")
    return homes


def with_drive(path: str) -> str:
    """A path as Git Bash writes it, in which agents run commands on Windows: `/c/Users` is `c:/Users`."""
    drive, rest = path[1:2], path[2:]
    is_one = path.startswith("/") and drive.isascii() and drive.isalpha() and rest[:1] in ("", "/")
    return f"{drive}:{rest or '/'}" if is_one else path


def absolute_path(path: str, cwd: str) -> str:
    """As paths are compared: from the root on, with `/` between its names."""
    given = with_drive(path) if sys.platform == "win32" else path
    return os.path.normpath(PurePath(cwd or "/") / given).replace(os.sep, "/")


def path_words(protected: ProtectedPaths) -> tuple[str, ...]:
    """Further words without one of which a text names none of our places."""
    paths = [PurePath(place) for place in (*protected.own, *protected.agent_homes.values()) if place]
    home = PurePath(protected.home)
    above = [folder for path in paths for folder in path.parents if home in folder.parents]
    names = {path.name.lower() for path in (*paths, *(path.parent for path in paths), *above) if path.name}
    names |= {PurePath(guard).name.lower() for guard in protected.guards}
    return (*names, *protected.environments.words, *((str(protected.port),) if protected.port else ()))


class EnvironmentFinding(msgspec.Struct, frozen=True):
    """What is wrong with a change of this path."""

    verdict: Verdict
    reason: str
    path: str


class Environments(msgspec.Struct, frozen=True, kw_only=True):
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

    def is_above(self, path: str) -> bool:
        """True if one of these environments is below this folder."""
        return any(_below(place, path) for place in (*self.shared, *self.packages))

    def judge_removal(self, path: str) -> EnvironmentFinding | None:
        """The same where this folder, with all that is below it, is removed, moved or replaced."""
        for place in (*self.shared, *self.packages):
            if place == path or _below(place, path) or _finds(path, place):
                return EnvironmentFinding(Verdict.ASK, f"{PurePath(path).name} {REMOVED_TEXT}", path)
        return self.judge_write(path)

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
    packages, roots, other = ([one.replace(os.sep, "/") for one in places] for places in (packages, roots, other))
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
    paths = (absolute_path(text, cwd) for text in named)
    return next((path for path in paths if path in (*environments.own, *environments.shared)), "")


def _word(folder: PurePath) -> str:
    """The folder's name, with that of the folder above it when the name would be in every text."""
    name = folder.name.lower()
    if name in COMMON or len(folder.parts) < 3:
        return ""
    return name if len(name) >= MIN_WORD else f"{folder.parent.name.lower()}/{name}"


def _is_in(text: str, cwd: str, folders: Sequence[str]) -> bool:
    path = absolute_path(text.rpartition("=")[2], cwd)
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


class ProtectedPaths(msgspec.Struct, frozen=True, kw_only=True):
    """`own` are our folders and files; `home` is the user's; `port` is the page's, 0 when there is none.

    `own` and `agent_homes` have `/` on every system; other paths are given it before they are compared.
    """

    own: tuple[str, ...] = ()
    home: str = ""
    agent_homes: Mapping[str, str] = {}  # by agent, where its environment names one
    guards: tuple[str, ...] = ()  # files that approved hooks run or name, and that are not copied
    port: int = 0
    environments: Environments = NO_ENVIRONMENTS  # that Hooktray runs from; their own folders are in `own`, too

    def expand_home(self, path: str) -> str:
        """With the user's home in place of `~`."""
        return self.home + path[1:] if path.startswith("~/") or path == "~" else path

    def absolute(self, path: str, cwd: str) -> str:
        return absolute_path(self.expand_home(path.removeprefix("file://")), cwd)

    def kind(self, path: str, cwd: str) -> str:
        """What this path is to us; "" when it is nothing of ours."""
        if not path or "\0" in path or len(path) > MAX_PATH:
            return ""
        whole = self.absolute(path, cwd)
        linked = real_path(whole).replace(os.sep, "/")  # by whatever links it is reached
        return self._kind(whole) or (self._kind(linked) if linked != whole else "") or self._hard_linked(linked)

    def judge_environment(self, path: str, cwd: str, *, removes: bool = False) -> EnvironmentFinding | None:
        """What to say of a change of this file, or of its removal with all below it, in an environment of ours."""
        if not path or "\0" in path or len(path) > MAX_PATH or self.environments == NO_ENVIRONMENTS:
            return None
        whole = self.absolute(path, cwd)
        judge = self.environments.judge_removal if removes else self.environments.judge_write
        return judge(whole) or judge(real_path(whole).replace(os.sep, "/"))

    def _kind(self, whole: str) -> str:
        low = whole.lower().replace("\\", "/")  # where case does not matter, it is the same file
        if any(low == place or low.startswith(place.rstrip("/") + "/") for place in map(str.lower, self.own)):
            return OWN_KIND
        if any(above is False for above in self._glob_matches(whole)):
            return OWN_KIND
        for agent, folder in self.agent_homes.items():
            for files in known_agent(agent).protected_in_home:
                if whole.startswith(folder) and files.pattern.fullmatch(whole, len(folder)):
                    return files.kind
        found = next(
            (files.kind for files in hook_files() if files.pattern.fullmatch(low) and _is_meant(files, whole)), ""
        )
        return found or ("a hook setting of an agent" if _matches_hook_setting(whole) else self._guard_kind(whole))

    def _guard_kind(self, whole: str) -> str:
        low = whole.lower()
        is_pattern = GLOB_SIGNS.search(whole) is not None
        for guard in self.guards:
            place = guard.lower()
            if PurePath(place).name in PACKAGE_FOLDERS:
                continue
            if low == place or low.startswith(f"{place}/"):
                return GUARD_KIND
            if is_pattern and _finds(BRACES.sub("*", low), place) and low.count("/") == place.count("/"):
                return GUARD_KIND
        return ""

    def _hard_linked(self, whole: str) -> str:
        """A second name of a file, made by a hard link."""
        try:
            found = os.stat(whole)  # noqa: PTH116 - at each path of a tool call
        except (OSError, ValueError):
            return ""
        if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
            return ""
        settings = (os.path.join(self.home, one) for one in hook_settings())  # noqa: PTH118
        known = (*settings, *self._files(), *self.guards)
        return "a file that protects your user" if any(_is_same_file(found, one) for one in known) else ""

    def _files(self) -> Iterator[str]:
        """What lies directly in our folders."""
        for folder in self.own:
            with contextlib.suppress(OSError):
                yield from (entry.path for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))

    def contains_protected(self, path: str, cwd: str) -> bool:
        """Whether something of ours lies below this folder, so that to remove it is to remove ours."""
        if not path or "\0" in path or len(path) > MAX_PATH:
            return False
        whole = self.absolute(path, cwd).rstrip("/") + "/"
        places = (*self.own, *self.agent_homes.values())
        if any(place.startswith(whole) for place in places) or any(self._glob_matches(whole)):
            return True
        below = (_below(guard, whole) or (_finds(BRACES.sub("*", whole), guard) and guard) for guard in self.guards)
        if any(rest and PACKAGE_FOLDERS.isdisjoint((PurePath(whole).name, *PurePath(rest).parts)) for rest in below):
            return True
        return _holds_hook_setting(whole)

    def places_below(self, path: str, cwd: str) -> Iterator[str]:
        """Yields our places below this folder, without itself, and the names in them."""
        whole = self.absolute(path, cwd).rstrip("/") + "/"
        own = (f"{folder}/{name}" for folder in self.own for name in OWN_FILES)
        settings = (f"{self.home}/{one}" for one in hook_settings())
        yield from (one.removeprefix(whole) for one in (*own, *settings, *self.guards) if one.startswith(whole))

    def _glob_matches(self, whole: str) -> Iterator[bool]:
        """For each of our places that a shell's pattern would find: whether it finds a folder above it."""
        if not GLOB_SIGNS.search(whole):
            return
        pattern = PurePath(BRACES.sub("*", whole)).parts
        for place in (PurePath(place).parts for place in self.own):
            if all(_matches_part(one, part) for one, part in zip(pattern, place, strict=False)):
                yield len(pattern) < len(place)

    def names_page(self, text: str) -> bool:
        return (
            bool(self.port)
            and re.search(rf"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):{self.port}\b", text) is not None
        )


def _is_meant(files: ProtectedFiles, whole: str) -> bool:
    """Whether a file with a common name is the agent's. On another machine (a container) that cannot be seen."""
    if not files.beside:
        return True
    folder = PurePath(whole).parent
    is_here = os.path.isdir(folder.parent)  # noqa: PTH112 - at each such path of a tool call
    return not is_here or any(os.path.exists(folder / name) for name in files.beside)  # noqa: PTH110


def _matches_hook_setting(whole: str) -> bool:
    """Whether a shell's pattern would find a hook setting of some home or project."""
    if not GLOB_SIGNS.search(whole):
        return False
    pattern = PurePath(BRACES.sub("*", whole)).parts
    for parts in (PurePath(one).parts for one in hook_settings()):
        tail = pattern[-len(parts) :]
        if len(tail) == len(parts) and all(map(_matches_part, tail, parts)):
            return True
    return False


def _holds_hook_setting(whole: str) -> bool:
    """True for an agent's folder in a home or a project, with hook settings below it."""
    folder = PurePath(whole)
    for parts in (PurePath(one).parts for one in hook_settings()):
        for depth in range(1, len(parts)):
            if folder.parts[-depth:] != parts[:depth]:
                continue
            setting = folder.joinpath(*parts[depth:])
            if os.path.exists(setting) or (setting.parent != folder and os.path.isdir(setting.parent)):  # noqa: PTH110, PTH112
                return True
    return False


def _is_same_file(found: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(found, os.stat(path))  # noqa: PTH116
    except OSError:
        return False


def glob_matches(pattern: str, name: str) -> bool:
    """Whether a shell's pattern finds this name; one that is longer than any name takes too long to be looked at."""
    return len(pattern) > MAX_NAME or fnmatchcase(name, pattern)


def _matches_part(pattern: str, name: str) -> bool:
    """As the shell does: what begins with a dot is found only by a dot."""
    return glob_matches(pattern, name) and (not name.startswith(".") or pattern[:1] not in "*?[")
