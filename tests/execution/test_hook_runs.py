"""A descendant that left its session and lost its parents is below the hook whose tree it is, at every moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no subreaper elsewhere")

LIMIT = 120  # seconds; longer than anything here takes
PRELUDE = """
import json, os, subprocess, sys, time
from pathlib import Path
from tray.execution.background import BackgroundProcesses, become_subreaper
from tray.execution.command import Job, run
from tray.execution.hook_runs import Descent, HookPlace, HookRuns
from tray.execution.process import HookTurn
from tray.execution.process_posix import PosixTree

become_subreaper()
folder = Path(sys.argv[1])

def left():
    until = time.monotonic() + 60
    while not (folder / "left").exists() and time.monotonic() < until:
        time.sleep(0.001)
    return int((folder / "left").read_text())

class Turn(HookTurn):
    def __init__(self, runs, place):
        self.runs, self.place = runs, place
    def started(self, pid):
        self.runs.add("hook", self.place, pid)
    def exited(self, pid, *, has_left):
        self.runs.end(pid, has_left)

def hook(line, runs, background, place=HookPlace()):
    job = Job(argv=("/bin/sh", "-c", line), cwd=str(folder), environment={"PATH": os.environ["PATH"]},
              turn=Turn(runs, place))
    return run([job], time.monotonic() + 60, None, background=background)
"""
# It leaves its session, its parents and its mark behind, and lives on.
DETACHED = "(setsid env -i /bin/sh -c 'setsid /bin/sh -c \"echo \\$\\$ >new; mv new left; exec sleep 97\" &' &)"
UNTIL_LEFT = f"{DETACHED}; until [ -e left ]; do sleep 0.01; done"


def program(folder: Path, text: str) -> Any:
    argv = [sys.executable, "-c", PRELUDE + text, str(folder)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_is_known_between_the_end_of_the_hook_and_the_registration_of_its_tree(tmp_path: Path) -> None:
    found = program(
        tmp_path,
        f"""
class Slow(BackgroundProcesses):
    def add(self, tree, deadline):
        before.append(runs.find(Descent((left(),), is_below_one_shot=False), self))
        super().add(tree, deadline)

before, runs, background = [], HookRuns(folder, publish=False), Slow()
hook({UNTIL_LEFT!r}, runs, background)
before.append(runs.find(Descent((left(),), is_below_one_shot=False), background))
background.close()
print(json.dumps([[sorted(place.above), place.depth] for place in before]))
""",
    )

    assert found == [[["hook"], 1], [["hook"], 1]]


def test_it_is_known_after_more_hooks_than_are_remembered(tmp_path: Path) -> None:
    found = program(
        tmp_path,
        f"""
from tray.execution import hook_runs
hook_runs.MAX_RUNS = 4
runs, background = HookRuns(folder, publish=False), BackgroundProcesses()
hook({UNTIL_LEFT!r}, runs, background)
for _ in range(8):
    hook("exit 0", runs, background)
place = runs.find(Descent((left(),), is_below_one_shot=False), background)
background.close()
print(json.dumps([sorted(place.above), place.depth]))
""",
    )

    assert found == [["hook"], 1]


def test_the_tree_of_another_hook_of_which_only_the_dead_are_left_does_not_count(tmp_path: Path) -> None:
    child = "(until [ -e go ]; do sleep 0.01; done) >/dev/null 2>&1 & echo $! >child"

    found = program(
        tmp_path,
        f"""
from tray.execution.process_table import read_entry
runs, background = HookRuns(folder, publish=False), BackgroundProcesses()
hook({child!r}, runs, background, HookPlace(frozenset(["one"])))
(folder / "go").touch()
until = time.monotonic() + 60
while not read_entry(int((folder / "child").read_text())).is_dead and time.monotonic() < until:
    time.sleep(0.001)
hook({UNTIL_LEFT.replace("env -i ", "")!r}, runs, background, HookPlace(frozenset(["other"])))
place = runs.find(Descent((left(),), is_below_one_shot=False), background)
background.close()
print(json.dumps(sorted(place.above)))
""",
    )

    assert found == ["hook", "other"]


def test_a_tree_whose_processes_each_start_the_next_and_end_always_has_survivors(tmp_path: Path) -> None:
    (tmp_path / "next").write_text(
        "[ -e stop ] && { >stopped; exit; }\n[ -e left ] || { echo $$ >new; mv new left; }\nsetsid /bin/sh next &\n"
    )

    missed = program(
        tmp_path,
        """
mark = "0123456789abcdef"
environment = {"HOOKTRAY_RUN": mark, "PATH": os.environ["PATH"]}
first = subprocess.Popen(["/bin/sh", "next"], start_new_session=True, env=environment)
tree = PosixTree(first.pid, mark)
first.wait()
left()
looks = []
while len(looks) < 3000:
    looks.append(tree.has_survivors())
    while os.waitpid(-1, os.WNOHANG)[0]:
        pass
(folder / "stop").touch()
while not (folder / "stopped").exists():
    time.sleep(0.01)
print(json.dumps(looks.count(False)))
""",
    )

    assert missed == 0
