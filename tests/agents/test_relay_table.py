"""The table for the relays: which neutral answers of agents it holds."""

from __future__ import annotations

import pytest

from tray.agents import relay_table
from tray.agents.protocol import neutral
from tray.agents.registry import AGENTS
from tray.agents.relay_table import SAMPLES, fields
from tray.model.decision import EMPTY_ANSWER, Answer

ECHOES = (Answer(stdout=SAMPLES[0]), Answer(stdout=SAMPLES[1]))


def test_the_file_is_that_of_the_agents() -> None:
    assert relay_table.FILE.read_text() == relay_table.text(), "run: python -m tray.agents.relay_table"


def test_it_has_a_row_for_an_event_whose_neutral_answer_is_not_silence_and_for_no_other() -> None:
    rows = [line.split("=", 1)[1].split("\x1f") for line in relay_table.FILE.read_text().splitlines()[1:]]

    assert ["shelley", "system-prompt", "echo"] in rows
    assert [row for row in rows if neutral(AGENTS.find(row[0]), row[1], b"{}") == EMPTY_ANSWER] == []
    assert [row[:2] for row in rows if row[0] == "claude-code"] == []


def test_silence_has_no_row() -> None:
    assert fields("pine", "stop", (EMPTY_ANSWER, EMPTY_ANSWER)) == ()
    assert fields("pine", "stop/<word>", (EMPTY_ANSWER, EMPTY_ANSWER)) == ()


def test_an_input_that_comes_back_is_an_echo() -> None:
    assert fields("pine", "stop", ECHOES) == ("pine", "stop", "echo")


def test_what_is_always_the_same_is_written_so_that_it_stays_one_line() -> None:
    answer = Answer(stdout='{"go": "100 %", "é": [1]}\r\n\x1f'.encode())

    assert fields("pine", "stop", (answer, answer)) == (
        "pine", "stop", "bytes", '{"go": "100 %25", "%C3%A9": [1]}%0D%0A%1F',
    )  # fmt: skip


@pytest.mark.parametrize(
    ("event", "answers", "problem"),
    [
        ("stop", (Answer(stdout=b"1"), Answer(stdout=b"2")), "neither the input nor always the same bytes"),
        ("stop", (Answer(stdout=SAMPLES[0]), EMPTY_ANSWER), "neither the input nor always the same bytes"),
        ("stop", (Answer(stderr=b"1"), Answer(stderr=b"1")), "holds no stderr and no exit code"),
        ("stop", (Answer(code=1), Answer(code=1)), "holds no stderr and no exit code"),
        ("stop/<word>", ECHOES, "has rows for single events only"),
    ],
)
def test_an_answer_that_no_row_can_hold_is_an_error(event: str, answers: tuple[Answer, Answer], problem: str) -> None:
    with pytest.raises(ValueError, match=f"neutral answer of pine to {event}: .*{problem}"):
        fields("pine", event, answers)
