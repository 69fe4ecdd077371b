"""What the ledger holds of the programs of approved hooks: the PATH of each hook, and which program a name meant.

Both are rows like those of confirmed settings. A row about a program counts for all hooks that use it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from tray.lazy_dataclass import dataclass, field

PROGRAM = "setting:program "  # followed by the path that the program had when it was first approved
PROGRAMS_OF = "setting:programs of "  # followed by the digest of the hook's approved copy
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One approved program: where it is, and what identifies it ("" = only its place does).

    While `stamp` is the file's, its bytes need not be read.
    """

    path: str
    identity: str = ""
    stamp: Stamp | None = None

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.path, self.identity]).encode()).hexdigest()

    @property
    def definition(self) -> str:
        return json.dumps({"path": self.path, "identity": self.identity, "stamp": self.stamp}, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """How one hook finds its programs. With `is_open` the agent's PATH is searched behind `path`, as the last."""

    path: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)  # name -> path when the hook was approved
    approved: Mapping[str, Program] = field(default_factory=dict)  # by that path
    is_open: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.definition.encode()).hexdigest()

    @property
    def definition(self) -> str:
        fields = {"path": self.path, "programs": dict(self.programs), "open": self.is_open}
        return json.dumps(fields, sort_keys=True, ensure_ascii=False)


def pins_of(digest: str, texts: Mapping[str, str]) -> Pins | None:
    """The pins of an approved copy out of the texts of the ledger's rows; None when it has none."""
    text = texts.get(f"{PROGRAMS_OF}{digest}", "")
    try:
        fields = json.loads(text) if text else None
        if fields is None:
            return None
        programs = {str(name): str(path) for name, path in fields["programs"].items()}
        approved = {path: _program(texts.get(f"{PROGRAM}{path}", "")) for path in programs.values()}
        return Pins(
            path=str(fields["path"]),
            programs=programs,
            approved={path: program for path, program in approved.items() if program},
            is_open=bool(fields["open"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _program(text: str) -> Program | None:
    if not text:
        return None
    fields = json.loads(text)
    stamp = fields["stamp"]
    return Program(path=str(fields["path"]), identity=str(fields["identity"]), stamp=tuple(stamp) if stamp else None)
