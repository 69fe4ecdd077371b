"""Output that cannot be written as it is: another encoding, a reader that has ended, a full disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from house import House

from tray.ipc.server import _failure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locales of POSIX")


@pytest.fixture
def named(house: House) -> House:
    """A hook whose name no ASCII has, and an event of it."""
    script = house.paths.config.parent / "größe.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    hook = {"name": "größe 😀", "event": "tool_before", "command": str(script)}
    house.configure(json.dumps({"hooks": [hook]}, ensure_ascii=False))
    return house


def run(house: House, *words: str, stdout: int = subprocess.PIPE, encoding: str = "") -> CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(house.root), "PYTHONIOENCODING": encoding}
    argv = [sys.executable, "-m", "tray", "--home", str(house.paths.home), *words]
    return subprocess.run(argv, env=environment, stdout=stdout, stderr=subprocess.PIPE, timeout=120, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252:strict"])
def test_no_command_fails_for_the_encoding_of_its_output(named: House, encoding: str) -> None:
    for words in (("status",), ("doctor", "--static")):
        done = run(named, *words, encoding=encoding)
        assert done.returncode in (0, 1), done.stderr
        assert b"Traceback" not in done.stderr

    listed = run(named, "list", "--json", encoding=encoding)
    assert listed.returncode == 0, listed.stderr
    row = json.loads(listed.stdout.decode(encoding.partition(":")[0]))
    assert row["name"] == "größe 😀"


def test_output_to_a_full_disk_is_an_error_with_its_cure(named: House) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run(named, "list", stdout=full.fileno())

    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "hooktray: the output: No space left on device", "  make room on this disk and try again"
    ]  # fmt: skip


def test_a_reader_that_ended_is_no_error(named: House) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run(named, "list", stdout=writing)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_request_that_fails_on_a_full_disk_is_answered_with_the_cure() -> None:
    answer, code = _failure(OSError(28, "No space left on device", "/home/you/copies/x"))

    assert code == 1
    assert answer == {
        "error": "/home/you/copies/x: No space left on device; nothing was approved or changed",
        "hint": "make room on this disk and try again",
    }
    assert _failure(ValueError())[1] == 3
