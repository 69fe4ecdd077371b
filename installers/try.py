"""Tries an installed Hooktray on a real desktop without a monitor: `python installers/try.py COMMAND …`.

It says which icon there is and what its menu shows, sends an event, and ends. Needs what tests/all installs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from desk import Desk

OFF = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "hooktray off"}}


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="ht-") as folder, Desk(Path(folder, "desk"), sound=False) as desk:
        hooktray = [*command, "--home", str(Path(folder, "h"))]
        tray = desk.start([*hooktray, "run"])
        item = desk.wait_item(tray.pid)
        print("icon and menu:", ", ".join(row.label for row in desk.menu_labels(item) if row.label))
        asked = [*command, "relay", "--home", str(Path(folder, "h")), "claude-code", "PreToolUse"]
        answer = desk.run(asked, input=json.dumps(OFF).encode(), timeout=60)
        print("an event:", answer.stdout.decode().strip() or answer.stderr.decode())
        tray.terminate()
        print("ended with", tray.wait(30))
        return 0 if b'"deny"' in answer.stdout else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
    except subprocess.SubprocessError as error:
        sys.exit(str(error))
