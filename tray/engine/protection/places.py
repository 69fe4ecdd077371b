"""Which files are protected from agents: ours, and those in which agents' own hooks are declared."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath

from tray.paths import real

NAME = 255  # characters of a name
LONGEST = 4096  # characters of a path; no system takes a longer one
# Matched against a whole path in lower case with forward slashes; what stands first is what people are told.
HOOK_FILES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a hook setting of Claude Code", re.compile(r".*/\.claude(?:/settings(?:\.local)?\.json|/hooks(?:/.*)?)?")),
    ("a plugin's hooks", re.compile(r".*/\.claude/plugins(?:/.*)?/hooks(?:/.*|\.json)")),
    ("a hook setting of Claude Code", re.compile(r".*/managed-settings(?:\.d/.*|\.json)")),
    ("a plugin of X-Code", re.compile(r".*/\.x-code/plugins(?:/.*)?/(?:hooks(?:/.*)?|hooks\.json|plugin\.json)")),
    ("a plugin of X-Code", re.compile(r".*/\.x-code(?:/plugins(?:\.json)?)?")),
    ("a hook setting of Starchild", re.compile(r".*/shell_hooks\.ya?ml|.*/config/agent\.ya?ml")),
    ("Shelley's hooks", re.compile(r".*/shelley/hooks(?:/.*)?")),
    (
        "Hooktray's start at login",
        re.compile(r".*/(?:autostart|systemd/user(?:/.*)?|launchagents)/[^/]*hooktray[^/]*"),
    ),
)


# Where they stand below a home or a project, for a shell's patterns and for other names of the same file.
KNOWN = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/guard",
    ".claude/plugins/hooks.json",
    ".x-code/plugins/hooks.json",
    ".x-code/plugins/plugin.json",
    "config/shell_hooks.yaml",
    ".config/shelley/hooks/end-of-turn",
    ".config/autostart/hooktray.desktop",
)
PATTERN = re.compile(r"[*?\[{]")
BRACES = re.compile(r"\{[^{}]*\}")


def hints(places: Places) -> tuple[str, ...]:
    """Further words without one of which a text names none of our places."""
    paths = [PurePath(place) for place in (*places.own, places.x_code) if place]
    above = [folder for path in paths for folder in path.parents if places.home in map(str, folder.parents)]
    names = {path.name.lower() for path in (*paths, *(path.parent for path in paths), *above) if path.name}
    return (*names, *((str(places.port),) if places.port else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`own` are our folders and files; `home` is the user's; `port` is the page's, 0 when there is none."""

    own: tuple[str, ...] = ()
    home: str = ""
    x_code: str = ""  # X_CODE_HOME
    port: int = 0

    def full(self, path: str) -> str:
        """With the user's home in place of `~`."""
        return self.home + path[1:] if path.startswith("~/") or path == "~" else path

    def absolute(self, path: str, cwd: str) -> str:
        return os.path.normpath(PurePath(cwd or "/") / self.full(path.removeprefix("file://")))

    def kind(self, path: str, cwd: str) -> str:
        """What this path is to us; "" when it is nothing of ours."""
        if not path or "\0" in path or len(path) > LONGEST:
            return ""
        whole = self.absolute(path, cwd)
        linked = real(whole)  # by whatever links it is reached
        return self._kind(whole) or (self._kind(linked) if linked != whole else "") or self._linked(linked)

    def _kind(self, whole: str) -> str:
        low = whole.lower().replace("\\", "/")  # where case does not matter, it is the same file
        if any(low == place or low.startswith(place.rstrip("/") + "/") for place in map(str.lower, self.own)):
            return "Hooktray's own"
        if any(above is False for above in self._patterned(whole)):
            return "Hooktray's own"
        if self.x_code and re.fullmatch(re.escape(self.x_code) + r"/plugins(/.*)?/(hooks|plugin)\.json", whole):
            return "a plugin of X-Code"
        found = next((kind for kind, pattern in HOOK_FILES if pattern.fullmatch(low)), "")
        return found or ("a hook setting of an agent" if _finds_known(whole) else "")

    def _linked(self, whole: str) -> str:
        """A second name of a file, made by a hard link."""
        try:
            found = os.stat(whole)  # noqa: PTH116 - at each path of a tool call
        except (OSError, ValueError):
            return ""
        if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
            return ""
        known = (*(os.path.join(self.home, one) for one in KNOWN), *self._files())  # noqa: PTH118
        return "a file that protects your user" if any(_same(found, one) for one in known) else ""

    def _files(self) -> Iterator[str]:
        """What lies directly in our folders."""
        for folder in self.own:
            with contextlib.suppress(OSError):
                yield from (entry.path for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))

    def holds(self, path: str, cwd: str) -> bool:
        """Whether something of ours lies below this folder, so that to remove it is to remove ours."""
        whole = self.absolute(path, cwd).rstrip("/") + "/"
        return any(place.startswith(whole) for place in self.own) or any(self._patterned(whole))

    def _patterned(self, whole: str) -> Iterator[bool]:
        """For each of our places that a shell's pattern would find: whether it finds a folder above it."""
        if not PATTERN.search(whole):
            return
        pattern = PurePath(BRACES.sub("*", whole)).parts
        for place in (PurePath(place).parts for place in self.own):
            if all(_found(one, part) for one, part in zip(pattern, place, strict=False)):
                yield len(pattern) < len(place)

    def page(self, text: str) -> bool:
        return (
            bool(self.port)
            and re.search(rf"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):{self.port}\b", text) is not None
        )


def _finds_known(whole: str) -> bool:
    """Whether a shell's pattern would find a hook setting of some home or project."""
    if not PATTERN.search(whole):
        return False
    pattern = PurePath(BRACES.sub("*", whole)).parts
    for parts in (PurePath(one).parts for one in KNOWN):
        tail = pattern[-len(parts) :]
        if len(tail) == len(parts) and all(map(_found, tail, parts)):
            return True
    return False


def _same(found: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(found, os.stat(path))  # noqa: PTH116
    except OSError:
        return False


def finds(pattern: str, name: str) -> bool:
    """Whether a shell's pattern finds this name; one that is longer than any name takes too long to be looked at."""
    return len(pattern) > NAME or fnmatchcase(name, pattern)


def _found(pattern: str, name: str) -> bool:
    """As the shell does: what begins with a dot is found by a dot alone."""
    return finds(pattern, name) and (not name.startswith(".") or pattern[:1] not in "*?[")
