"""Frames of events, as relays write them."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from tray.ipc import frames


def encode_event(fields: Mapping[str, str], environment: Mapping[str, str], body: bytes) -> bytes:
    header = encode_header(fields, environment)
    return struct.pack(">4scIQ", frames.MAGIC, frames.EVENT, len(header), len(body)) + header + body


def encode_header(fields: Mapping[str, str], environment: Mapping[str, str]) -> bytes:
    lines = ("".join(f"{key}={value}\0" for key, value in pairs.items()) for pairs in (fields, environment))
    return "\0".join(lines).encode("utf-8", "surrogateescape")
