"""What the kept results of a long run say of the code that was tested."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def commit() -> str:
    """This checkout's; `…-dirty` when files differ from it, kept results aside."""
    words = ("git", "-C", str(ROOT))
    done = subprocess.run([*words, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)
    changed = subprocess.run(
        [*words, "diff", "--quiet", "HEAD", "--", ".", ":!.ci/results", ":!docs/generated"], check=False
    )
    return done.stdout.strip() + ("-dirty" if changed.returncode else "")
