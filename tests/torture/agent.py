"""An agent: its relay sends an event, so that the tray knows it, and then it runs a command: `agent.py RELAY ARGV…`.

RELAY is its relay's command line, as a JSON list.
"""

from __future__ import annotations

import json
import subprocess
import sys

PAYLOAD = b'{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{}}'


def main(relay: str, argv: list[str]) -> int:
    subprocess.run(json.loads(relay), input=PAYLOAD, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return subprocess.run(argv, check=False, timeout=60).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2:]))
