"""Which files are protected from agents: ours, and those in which agents' own hooks are declared."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePath

from tray.agents.agent import ProtectedFiles
from tray.agents.registry import known_agent, known_agents
from tray.lazy_dataclass import dataclass, field
from tray.lazy_pattern import lazy_pattern
from tray.paths import real_path
from tray.protection.environments import NO_ENVIRONMENTS, EnvironmentFinding, Environments

OWN_KIND = "Hooktray's own"
MAX_NAME = 255  # characters of a name
MAX_PATH = 4096  # characters of a path; no system takes a longer one
LOGIN_FILES = ProtectedFiles(
    kind="Hooktray's start at login",
    pattern=lazy_pattern(r".*/(?:autostart|systemd/user(?:/.*)?|launchagents)/[^/]*hooktray[^/]*"),
)
LOGIN_FILE = ".config/autostart/hooktray.desktop"
OWN_WORDS = ("autostart", "hook")
GLOB_SIGNS = lazy_pattern(r"[*?\[{]")
BRACES = lazy_pattern(r"\{[^{}]*\}")


@cache
def hook_files() -> tuple[ProtectedFiles, ...]:
    """Where agents look for hooks, and what starts us."""
    return (*(files for agent in known_agents() for files in agent.protected), LOGIN_FILES)


@cache
def hook_settings() -> tuple[str, ...]:
    """Examples below a home or a project, for a shell's patterns and for other names of the same file."""
    return (*(path for agent in known_agents() for path in agent.settings_files), LOGIN_FILE)


@cache
def hook_words() -> tuple[str, ...]:
    """Words without one of which a text names none of these files, and starts no agent that has no hooks."""
    agents = [agent for agent in known_agents() if agent.without_hooks or agent.home_variable]
    names = (name for agent in agents for name in agent.programs if len(name) > 2)
    words = (word for agent in known_agents() for word in agent.path_words)
    return tuple(dict.fromkeys((*OWN_WORDS, *words, *names)))


def agent_homes(environment: Mapping[str, str]) -> dict[str, str]:
    """The folders of agents that the environment names, by agent, as far as something in them is protected."""
    named = _home_variables()
    return {
        named[variable]: os.path.normpath(os.path.expanduser(environment[variable]))  # noqa: PTH111
        for variable in environment.keys() & named.keys()
        if environment[variable]
    }


@cache
def _home_variables() -> Mapping[str, str]:
    """The agents by these variables of theirs."""
    return {
        agent.home_variable: agent.id for agent in known_agents() if agent.protected_in_home and agent.home_variable
    }


def path_words(protected: ProtectedPaths) -> tuple[str, ...]:
    """Further words without one of which a text names none of our places."""
    paths = [PurePath(place) for place in (*protected.own, *protected.agent_homes.values()) if place]
    above = [folder for path in paths for folder in path.parents if protected.home in map(str, folder.parents)]
    names = {path.name.lower() for path in (*paths, *(path.parent for path in paths), *above) if path.name}
    return (*names, *protected.environments.words, *((str(protected.port),) if protected.port else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedPaths:
    """`own` are our folders and files; `home` is the user's; `port` is the page's, 0 when there is none."""

    own: tuple[str, ...] = ()
    home: str = ""
    agent_homes: Mapping[str, str] = field(default_factory=dict)  # by agent, where its environment names one
    port: int = 0
    environments: Environments = NO_ENVIRONMENTS  # that Hooktray runs from; their own folders are in `own`, too

    def expand_home(self, path: str) -> str:
        """With the user's home in place of `~`."""
        return self.home + path[1:] if path.startswith("~/") or path == "~" else path

    def absolute(self, path: str, cwd: str) -> str:
        return os.path.normpath(PurePath(cwd or "/") / self.expand_home(path.removeprefix("file://")))

    def kind(self, path: str, cwd: str) -> str:
        """What this path is to us; "" when it is nothing of ours."""
        if not path or "\0" in path or len(path) > MAX_PATH:
            return ""
        whole = self.absolute(path, cwd)
        linked = real_path(whole)  # by whatever links it is reached
        return self._kind(whole) or (self._kind(linked) if linked != whole else "") or self._hard_linked(linked)

    def judge_environment(self, path: str, cwd: str, *, removes: bool = False) -> EnvironmentFinding | None:
        """What to say of a change of this file, or of its removal with all below it, in an environment of ours."""
        if not path or "\0" in path or len(path) > MAX_PATH or self.environments == NO_ENVIRONMENTS:
            return None
        whole = self.absolute(path, cwd)
        judge = self.environments.judge_removal if removes else self.environments.judge_write
        return judge(whole) or judge(real_path(whole))

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
        return found or ("a hook setting of an agent" if _matches_hook_setting(whole) else "")

    def _hard_linked(self, whole: str) -> str:
        """A second name of a file, made by a hard link."""
        try:
            found = os.stat(whole)  # noqa: PTH116 - at each path of a tool call
        except (OSError, ValueError):
            return ""
        if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
            return ""
        known = (*(os.path.join(self.home, one) for one in hook_settings()), *self._files())  # noqa: PTH118
        return "a file that protects your user" if any(_is_same_file(found, one) for one in known) else ""

    def _files(self) -> Iterator[str]:
        """What lies directly in our folders."""
        for folder in self.own:
            with contextlib.suppress(OSError):
                yield from (entry.path for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))

    def contains_protected(self, path: str, cwd: str) -> bool:
        """Whether something of ours lies below this folder, so that to remove it is to remove ours."""
        whole = self.absolute(path, cwd).rstrip("/") + "/"
        return any(place.startswith(whole) for place in self.own) or any(self._glob_matches(whole))

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
