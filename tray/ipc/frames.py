"""The wire between relay and tray as bytes <-> values, pure; a C relay speaks it too, so it stays trivial.

To the tray:    b"HKT1"  kind (b"E" event, b"C" control)  u32 size of header  u64 size of body  header  body
Header:         "key=value" NUL …  NUL  "NAME=value" NUL …   (keys: agent event id cwd parent token)
To the relay:   b"A"  u32 milliseconds it may wait in all        before anything that takes time
                b"R"  exit code (one byte)  u32 size of stdout  u32 size of stderr  stdout  stderr

Before the reply to a control frame whose request has `terminal`, the tray may ask the command's user, repeatedly:
                b"S"  u32 size  text    to be shown; the command answers with the line that is typed, and its end

Numbers are big-endian. A control body is a JSON object, and so is the stdout of its answer.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from tray.model.decision import EMPTY_ANSWER, Answer

MAGIC = b"HKT1"
EVENT = b"E"
CONTROL = b"C"
QUESTION = b"S"
QUESTION_TIMEOUT = 60.0  # seconds for an answer to one
HEADER_LIMIT = 1024 * 1024
CONTROL_LIMIT = 1024 * 1024

_PREFIX = struct.Struct(">4scIQ")
_ACK = _QUESTION = struct.Struct(">cI")
_REPLY = struct.Struct(">cBII")
PREFIX_SIZE = _PREFIX.size
ACK_SIZE = _ACK.size
REPLY_SIZE = _REPLY.size
QUESTION_SIZE = _QUESTION.size
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_U32 = 2**32 - 1
ACK_CACHE_SIZE = 64
ENVIRONMENT_CACHE_SIZE = 8  # of the agents that run at a time; each has some kilobytes
EMPTY: Mapping[str, str] = MappingProxyType({})


class FrameError(ValueError):
    """Bytes that do not follow the wire format."""


class FramePrefix(msgspec.Struct, frozen=True):
    """The fixed first bytes of a frame."""

    kind: bytes
    header_size: int  # bytes
    body_size: int  # bytes


class FrameHeader(msgspec.Struct, frozen=True):
    """Who sends the frame, and from where: the fields, then the caller's environment."""

    fields: Mapping[str, str] = EMPTY
    environment: Mapping[str, str] = EMPTY


def encode_control(request: Mapping[str, object], token: str = "") -> bytes:
    header = f"token={token}\0\0".encode("utf-8", "surrogateescape") if token else b"\0"
    body = json.dumps(request).encode()
    return _PREFIX.pack(MAGIC, CONTROL, len(header), len(body)) + header + body


def decode_prefix(data: bytes) -> FramePrefix:
    if len(data) != PREFIX_SIZE:
        raise FrameError(f"a frame opens with {PREFIX_SIZE} bytes, got {len(data)}")
    magic, kind, header, body = _PREFIX.unpack(data)
    if magic != MAGIC:
        raise FrameError(f"expected the magic {MAGIC!r}, got {magic!r}")
    if kind not in (EVENT, CONTROL):
        raise FrameError(f"expected the kind E or C, got {kind!r}")
    if header > HEADER_LIMIT:
        raise FrameError(f"a head of {header} bytes is over the limit of {HEADER_LIMIT}")
    if kind == CONTROL and body > CONTROL_LIMIT:
        raise FrameError(f"a request of {body} bytes is over the limit of {CONTROL_LIMIT}")
    return FramePrefix(kind, header, body)


def decode_header(data: bytes, kind: bytes = CONTROL) -> FrameHeader:
    """An event's header has its id, which the relay gives: it names a row of the journal, so its form is plain."""
    if data and not data.endswith(b"\0"):
        raise FrameError("the head does not end with a NUL")
    lines, border, environment = (b"\0" + data).partition(b"\0\0")
    if not border:
        raise FrameError("the head has no empty string between its fields and the environment")
    fields: dict[str, str] = {}
    for line in lines.decode("utf-8", "surrogateescape").split("\0")[1:]:
        key, equals, value = line.partition("=")
        if not equals or not key:
            raise FrameError(f"expected key=value in the head, got {line[:80]!r}")
        if key in fields:
            raise FrameError(f"the head names {key!r} twice")
        fields[key] = value
    if kind == EVENT:
        found = fields.get("id", "")
        if not (found.isalnum() and found.isascii() and len(found) <= 64) and not _ID.fullmatch(found):
            raise FrameError(f"expected an id of letters and digits, got {found!r}")
    return FrameHeader(fields, _environment(environment))


@lru_cache(ENVIRONMENT_CACHE_SIZE)  # an agent sends the same with each of its events
def _environment(lines: bytes) -> Mapping[str, str]:
    """As getenv sees it: the first of two lines wins, an entry without an equals sign does not count."""
    found: dict[str, str] = {}
    for line in lines.decode("utf-8", "surrogateescape").split("\0"):
        border = line.find("=", 1)  # Windows keeps its drives' folders in variables named "=C:"
        if border > 0:
            found.setdefault(line[:border], line[border + 1 :])
    return MappingProxyType(found)


def decode_request(body: bytes) -> Mapping[str, object]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"the request is not JSON: {error}") from None
    if not isinstance(request, dict):
        raise FrameError("the request is not a JSON object")
    return request


@lru_cache(ACK_CACHE_SIZE)  # there are about as many as agents have limits
def encode_ack(milliseconds: int) -> bytes:
    return _ACK.pack(b"A", max(0, min(milliseconds, _U32)))


def decode_ack(data: bytes) -> int:
    if len(data) != ACK_SIZE or data[:1] != b"A":
        raise FrameError(f"expected an acknowledgement, got {data[:ACK_SIZE]!r}")
    return int(_ACK.unpack(data)[1])


def encode_question(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return _QUESTION.pack(QUESTION, len(data)) + data


def question_size(data: bytes) -> int:
    """Returns the size of the text that follows these `QUESTION_SIZE` bytes."""
    return int(_QUESTION.unpack(data)[1])


def encode_answer(answer: Answer) -> bytes:
    if not 0 <= answer.code <= 255:
        raise FrameError(f"an exit code is 0 to 255, got {answer.code}")
    if max(len(answer.stdout), len(answer.stderr)) > _U32:
        raise FrameError("an answer over 4 GiB does not fit the frame")
    return _REPLY.pack(b"R", answer.code, len(answer.stdout), len(answer.stderr)) + answer.stdout + answer.stderr


def answer_size(data: bytes) -> int:
    """The size of the whole answer that opens with these `REPLY_SIZE` bytes."""
    if len(data) != REPLY_SIZE or data[:1] != b"R":
        raise FrameError(f"expected an answer, got {data[:REPLY_SIZE]!r}")
    _, _, stdout, stderr = _REPLY.unpack(data)
    return int(REPLY_SIZE + stdout + stderr)


def decode_answer(data: bytes) -> Answer:
    size = answer_size(data[:REPLY_SIZE])
    if len(data) != size:
        raise FrameError(f"the answer says {size} bytes, got {len(data)}")
    _, code, length, _ = _REPLY.unpack(data[:REPLY_SIZE])
    return Answer(stdout=data[REPLY_SIZE : REPLY_SIZE + length], stderr=data[REPLY_SIZE + length :], code=code)


ENCODED_SILENCE = encode_answer(EMPTY_ANSWER)  # what nearly every event is answered
