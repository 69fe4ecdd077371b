"""The table beside the relay: the answer for an agent in the table when neither tray nor one-shot engine answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from every import every
from relays import Agent, Judge, copied, opened, run, said

from tray.agents import relay_table
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT

PAYLOAD = b"what was asked\n" * 20_000  # more than a pipe holds
LARGE = b"x" * (PAYLOAD_LIMIT + 1)
ECHO = b"neutral=pine\x1fprompt\x1fecho\n"
JSON = b'neutral=pine\x1fprompt\x1fbytes\x1f{"go":true}%0A\n'


@pytest.fixture
def agent(beside: Agent) -> Agent:
    return beside


def test_an_echo_gives_the_input_back(agent: Agent, table: Path) -> None:
    table.write_bytes(ECHO)

    assert said(agent.relay("pine", "prompt", payload=PAYLOAD)) == (PAYLOAD, b"", 0)
    assert said(agent.relay("pine", "stop", payload=PAYLOAD)) == (b"", b"", 0)
    assert said(agent.relay("fir", "prompt", payload=PAYLOAD)) == (b"", b"", 0)
    assert said(agent.relay("prompt", payload=PAYLOAD)) == (b"", b"", 0)


def test_bytes_of_the_table_are_the_answer(agent: Agent, table: Path) -> None:
    table.write_bytes(JSON)

    assert said(agent.relay("pine", "prompt", payload=PAYLOAD)) == (b'{"go":true}\n', b"", 0)
    assert said(agent.relay("pine", "stop", payload=PAYLOAD)) == (b"", b"", 0)


def test_a_row_can_hold_every_byte(agent: Agent, table: Path) -> None:
    every = bytes(range(256))
    row = relay_table.fields("pine", "prompt", (Answer(stdout=every), Answer(stdout=every)))
    table.write_text(f"neutral={relay_table.SEPARATOR.join(row)}\n")

    assert agent.relay("pine", "prompt").stdout == every


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "none": lambda table: None,
    "an empty file": Path.touch,
    "a link to nothing": lambda table: table.symlink_to("nowhere"),
    "a folder": Path.mkdir,
}


@every("case", UNREADABLE)
def test_a_table_that_cannot_be_read_means_silence(agent: Agent, table: Path, case: str) -> None:
    table.unlink(missing_ok=True)
    UNREADABLE[case](table)

    assert said(agent.relay("pine", "prompt", payload=PAYLOAD)) == (b"", b"", 0)


IGNORED = [
    b"\xef\xbb\xbfneutral=pine\x1fprompt\x1fecho",
    b"",
    b"\0\xff\xfe\0",
    b"# neutral=pine\x1fprompt\x1fecho",
    b"deny=pine\x1fprompt\x1fbytes\x1fno",
    b"neutral",
    b"neutral=",
    b"neutral=pine",
    b"neutral=pine\x1fprompt",
    b"neutral=pine\x1fprompt\x1f",
    b"neutral=pine\x1fprompt\x1fecho\x1f",
    b"neutral=pine\x1fprompt\x1fecho\x1fmore",
    b"neutral=pine\x1fprompt\x1fbytes",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa\x1fb",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%0",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%0g",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%  ",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%+1",
    b"neutral=pine\x1fprompt\x1fbytes\x1fa%\xc3\xa9",
    b"neutral=pine\x1fprompt\x1fscript\x1fa",
    b"neutral =pine\x1fprompt\x1fecho",
    b"neutral=pin\x1fprompt\x1fecho",
    b"neutral=pine\0\x1fprompt\x1fecho",
    b"neutral=\x1f\x1fecho",
]


def test_lines_that_are_not_understood_are_ignored(agent: Agent, table: Path) -> None:
    table.write_bytes(b"\n".join(IGNORED))
    assert said(agent.relay("pine", "prompt")) == (b"", b"", 0)

    table.write_bytes(b"\n".join([*IGNORED, JSON]))
    assert said(agent.relay("pine", "prompt")) == (b'{"go":true}\n', b"", 0)


@every("line", IGNORED)
def test_each_invalid_line_alone_is_ignored(native: list[str], table: Path, line: bytes) -> None:
    command = [*copied(native, table.parent), "--home", "/nonexistent", "pine", "prompt"]
    table.write_bytes(line)

    assert said(run(command)) == (b"", b"", 0)


@every("text", [ECHO + JSON, ECHO.replace(b"\n", b"\r\n"), ECHO.rstrip(), b"\n\n" + ECHO])
def test_the_first_row_counts_whatever_its_line_ends_with(agent: Agent, table: Path, text: bytes) -> None:
    table.write_bytes(text)

    assert said(agent.relay("pine", "prompt")) == (b"{}", b"", 0)


def test_a_table_may_be_long(agent: Agent, table: Path) -> None:
    table.write_bytes(b"neutral=fir\x1fprompt\x1fbytes\x1fno\n" * 50_000 + ECHO)

    assert said(agent.relay("pine", "prompt", payload=PAYLOAD)) == (PAYLOAD, b"", 0)


@every(
    "words",
    [
        ["pine", "prompt", "--verbose"],
        ["--help", "pine", "prompt"],
        ["prompt", "x", "pine"],
        ["--home", "~nobody-of-this-name", "pine", "prompt"],
        ["--home", "/nonexistent", "pine", "prompt"],
    ],
)
@every(("text", "answer"), [(ECHO, PAYLOAD), (JSON, b'{"go":true}\n')], ids=["echo", "bytes"])
def test_a_command_line_that_cannot_be_used_gets_the_answer_for_its_words(
    agent: Agent, table: Path, words: list[str], text: bytes, answer: bytes
) -> None:
    table.write_bytes(text)

    done = run([*agent.words, *words], PAYLOAD, env={"HOOKTRAY_HOME": str(agent.home)})

    assert said(done) == (answer, b"", 0)


def test_of_an_input_over_the_limit_only_an_echo_comes_from_the_relay(agent: Agent, table: Path) -> None:
    with opened(agent):
        table.write_bytes(ECHO)
        assert agent.relay("pine", "prompt", payload=LARGE).stdout == LARGE
        assert agent.relay("pine", "stop", payload=LARGE).stdout == b"out\0\xff"
        table.write_bytes(JSON)
        assert agent.relay("pine", "prompt", payload=LARGE).stdout == b"out\0\xff"
        table.unlink()
        assert said(agent.relay("pine", "prompt", payload=LARGE)) == (b"out\0\xff", b"err", 2)


def test_an_answer_of_the_tray_needs_no_table(agent: Agent, table: Path) -> None:
    table.write_bytes(ECHO)

    with opened(agent):
        assert said(agent.relay("pine", "prompt")) == (b"out\0\xff", b"err", 2)


def test_a_native_relay_has_the_table_of_this_version_beside_it(native: list[str]) -> None:
    beside = Path(native[0]).with_name(relay_table.FILE.name)

    assert beside.read_text() == relay_table.FILE.read_text(), "run: pip install -e ."


def test_a_native_relay_among_the_commands_finds_the_shared_table(tmp_path: Path, native: list[str]) -> None:
    (command,) = copied(native, tmp_path / "venv" / "bin")
    shared = tmp_path / "venv" / "share" / "hooktray" / relay_table.FILE.name
    shared.parent.mkdir(parents=True)
    shared.write_bytes(ECHO)
    link = tmp_path / "linked"
    link.symlink_to(command)

    for program in (command, str(link)):
        assert said(run([program, "--home", "/nonexistent", "pine", "prompt"])) == (b"{}", b"", 0)

    Path(command).with_name(relay_table.FILE.name).write_bytes(JSON)
    assert run([command, "--home", "/nonexistent", "pine", "prompt"]).stdout == b'{"go":true}\n'


PARTS = [
    b"neutral", b"=", b"\x1f", b"pine", b"prompt", b"echo", b"bytes", b"%", b"%41", b"%zz", b"% ", b"\n", b"\r",
    b"\0", b"#", b"fir", b'{"go":true}', b"\xff", b"", b" ", b"deny", b"\r\n",
]  # fmt: skip
ROWS = [ECHO, JSON, ECHO.rstrip() + b"\x1fmore\n", JSON.rstrip() + b"%4\n", b"deny=pine\x1fprompt\x1fno\n", b"x"]


def random_table(chance: random.Random) -> bytes:
    """Rows of every kind, with random insertions and deletions."""
    text = b"".join(chance.choices(ROWS, k=chance.randrange(4)))
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(PARTS) + text[at + chance.randrange(2) :]
    return text


def test_both_relays_read_any_table_alike(both: Judge) -> None:
    chance, outputs = random.Random(42), set()

    for _ in range(60):
        output, *rest = both(random_table(chance), ["pine", "prompt"], b"input")
        assert rest == [b"", 0]
        outputs.add(output)

    assert {b"", b"input", b'{"go":true}\n'} < outputs, "every kind of answer, and altered ones"
