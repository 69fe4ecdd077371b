#!/usr/bin/env python3
"""Asks a slow hook once for the same question, and gives its answer again from then on.

    cached.py SECONDS COMMAND [ARGUMENT …]

Answers in: whatever dialect COMMAND speaks; declare that one. Needs Python 3.10.
The same question is the same command about the same payload; session, call and prompt ids do not count. Only what
ended with exit 0 is kept. So keep it to hooks that judge by the input alone: one that looks at files, the clock or
the network would give an old answer. COMMAND's own output and exit code are passed on, also when it fails. Without a
place to keep answers it asks each time. Whoever may write to ~/.cache can put an answer there: it saves time for
checks, and is no place for a guard that has to hold.

Declare (the words of the line that are files are approved with it):
    - {event: tool_before, tool: Write, name: lint, command: ./cached.py 300 ./lint_before_write.mjs, dialect: x-code}
Try:
    hooktray test PreToolUse --agent x-code --hook lint --expect abstain
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What makes no other question of the same one: who asks, and when.
ASIDE = {"agent_id", "callId", "prompt_id", "session_id", "tool_use_id", "transcript_path"}


def main() -> int:
    seconds, command, payload = float(sys.argv[1]), sys.argv[2:], sys.stdin.buffer.read()
    kept = _place() / _question(command, payload)
    try:
        if time.time() - kept.stat().st_mtime < seconds:
            sys.stdout.buffer.write(kept.read_bytes())
            return 0
    except OSError:
        pass  # nobody has asked yet
    done = subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(done.stdout)
    if done.returncode == 0:
        _keep(kept, done.stdout)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _question(command: list[str], payload: bytes) -> str:
    """A name for all that the answer may depend on; X-Code's call has its words one floor deeper."""
    event = _without(json.loads(payload))
    if isinstance(event, dict) and "tool" in event:
        event["tool"] = _without(event["tool"])
    asked = [command, os.environ.get("HOOKTRAY_TEST"), event]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _without(value: object) -> object:
    return {key: each for key, each in value.items() if key not in ASIDE} if isinstance(value, dict) else value


def _keep(path: Path, answer: bytes) -> None:
    """Whole or not at all: another call may be reading."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(answer)
        Path(file.name).replace(path)
    except OSError as error:
        print(f"cached: {error}", file=sys.stderr)


def _place() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hooktray-examples" / "answers"


if __name__ == "__main__":
    sys.exit(main())
