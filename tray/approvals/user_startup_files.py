"""Files of the user's own that a hook's programs read by themselves: named in Review, since nothing covers them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from tray.approvals.inspection import Inspection
from tray.approvals.program_pins import program_words
from tray.execution.environment import USER_PACKAGES
from tray.execution.script import VERSION
from tray.language import phrase
from tray.lazy_dataclass import dataclass
from tray.model.hook import Command
from tray.store.pins import Pins

READS = phrase("{program} reads it at each start, if it is there")
USER_SITE = phrase("{program} loads packages from there, because the hook's `env:` names PYTHONUSERBASE")
NO_USER_SITE = phrase("{program} does not load packages from there; `env: [PYTHONUSERBASE]` in the hook lets it")
PACKAGES = phrase("{program} loads packages from there, if the script names any that is not covered")
MODULE_TYPE = phrase(
    "{program} takes from it whether a script is a module; those that run from a descriptor do not ask"
)
SHIM = phrase("{program} is a shim of a version manager: `.python-version` and its like say which program it starts")

# What each program reads from the home folder, whatever it is asked to do.
HOME_FILES = {
    "bundle": (".bundle/config",),
    "cargo": (".cargo/config.toml",),
    "curl": (".curlrc", ".config/curlrc"),
    "docker": (".docker/config.json",),
    "fish": (".config/fish/config.fish",),
    "gdb": (".gdbinit",),
    "git": (".gitconfig", ".config/git/config"),
    "jq": (".jq",),
    "npm": (".npmrc",),
    "npx": (".npmrc",),
    "pip": (".config/pip/pip.conf", ".pip/pip.conf"),
    "pnpm": (".npmrc",),
    "psql": (".psqlrc",),
    "rscript": (".Rprofile",),
    "sqlite": (".sqliterc",),
    "ssh": (".ssh/config",),
    "wget": (".wgetrc",),
    "yarn": (".yarnrc", ".yarnrc.yml"),
    "zsh": (".zshenv",),
}
MANAGED = {"ruby": (".gem", ".local/share/gem")}  # where a language has packages of the user's own
SHIM_FOLDERS = ("/.pyenv/shims/", "/.rbenv/shims/", "/.asdf/shims/", "/.nodenv/shims/", "/.local/share/mise/shims/")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartUpFile:
    """One file or folder, the program that reads it, and why that matters."""

    path: str
    program: str
    reason: str


def start_up_files(inspection: Inspection, pins: Pins) -> tuple[StartUpFile, ...]:
    """Those of the programs that the line and its scripts use, whether or not they are there now."""
    found = dict.fromkeys(_files(inspection, pins))
    return tuple(sorted(found, key=lambda one: (one.program, one.path)))


def _files(inspection: Inspection, pins: Pins) -> Iterator[StartUpFile]:
    hook, home = inspection.bundle.hook, Path.home()
    if not isinstance(hook.action, Command):
        return
    own = {name for name in pins.programs if PurePath(name).is_absolute()}
    for word in (*program_words(inspection), *(PurePath(name).name for name in own)):
        name = VERSION.sub("", word).lower()
        if name == "zsh" and not _is_in_line(inspection, word):
            continue  # we start it with -f
        for file in HOME_FILES.get(name, ()):
            yield StartUpFile(path=str(home / file), program=word, reason=READS)
        for folder in MANAGED.get(name, ()):
            yield StartUpFile(path=str(home / folder), program=word, reason=PACKAGES)
        if name in ("python", "pypy"):
            reason = USER_SITE if USER_PACKAGES in hook.env else NO_USER_SITE
            yield StartUpFile(path=str(home / ".local/lib/python3*/site-packages"), program=word, reason=reason)
        if name in ("node", "nodejs", "npm", "npx", "bun", "deno"):
            yield from _above(inspection, word)
    for name, path in pins.programs.items():
        if any(folder in path for folder in SHIM_FOLDERS):
            yield StartUpFile(path=path, program=PurePath(name).name, reason=SHIM)


def _above(inspection: Inspection, program: str) -> Iterator[StartUpFile]:
    """`package.json` and `node_modules` in the folders above the copies, which are below the home folder."""
    covered = inspection.bundle.contents
    folders = {str(one) for path in covered for one in PurePath(path).parents} | {str(Path.home())}
    for folder in sorted(folders, key=len, reverse=True):
        for name, reason in (("package.json", MODULE_TYPE), ("node_modules", PACKAGES)):
            path = os.path.join(folder, name)  # noqa: PTH118
            if path not in covered and (os.path.exists(path) or folder == str(Path.home())):  # noqa: PTH110
                yield StartUpFile(path=path, program=program, reason=reason)


def _is_in_line(inspection: Inspection, word: str) -> bool:
    action = inspection.bundle.hook.action
    return isinstance(action, Command) and word in action.line.replace("/", " ").split()
