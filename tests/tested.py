"""The commit that is tested, for kept results: `python tests/tested.py` prints it before a run begins."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = (":!.ci/results", ":!docs/generated")


def commit() -> str:
    """HEAD's short hash, with `-dirty` if other files than results differ; "unknown" outside of a repository."""
    head, changed = _git("rev-parse", "--short=8", "HEAD"), _git("status", "--porcelain", "--", ".", *RESULTS)
    return head + ("-dirty" if changed else "") if head else "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    print(commit())
