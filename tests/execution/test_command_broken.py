"""A hook that cannot run is broken, and never says no (law 4): every way of missing something has its own cause."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from every import every

if sys.platform == "win32":
    pytest.skip("processes of POSIX, and scripts of its shell", allow_module_level=True)

from tray.execution import process_posix, process_windows
from tray.execution.process import Job
from tray.execution.script import script_of
from tray.model.decision import Result

Run = Callable[..., tuple[Result, ...]]
RUNS: dict[str, Run] = {"poll": process_posix.run, "threads": process_windows.run}


def write(path: Path, text: bytes, mode: int = 0o755) -> str:
    path.write_bytes(text)
    path.chmod(mode)
    return str(path)


def lines(folder: Path) -> dict[str, tuple[list[str], str]]:
    """Every broken line: what is run, and the cause that names what is wrong; {0} stands for the folder."""
    script = write(folder / "good.py", b"raise SystemExit(0)", 0o644)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    return {
        "no command": ([], "not found: the command is empty"),
        "empty command": ([""], "not found: the command is empty"),
        "no such file": ([f"{folder}/nope"], "not found: {0}/nope"),
        "no such relative file": (["./nope"], "not found: ./nope"),
        "no such program on the path": (["no-such-program-here"], "not found: no-such-program-here"),
        "below a file": ([f"{script}/x"], "not found: {0}/good.py/x"),
        "a dangling link": ([str(dangling(folder))], "not found: {0}/dangling"),
        "a link to itself": ([f"{folder}/loop"], "{0}/loop"),
        "not executable": ([script], "not executable: {0}/good.py"),
        "a folder": ([f"{folder}/folder"], "not executable: {0}/folder"),
        "no interpreter line": ([write(folder / "bare", b"echo hi\n")], "no interpreter line (#!) in {0}/bare"),
        "empty file": ([write(folder / "empty", b"")], "no interpreter line (#!) in {0}/empty"),
        "not for this machine": ([write(folder / "alien", b"MZ\0\0")], "not a program for this machine: {0}/alien"),
        "a broken program": ([write(folder / "elf", b"\x7fELF\0\0")], "not a program for this machine: {0}/elf"),
        "no such interpreter": (
            [write(folder / "lost", b"#!/no/such/interpreter -x\n")],
            "interpreter not found: '/no/such/interpreter', named by {0}/lost",
        ),
        "a carriage return": (
            [write(folder / "crlf", b"#!/bin/sh\r\nexit 0\r\n")],
            "interpreter not found: '/bin/sh\\r', named by {0}/crlf",
        ),
        "interpreter not executable": (
            [write(folder / "inert", b"#!%s\n" % os.fsencode(script))],
            "interpreter not executable: '{0}/good.py', named by {0}/inert",
        ),
        "script of python": ([sys.executable, f"{folder}/nope.py"], "script not found: {0}/nope.py"),
        "relative script of python": ([sys.executable, "nope.py"], "script not found: nope.py"),
        "script of python after options": ([sys.executable, "-I", "-W", "error", "a/b"], "script not found: a/b"),
        "script of sh": (["/bin/sh", f"{folder}/nope.sh"], "script not found: {0}/nope.sh"),
        "script of bash after options": (["bash", "-e", "-o", "pipefail", "./x.sh"], "script not found: ./x.sh"),
        "script through env": (["/usr/bin/env", "A=b", "python3", "nope.py"], "script not found: nope.py"),
        "script of node": (["node", "--no-warnings", "nope.mjs"], "script not found: nope.mjs"),
        "script of perl": (["perl", "-w", "nope.pl"], "script not found: nope.pl"),
        "NUL in an argument": (["/bin/echo", "a\0b"], "embedded null byte"),
        "too many arguments": (["/bin/echo", *["x" * 100_000] * 40], "too large"),
    }


def dangling(folder: Path) -> Path:
    path = folder / "dangling"
    path.symlink_to(folder / "nowhere")
    return path


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_broken_hook_is_told_with_its_cause_and_never_with_a_code(run: Run, tmp_path: Path) -> None:
    table = lines(tmp_path)
    environment = {"PATH": os.environ["PATH"]}
    jobs = [Job(argv=tuple(argv), cwd=str(tmp_path), environment=environment) for argv, _ in table.values()]

    results = run(jobs, time.monotonic() + 20, None)

    for name, (_, cause), result in zip(table, table.values(), results, strict=True):
        assert cause.format(tmp_path) in result.cause, name
        assert (result.code, result.timed_out, result.stdout) == (None, False, b""), name


def test_a_working_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    job = Job(argv=("/bin/sh", "-c", ":"), cwd=str(tmp_path / "gone"))

    result = process_posix.run([job], time.monotonic() + 9, None)[0]

    assert result.cause == f"working directory cannot be entered: {tmp_path}/gone"


def test_python_itself_would_have_said_2(tmp_path: Path) -> None:
    """The reason for looking first: without it a missing script would read as a refusal."""
    line = f"{sys.executable} {tmp_path}/nope.py"

    result = process_posix.run([Job(argv=("/bin/sh", "-c", line), cwd=str(tmp_path))], time.monotonic() + 9, None)[0]

    assert result.code == 2


SCRIPTS = {
    ("python3", "x.py", "y.py"): "x.py",
    ("/usr/bin/python3.11", "-u", "/a/x"): "/a/x",
    ("python.exe", "C:\\x.py"): "C:\\x.py",
    ("python3", "-c", "open('x.py')"): "",
    ("python3", "-m", "x.py"): "",
    ("python3", "-Im", "x.py"): "",
    ("python3", "-Wonce", "x.py"): "x.py",
    ("python3", "-X", "dev.mode", "x.py"): "x.py",
    ("python3", "-", "x.py"): "",
    ("python3", "--", "x.py"): "x.py",
    ("python3", "--"): "",
    ("python3",): "",
    ("python3", "word"): "",
    ("sh", "-c", "./x.sh"): "",
    ("bash", "-lc", "./x.sh"): "",
    ("bash", "-euo", "pipefail", "./x.sh"): "./x.sh",
    ("bash", "+o", "history", "./x.sh"): "./x.sh",
    ("bash", "--rcfile", "a.rc", "x.sh"): "x.sh",
    ("bash", "--norc", "x.sh"): "x.sh",
    ("bash", "-s", "x.sh"): "",
    ("node", "-e", "x.js"): "",
    ("node", "-pe", "x.js"): "",
    ("node", "--eval=x", "x.js"): "",
    ("node", "-r", "./hook.js", "x.js"): "x.js",
    ("node", "--import", "tsx", "x.ts"): "x.ts",
    ("node", "--import=tsx", "x.ts"): "x.ts",
    ("perl", "-I", "lib/x", "x.pl"): "x.pl",
    ("perl", "-Ilib/x", "-w", "x.pl"): "x.pl",
    ("perl", "-ne", "print", "x.txt"): "",
    ("perl", "-MFoo", "x.pl"): "x.pl",
    ("ruby", "-rjson", "x.rb"): "x.rb",
    ("env", "python3", "x.py"): "x.py",
    ("env", "A=1", "B=2", "sh", "x.sh"): "x.sh",
    ("env",): "",
    ("grep", "./x"): "",
    ("pythonic", "x.py"): "",
}


@every("argv", SCRIPTS, ids=" ".join)
def test_the_script_of_a_line_is_found_as_its_interpreter_would(argv: tuple[str, ...]) -> None:
    assert script_of(argv) == SCRIPTS[argv]
