"""Counts words that make a text hard to read, in tray/, docs/ and the READMEs: `tests/words.py [--list]`.

More than MOST of them fail `tests/check`; lower MOST when there are fewer.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACES = ("tray/**/*.py", "docs/**/*.md", "README.md", "installers/**/*.md")
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


def main() -> int:
    found = []
    for path in sorted(path for place in PLACES for path in ROOT.glob(place)):
        text = path.read_text(encoding="utf-8")
        for habit, pattern in HABITS.items():
            for match in re.finditer(pattern, text, re.MULTILINE):
                line = text.count("\n", 0, match.end()) + 1
                found.append(f"{path.relative_to(ROOT)}:{line}: {habit}: {text.splitlines()[line - 1].strip()}")
    if "--list" in sys.argv:
        print("\n".join(found))
    print(f"{len(found)} words to avoid (`tests/words.py --list` shows them), at most {MOST}")
    return int(len(found) > MOST)


if __name__ == "__main__":
    sys.exit(main())
