"""Scripts on a sealed descriptor: what they see, which of them stay on their copy, and that nobody alters them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import House

from tray.approvals.command_resolver import CommandLine, CommandResolver
from tray.approvals.program_pins import opened
from tray.execution.command import Job, run
from tray.execution.sealed_script import SealedScript, seal, unlinked_file
from tray.model.decision import Result
from tray.store.pins import Pins

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sealed memory is Linux's")

# What each writes: its first argument, its standard input, and an error that names it.
SCRIPTS = {
    "bash": 'echo "$1 $(cat)"; nosuchprogram',
    "node": "const fs = require('fs')\nconsole.log(process.argv[2], fs.readFileSync(0, 'utf8'))\nnosuchname",
    "perl": "print $ARGV[0], ' ', <STDIN>, \"\\n\"; die 'nosuchname'",
    "python3": "import sys\nprint(sys.argv[1], sys.stdin.read())\nnosuchname",
    "ruby": "puts ARGV[0] + ' ' + STDIN.read\nnosuchname",
    "sh": 'echo "$1 $(cat)"; nosuchprogram',
    "zsh": 'echo "$1 $(cat)"; nosuchprogram',
}
LOCATED = {
    "bash": "echo ${BASH_SOURCE[0]}",
    "node": "console.log(__filename)",
    "perl": "print $0",
    "python3": "print(__file__)",
    "ruby": "puts __FILE__",
    "sh": 'echo "$0"',
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def declare(house: House, text: str, command: str = "./guard") -> Path:
    path = house.paths.config.parent / "guard"
    path.write_text(text)
    path.chmod(0o755)
    house.hook("guard", on="tool_before", command=command)
    return path


def start(house: House, resolver: CommandResolver | None = None) -> tuple[Result, SealedScript | None]:
    (approved,) = house.stores.ledger.in_order()
    line = (resolver or CommandResolver(house.stores.copies)).command_line(approved.hook, approved.digest)
    job = Job(argv=line.argv, script=line.script, cwd="/", environment={"PATH": os.environ["PATH"]}, stdin=b"said")
    return run([job], time.monotonic() + 60, None)[0], line.script


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_single_file_is_read_from_a_descriptor_and_its_errors_name_it(house: House, name: str) -> None:
    path = declare(house, f"#!{program(name)}\n{SCRIPTS[name]}\n", "./guard first")

    result, script = start(house)

    assert script is not None
    assert result.stdout.strip() == b"first said"
    assert str(path) in result.stderr.decode()
    assert script.path not in result.stderr.decode()


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_interpreter_in_the_line_reads_the_same_descriptor(house: House, name: str) -> None:
    program(name)
    declare(house, f"{SCRIPTS[name]}\n", f"{name} ./guard first")

    result, script = start(house)

    assert script is not None
    assert result.stdout.strip() == b"first said"


@pytest.mark.parametrize("name", LOCATED)
def test_a_script_that_uses_its_own_place_runs_from_its_copy(house: House, name: str) -> None:
    declare(house, f"#!{program(name)}\n{LOCATED[name]}\n")

    result, script = start(house)

    assert script is None
    assert result.stdout.decode().strip().startswith(str(house.stores.copies.folder))


@pytest.mark.parametrize(
    "text",
    [
        "#!/usr/bin/env node\nimport fs from 'fs'\n",
        "#!/usr/bin/env node\nrequire('left-pad')\n",
        "#!/usr/bin/env node\nconst name = 'fs'; require(name)\n",
        "#!/usr/bin/env python3\nimport argparse\nargparse.ArgumentParser().parse_args()\n",
        "#!/usr/bin/env python3\nfrom multiprocessing import Pool\n",
        "#!/usr/bin/env deno\nconsole.log(1)\n",
        "#!/bin/sh\ncat /proc/self/cmdline\n",
    ],
)
def test_what_cannot_be_read_with_certainty_runs_from_its_copy(house: House, text: str) -> None:
    declare(house, text)
    (approved,) = house.stores.ledger.in_order()

    line = CommandResolver(house.stores.copies).command_line(approved.hook, approved.digest)

    assert line.script is None
    assert any(str(house.stores.copies.folder) in word for word in line.argv)


def test_a_hook_of_two_files_runs_from_its_copy(house: House) -> None:
    (house.paths.config.parent / "words.py").write_text("WORD = 'two'\n")
    declare(house, f"#!{sys.executable}\nfrom words import WORD\nprint(WORD)\n")

    result, script = start(house)

    assert script is None
    assert result.stdout == b"two\n"


def test_in_a_line_for_a_shell_the_script_is_read_from_its_descriptor(house: House) -> None:
    path = house.script("guard", 'echo "$1 $(cat)"')
    settings = house.root / "settings.json"
    entry = {"type": "command", "command": f'A=b "{path}" first | tr f F'}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}))
    house.configure({"sources": [{"claude-code": str(settings)}]})
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")

    result, script = start(house)

    assert script is not None
    assert result.stdout == b"First said\n"


@pytest.mark.parametrize("command", ["timeout 9 ./guard", "sh -c 'cat ./guard' ./guard", "cat ./guard ./guard"])
def test_behind_another_program_it_runs_from_its_copy(house: House, command: str) -> None:
    declare(house, "#!/bin/sh\necho hello\n", command)

    _, script = start(house)

    assert script is None


def test_no_process_can_write_to_the_descriptor(house: House) -> None:
    sealed = seal(b"echo good\n", "/hooks/guard.sh")
    assert sealed is not None

    for path in (sealed.path, f"/proc/{os.getpid()}/fd/{sealed.descriptor}"):
        handle = os.open(path, os.O_RDWR)
        try:
            with pytest.raises(PermissionError):
                os.write(handle, b"echo evil\n")
            with pytest.raises(PermissionError):
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)


def test_a_descriptor_runs_what_was_approved_although_the_copy_was_altered_since(house: House) -> None:
    declare(house, "#!/bin/sh\necho good\n")
    resolver = CommandResolver(house.stores.copies)
    assert start(house, resolver)[0].stdout == b"good\n"
    (approved,) = house.stores.ledger.in_order()
    (copy,) = house.stores.copies.paths(approved.digest).values()
    Path(copy).chmod(0o700)
    Path(copy).write_text("#!/bin/sh\necho evil\n")

    result, _ = start(house, resolver)

    assert result.stdout == b"good\n"


def test_a_line_is_made_once_and_its_path_has_the_agents_folders_for_an_early_approval_only(house: House) -> None:
    declare(house, "#!/bin/sh\n")
    resolver = CommandResolver(house.stores.copies)
    (approved,) = house.stores.ledger.in_order()
    pins = Pins(path="/usr/bin", programs={}, approved={})
    early = opened(pins)

    def line(pins: Pins, agent_path: str) -> CommandLine:
        return resolver.command_line(approved.hook, approved.digest, pins=pins, agent_path=agent_path)

    assert line(pins, "/one").search_path == "/usr/bin"
    assert line(pins, "/two") is line(pins, "/one")
    assert line(early, "/one").search_path == "/usr/bin:/one"
    assert line(early, "/two").search_path == "/usr/bin:/two"
    assert line(early, "/two") is line(early, "/two")


def test_a_descriptor_is_closed_with_its_last_user() -> None:
    sealed = seal(b"echo\n", "/hooks/guard.sh")
    assert sealed is not None
    descriptor = sealed.descriptor

    del sealed

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_where_no_memory_can_be_sealed_a_file_without_a_name_is_read() -> None:
    sealed = unlinked_file(b"echo good $1\nnosuchprogram\n", "/hooks/guard.sh")
    assert sealed is not None
    assert not sealed.is_shared

    job = Job(argv=("/bin/sh", sealed.path, "word"), script=sealed, cwd="/", environment={"PATH": "/usr/bin:/bin"})
    (result,) = run([job], time.monotonic() + 60, None)

    assert result.stdout == b"good word\n"
    assert b"/hooks/guard.sh" in result.stderr
