"""Regular expressions that are compiled when they are first used: an event uses few of those that it imports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING


class LazyPattern:
    """Compiles itself at its first use. Then the methods that are called often are those of the pattern itself."""

    __slots__ = ("_flags", "_text", "finditer", "fullmatch", "match", "search", "sub")

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        """What is not there yet."""
        if name == "pattern":
            return self._text
        compiled = re.compile(self._text, self._flags)
        for each in ("finditer", "fullmatch", "match", "search", "sub"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"lazy_pattern({self._text!r})"


if TYPE_CHECKING:
    lazy_pattern = re.compile
else:
    lazy_pattern = LazyPattern
