"""Starts the frozen Hooktray, also by the words with which Hooktray starts itself through an interpreter.

An interpreter is told `-I -m tray once …` or `-I -S …/relay.py …`; a frozen program is its own interpreter.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

LIBRARIES = "LD_LIBRARY_PATH"  # the bundle's own, which programs that we start must not get


def command(argv: Sequence[str]) -> list[str]:
    """The command's words without the interpreter's."""
    words = list(argv)
    while words[:1] in (["-I"], ["-S"]):
        words.pop(0)
    if words[:2] == ["-m", "tray"]:
        return words[2:]
    if words and Path(words[0]).name == "relay.py":
        return ["relay", *words[1:]]
    return list(argv)


def give_back(environment: dict[str, str]) -> dict[str, str]:
    """The environment as it was before the bundle's start program came."""
    before = environment.get(f"{LIBRARIES}_ORIG")
    kept = {name: value for name, value in environment.items() if name not in (LIBRARIES, f"{LIBRARIES}_ORIG")}
    return kept if before is None else {**kept, LIBRARIES: before}


def main() -> int:
    from tray.__main__ import main as hooktray

    restored = give_back(dict(os.environ))
    for name in {LIBRARIES, f"{LIBRARIES}_ORIG"} & set(os.environ):
        del os.environ[name]
    os.environ.update(restored)
    sys.argv[1:] = command(sys.argv[1:])
    return hooktray()


if __name__ == "__main__":
    sys.exit(main())
