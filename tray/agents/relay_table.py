"""Writes tray/relay.table, which holds what the relays need to know about agents. A relay reads the table beside it.

    neutral=AGENT␟EVENT␟echo           the relay writes the event's input back when nobody else answers
    neutral=AGENT␟EVENT␟bytes␟TEXT     the relay writes TEXT then; `%` and two hexadecimal digits in it are one byte

␟ is the byte 0x1f. The first row of an agent and event counts; without a row, the answer is empty. A relay ignores
unknown lines, damaged rows and rows with more fields, so later versions may add keys, kinds and fields.
`python -m tray.agents.relay_table` writes the file, and a test compares it with the agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

from tray.agents.protocol import neutral
from tray.agents.registry import AGENTS, BUILT_IN
from tray.model.decision import Answer

FILE = Path(__file__).parents[1] / "relay.table"
HEAD = "# The answers of the relay where nobody else answers; written by tray/agents/relay_table.py.\n"
SEPARATOR = "\x1f"
SAMPLES = (b'{"sample":1}\n', b"another sample")  # inputs; an answer that equals each of them is an echo
READABLE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


def text(agents: Iterable[str] = BUILT_IN) -> str:
    """The table of these agents. Raises ValueError for a neutral answer that a row cannot hold."""
    return HEAD + "".join(f"neutral={SEPARATOR.join(row)}\n" for agent in agents for row in _rows(agent))


def fields(agent: str, event: str, answers: tuple[Answer, Answer]) -> tuple[str, ...]:
    """The fields of the row for these neutral answers to SAMPLES; none for silence.

    Raises ValueError for answers that a row cannot hold.
    """
    outputs = tuple(answer.stdout for answer in answers)
    if any(answer.stderr or answer.code for answer in answers):
        raise ValueError(f"neutral answer of {agent} to {event}: the relay's table holds no stderr and no exit code")
    if not any(outputs):
        return ()
    if "<" in event:
        raise ValueError(f"neutral answer of {agent} to {event}: the relay's table has rows for single events only")
    if outputs == SAMPLES:
        return agent, event, "echo"
    if outputs[0] != outputs[1]:
        raise ValueError(f"neutral answer of {agent} to {event}: neither the input nor always the same bytes")
    return agent, event, "bytes", quote_from_bytes(outputs[0], safe=READABLE)


def _rows(agent: str) -> Iterator[tuple[str, ...]]:
    for event in sorted(AGENTS[agent].events):
        one, other = SAMPLES
        if row := fields(agent, event, (neutral(agent, event, one), neutral(agent, event, other))):
            yield row


def main() -> None:
    FILE.write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
