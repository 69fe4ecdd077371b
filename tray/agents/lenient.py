"""What a hook printed, read as its agent's own parser reads it: no refusal that the agent hears is lost to us."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from tray.agents import wire

# What is taken away around an answer: by JavaScript's trim(), by Go's TrimSpace, by Python's strip() behind a BOM.
JAVASCRIPT = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
GO = JAVASCRIPT.replace("\ufeff", "\u0085")
PYTHON = JAVASCRIPT + "\x1c\x1d\x1e\x1f\u0085"
NESTED_KEYS = ("decision", "hookSpecificOutput")  # objects in an answer that are read key by key
LARGEST = math.nextafter(math.inf, 0)  # in place of infinity, which cannot be written again
CONSTANTS = {"-Infinity": -LARGEST, "Infinity": LARGEST, "NaN": None}


class TooDeepError(ValueError):
    """An object for the agent's own parser, and too much for ours: its hook has failed, it did not say nothing."""


def text(raw: bytes, blanks: str = JAVASCRIPT) -> str:
    """The text without the blanks around it; only bytes that are not UTF-8 are lost."""
    return raw.decode("utf-8", "replace").strip(blanks)


def mapping(output: str, known_keys: Collection[str], *, python: bool = False) -> dict[str, Any]:
    """The one JSON object in `output`, of a key written twice the last. Raises ValueError as `wire.mapping` does.

    Keys outside `known_keys` are not used, so those may be nested as deep as they like. With `python` the words
    that Python writes for numbers without digits are read too.
    """
    fields = loads(output, python=python)
    if not isinstance(fields, dict):
        raise wire.not_object(fields)
    if output.count("{") + output.count("[") <= wire.DEPTH_LIMIT:
        return fields
    pruned = _pruned(fields, known_keys)
    if not wire.is_shallow(pruned):
        raise TooDeepError(wire.TOO_DEEP)
    return pruned


def _pruned(fields: Mapping[str, Any], known_keys: Collection[str]) -> dict[str, Any]:
    pruned = {key: value for key, value in fields.items() if key in known_keys or wire.is_shallow(value)}
    deeper = {key: _pruned(inner, known_keys) for key in NESTED_KEYS if isinstance(inner := pruned.get(key), dict)}
    return pruned | deeper


def last_object(raw: bytes) -> str:
    """The JSON object on the last line of an output that is not one JSON value; "" when there is none."""
    output = text(raw)
    *before, last = re.split(r"[\r\n]+", output)
    last = last.strip(JAVASCRIPT)
    if not before or not last.startswith("{") or is_value(output) or not is_value(last):
        return ""
    return last


def is_value(output: str) -> bool:
    """Whether this is one JSON value, even one that is too deep for us."""
    try:
        loads(output, python=True)
    except TooDeepError:
        return True
    except ValueError:
        return False
    return True


def is_object(output: str) -> bool:
    return output.startswith("{") and is_value(output)


def loads(output: str, *, python: bool = False) -> Any:
    """JSON, as deep as Python can read it."""
    if not output:
        raise ValueError("empty")
    try:
        return (_PYTHON if python else _PLAIN).decode(output)
    except json.JSONDecodeError as error:
        raise wire.json_error(error) from None
    except RecursionError:
        raise (TooDeepError if output.startswith("{") else ValueError)(wire.TOO_DEEP) from None


def first_value(output: str, start: int) -> tuple[Any, int]:
    """Returns the JSON value that begins at `start`, and its end. Of a key written twice it has all the values."""
    try:
        return _REPEATED.raw_decode(output, start)
    except RecursionError:
        raise TooDeepError(wire.TOO_DEEP) from None


def _float(digits: str) -> float:
    return max(-LARGEST, min(LARGEST, float(digits)))


def _int(digits: str) -> float:
    return int(digits) if len(digits) <= wire.DIGIT_LIMIT else _float(digits)


def _with_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the object; the values that a later one of the same key replaces are objects under the key ""."""
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    return {**fields, "": [{key: value} for key, value in pairs if value is not fields[key]]}


_PLAIN = json.JSONDecoder(parse_constant=wire.reject_constant, parse_float=_float, parse_int=_int)
_PYTHON = json.JSONDecoder(parse_constant=CONSTANTS.__getitem__, parse_float=_float, parse_int=_int)
_REPEATED = json.JSONDecoder(
    parse_constant=CONSTANTS.__getitem__, parse_float=_float, parse_int=_int, object_pairs_hook=_with_repeated
)
