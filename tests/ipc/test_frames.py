"""The wire: whatever is encoded comes back, and nothing else is taken for a frame."""

from __future__ import annotations

import contextlib

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st
from ipc.event_frames import encode_event, encode_header

from tray.ipc import frames
from tray.ipc.frames import FrameError, FrameHeader, FramePrefix
from tray.model.decision import Answer

# What can stand in an environment: any bytes but NUL, seen as text through surrogateescape.
texts = st.binary(max_size=30).map(lambda raw: raw.replace(b"\0", b"").decode("utf-8", "surrogateescape"))
keys = texts.filter(lambda text: text != "" and "=" not in text)
pairs = st.dictionaries(keys, texts, max_size=5)
answers = st.builds(Answer, stdout=st.binary(max_size=50), stderr=st.binary(max_size=50), code=st.integers(0, 255))


def split(frame: bytes) -> tuple[FramePrefix, bytes, bytes]:
    lead = frames.decode_prefix(frame[: frames.PREFIX_SIZE])
    border = frames.PREFIX_SIZE + lead.header_size
    return lead, frame[frames.PREFIX_SIZE : border], frame[border:]


@given(pairs, pairs, st.binary(max_size=100))
def test_an_event_comes_back_as_it_was(fields: dict[str, str], environment: dict[str, str], body: bytes) -> None:
    lead, head, rest = split(encode_event(fields, environment, body))

    assert frames.decode_header(head) == FrameHeader(fields, environment)
    assert (lead.kind, lead.body_size, rest) == (frames.EVENT, len(body), body)


def test_the_wire_is_what_the_c_relay_was_told() -> None:
    frame = encode_event({"agent": "shelley", "id": "1"}, {"A": "b=c"}, b"payload")

    assert frame == b"HKT1E\0\0\0\x1a\0\0\0\0\0\0\0\x07agent=shelley\0id=1\0\0A=b=c\0payload"
    assert frames.encode_ack(300) == b"A\0\0\x01\x2c"
    assert frames.encode_answer(Answer(stdout=b"out", stderr=b"e", code=2)) == b"R\x02\0\0\0\x03\0\0\0\x01oute"


@given(pairs, texts)
def test_a_request_comes_back_as_it_was(request: dict[str, str], token: str) -> None:
    lead, head, body = split(frames.encode_control(request, token))

    assert lead.kind == frames.CONTROL
    assert frames.decode_header(head).fields.get("token", "") == token
    assert frames.decode_request(body) == request


@given(answers)
def test_an_answer_comes_back_as_it_was_and_cut_anywhere_it_is_refused(answer: Answer) -> None:
    whole = frames.encode_answer(answer)

    assert frames.decode_answer(whole) == answer
    for size in range(len(whole)):
        with pytest.raises(FrameError):
            frames.decode_answer(whole[:size])


def test_a_lead_or_acknowledgement_cut_anywhere_is_refused() -> None:
    lead = encode_event({}, {}, b"")[: frames.PREFIX_SIZE]

    for whole, decode in ((lead, frames.decode_prefix), (frames.encode_ack(5), frames.decode_ack)):
        for size in range(len(whole)):
            with pytest.raises(FrameError):
                decode(whole[:size])


@every(("milliseconds", "expected"), [(-5, 0), (0, 0), (300, 300), (2**33, 2**32 - 1)])
def test_an_acknowledgement_keeps_within_its_32_bits(milliseconds: int, expected: int) -> None:
    assert frames.decode_ack(frames.encode_ack(milliseconds)) == expected


def test_a_head_cut_anywhere_is_refused_or_has_fewer_whole_variables() -> None:
    whole = encode_header({"agent": "shelley"}, {"A": "1", "B": "2"})

    for size in range(len(whole)):
        try:
            head = frames.decode_header(whole[:size])
        except FrameError:
            continue
        assert head.fields == {"agent": "shelley"}
        assert set(head.environment.items()) < {("A", "1"), ("B", "2")}


@given(st.binary(max_size=200))
def test_junk_is_refused_with_a_frame_error_and_nothing_else(junk: bytes) -> None:
    for decode in (frames.decode_prefix, frames.decode_header, frames.decode_ack, frames.decode_answer):
        with contextlib.suppress(FrameError):
            decode(junk)


@every(
    ("lead", "said"),
    [
        (b"HKT2E" + bytes(12), "magic"),
        (b"HKT1X" + bytes(12), "kind"),
        (b"HKT1E" + (frames.HEADER_LIMIT + 1).to_bytes(4, "big") + bytes(8), "head of 1048577 bytes is over"),
        (b"HKT1C" + bytes(4) + (frames.CONTROL_LIMIT + 1).to_bytes(8, "big"), "request of 1048577 bytes is over"),
    ],
)
def test_a_lead_of_another_version_kind_or_size_is_refused(lead: bytes, said: str) -> None:
    with pytest.raises(FrameError, match=said):
        frames.decode_prefix(lead)


@every("head", [b"agent\0\0", b"=x\0\0", b"a=1\0a=2\0\0", b"a=1", b"a=1\0", b""])
def test_a_head_that_breaks_its_grammar_is_refused(head: bytes) -> None:
    with pytest.raises(FrameError):
        frames.decode_header(head)


def test_the_environment_reads_as_getenv_does() -> None:
    head = frames.decode_header(b"\0A=1\0A=2\0nothing\0=C:=C:\\x\0\0B=\0")

    assert head.environment == {"A": "1", "=C:": "C:\\x", "B": ""}


@every("name", ["", "a b", "../x", "x" * 65, "é"])
def test_an_id_that_could_mislead_the_journal_is_refused(name: str) -> None:
    header = encode_header({"id": name}, {})

    with pytest.raises(FrameError, match="an id of letters"):
        frames.decode_header(header, frames.EVENT)


@every("body", [b"", b"[1]", b"\xff", b"{", b"[" * 100_000])
def test_a_request_that_is_not_an_object_is_refused(body: bytes) -> None:
    with pytest.raises(FrameError):
        frames.decode_request(body)
