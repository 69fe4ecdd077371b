"""Counts words that make a text hard to read, in tray/, docs/, the READMEs: `tests/words.py [--list [FILE...]]`.

More than MOST of them fail `tests/check`; lower MOST when there are fewer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST = 238
HABITS = {
    "is no NOUN": r"\bis no [a-z]",
    "stand": r"\bstands?\b",
    "tell": r"\b(?:told|tells)\b",
    "say": r"\b(?:said|says)\b",
    "shall": r"\bshall\b",
    "alone, for only": r"\balone\b",
    "who as a subject": r"(?:^|[.:;,]\s|\()[Ww]ho(?:ever)? \w+s\b",
    "nobody, somebody": r"\b(?:[Nn]obody|[Ss]omebody)\b",
    "heard": r"\bheard\b",
    "hand, face, door, … as names": r"\b(?:hand|face|door|ears|herald|knock|care)\b",
}


def files() -> list[Path]:
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("installers/**/*.md")]
    return sorted([*ROOT.glob("tray/**/*.py"), *pages])


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Each such word of a file: its line's number, the habit and the line."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for habit, pattern in HABITS.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            number = (
                text.count("\n", 0, match.start() + 1) if match[0][0] == "\n" else text.count("\n", 0, match.start())
            )
            yield number + 1, habit, lines[number].strip()


def main(arguments: list[str]) -> int:
    counts = dict.fromkeys(HABITS, 0)
    wanted = {Path(name).resolve() for name in arguments if not name.startswith("-")}
    for path in files():
        for number, habit, line in sorted(found(path)):
            counts[habit] += 1
            if "--list" in arguments and (not wanted or path in wanted):
                print(f"{path.relative_to(ROOT)}:{number}: {habit}: {line}")
    total = sum(counts.values())
    print(", ".join(f"{habit}: {count}" for habit, count in counts.items()))
    print(f"{total} words to avoid (`tests/words.py --list` shows them), at most {MOST}")
    return int(total > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
