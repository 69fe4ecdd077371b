"""The supervisor that others have: one hook after another, each with the time that the agent has for all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(folder: Path, patience: float) -> None:
    said = []
    for script in sorted(folder.glob("*.sh")):
        try:
            done = subprocess.run(["/bin/sh", script], stdout=subprocess.DEVNULL, check=False, timeout=patience)
            said.append(done.returncode)
        except subprocess.TimeoutExpired:
            said.append(-1)
    print(f'{{"decision": "allow", "codes": {said}}}')


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
