"""On Linux nothing that a hook starts gets away: orphans come to the tray, end with their hook, and are let go."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no subreaper elsewhere")

ESCAPE = "setsid /bin/sh -c 'echo $$ >>pids; exec /bin/sleep 97'"
WAYS = {
    "double fork": f"({ESCAPE} &)",
    "setsid": f"{ESCAPE} &",
    "no mark": f"env -i /usr/bin/{ESCAPE} &",
    "no mark, forked twice": f"(env -i /usr/bin/{ESCAPE.replace('setsid', 'setsid -f')})",
}
# Who escapes adds a line, and the hook goes on when it stands there.
HOOK = ">>pids; had=$(wc -l <pids)\n{}\nuntil [ $(wc -l <pids) -gt $had ]; do sleep 0.01; done\n"
PROGRAM = '''
import json, os, signal, subprocess, sys, threading, time
from tray.execution.background import BackgroundProcesses, become_subreaper, orphans
from tray.execution.command import Job, run

subreaper = become_subreaper()
lines, limit, seconds = json.loads(sys.argv[1])
ours = subprocess.Popen(["/bin/sleep", "97"], start_new_session=True)  # a browser, say
background = BackgroundProcesses()
results = []

def hooks():
    for line in lines:
        job = Job(argv=("/bin/sh", "-c", line), cwd=os.getcwd(), timeout=limit, background=seconds,
                  environment={"PATH": os.environ["PATH"]})
        result, = run([job], time.monotonic() + 60, None, background=background)
        results.append([result.code, result.cause])

def lives(pid):
    """Who was killed may need a moment of the processor to be dead."""
    try:
        fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status").read().splitlines())
    except OSError:
        return False
    killed = any(int(fields.get(word, "0"), 16) & 1 << signal.SIGKILL - 1 for word in ("SigPnd", "ShdPnd"))
    return not killed and fields["State"].split()[0] not in "ZX"

def started():
    return open("pids").read().split() if os.path.exists("pids") else []

def living():
    return [pid for pid in started() if lives(pid)]

thread = threading.Thread(target=hooks)
thread.start()
thread.join()
after = living()
listed = len(background.alive())
time.sleep(1.1)
background.reap()
background.close()
time.sleep(0.1)
print(json.dumps({"subreaper": subreaper, "results": results, "after": len(after), "listed": listed,
                  "end": len(living()), "ours": ours.poll(), "started": len(started())}))
ours.kill(); ours.wait()
end = time.monotonic() + 20
while orphans() and time.monotonic() < end:
    background.reap()
    time.sleep(0.05)
print(json.dumps(len(orphans())))
'''


def through(folder: Path, *lines: str, limit: float = 20.0, background: float = 600.0) -> tuple[dict[str, Any], int]:
    argv = [sys.executable, "-c", PROGRAM, json.dumps([lines, limit, background])]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
    first, last = done.stdout.splitlines()
    return json.loads(first), json.loads(last)


def test_processes_that_escape_from_a_hook_are_ended_with_it(tmp_path: Path) -> None:
    lines = [f"{HOOK.format(way)}sleep 97" for way in WAYS.values()]
    for limit in (1.5, 6.0, 24.0):
        found, left = through(tmp_path, *lines, limit=limit)
        if found["started"] == len(WAYS):  # otherwise the time was over before every process could escape
            break
        (tmp_path / "pids").unlink(missing_ok=True)

    assert found["subreaper"]
    assert found["started"] == len(WAYS)
    assert all("timed out" in cause for _, cause in found["results"])
    assert found["after"] == found["end"] == 0
    assert found["ours"] is None, "what the tray opened for the person was ended"
    assert left == 0, "a dead orphan was never let go"


@pytest.mark.parametrize(("background", "living"), [(600, len(WAYS)), (0, 0)])
def test_processes_that_a_clean_hook_leaves_are_listed_and_ended(
    tmp_path: Path, background: float, living: int
) -> None:
    found, left = through(tmp_path, *map(HOOK.format, WAYS.values()), background=background)

    assert found["results"] == [[0, ""]] * len(WAYS)
    assert (found["started"], found["after"], found["listed"], found["end"]) == (len(WAYS), living, living, 0)
    assert left == 0
