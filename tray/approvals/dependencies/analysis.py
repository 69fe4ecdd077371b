"""What the analysis of one script returns, for every language: the files it loads or names, and what is missing."""

from __future__ import annotations

import enum
import os

from tray.lazy_dataclass import dataclass

MAX_LITERAL = 255  # characters of a text that can name a file


class InclusionKind(enum.Enum):
    """Why a file belongs to a hook."""

    RUN = enum.auto()  # the hook's line runs it
    IMPORTED = enum.auto()
    NAMED = enum.auto()
    FOLDER = enum.auto()  # a script lists the folder that it is in
    HOOKS = enum.auto()  # it is in the same folder of hooks
    PACKAGE = enum.auto()  # it is part of a package of node_modules
    LISTED = enum.auto()  # `files:` names it, or the plugin contains it


class ScriptProblemKind(enum.Enum):
    """What is missing or wrong."""

    MODULE = enum.auto()  # a module of the user's own
    USER_PACKAGE = enum.auto()  # it is among the user's own Python packages, which hooks do not load
    PACKAGE = enum.auto()  # a package that is not installed
    LARGE = enum.auto()  # a package that is too large to be copied
    FILE = enum.auto()  # a file that the script loads
    INTERPRETER = enum.auto()  # what its first line names
    MODE = enum.auto()  # it is not executable
    SYNTAX = enum.auto()  # the interpreter cannot read it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One file, or with `FOLDER` one folder, that a script loads or names."""

    path: str
    kind: InclusionKind
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptProblem:
    """One thing that is missing or wrong. `certain`: the script cannot work without it."""

    kind: ScriptProblemKind
    name: str
    script: str
    line: int = 0
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One script to read. `folders` are where its language looks for modules, the main script's folder first."""

    path: str
    text: str
    folders: tuple[str, ...]
    root: str  # nothing above this folder belongs to the hook
    program: str = ""  # the interpreter that runs it, where that is known

    @staticmethod
    def exists(path: str) -> bool:
        return os.path.isfile(path)  # noqa: PTH113 - of texts, which need not be paths

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)  # noqa: PTH120 - of texts, which need not be paths


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAnalysis:
    """What one script contains. `uses_own_path`: it uses the path of its own file."""

    references: tuple[Reference, ...] = ()
    problems: tuple[ScriptProblem, ...] = ()
    written_files: frozenset[str] = frozenset()  # files that it writes
    uncopied: tuple[str, ...] = ()  # code that it loads from a fixed place, so that no copy is used
    folders: tuple[str, ...] = ()  # where it lets its language look for modules, too
    uses_own_path: bool = False


def join_path(folder: str, name: str) -> str:
    """The absolute path of a name as seen from a folder."""
    return os.path.normpath(os.path.join(folder, name))  # noqa: PTH118


def may_name_file(text: str) -> bool:
    """Whether a literal text may name a file: it has a dot or a slash, and only characters of file names."""
    return len(text) <= MAX_LITERAL and ("." in text or "/" in text) and not any(sign in text for sign in "\0\n")
