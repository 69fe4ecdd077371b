"""What every dialect needs of JSON: strict reading, compact writing, and fields that may be of any type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from tray.model.decision import Result
from tray.model.event import UNKNOWN_EVENT, EventSpec, RelayRequest, Tool

DEPTH_LIMIT = 200  # a deeper payload could exhaust the stack of whoever writes it again
TOO_DEEP = f"JSON nested more than {DEPTH_LIMIT} deep"
DIGIT_LIMIT = 300  # no float is longer, and Python refuses to read or write integers of some thousands
NAME_LIMIT = 128  # characters; a longer "event name" is not one
DEFAULT_REASON = "Blocked by a hook"  # agents want a reason with every refusal
START_FAILURES = {126: "exit 126: the command cannot be executed", 127: "exit 127: the command was not found"}
BOM = b"\xef\xbb\xbf"
JSON_TYPES = {
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeo" else f"a {noun}"


def spec(events: Mapping[str, EventSpec], name: str) -> EventSpec:
    """The event of this name; `slash/files` is one of the family that the table calls `slash/<command>`."""
    return events.get(name) or events.get(event_family(name)) or UNKNOWN_EVENT


def event_family(name: str) -> str:
    """`slash/<command>` for `slash/files`; "" for what is not a member of a family."""
    group, _, word = name.partition("/")
    signs = (sign in "_-" or (sign.isascii() and sign.isalnum()) for sign in word)
    return f"{group}/<command>" if word and word[0] != "-" and all(signs) else ""


def loads(raw: bytes) -> Any:
    """Strict JSON. Raises ValueError with a short reason that quotes nothing of the input."""
    try:
        value = _STRICT.decode(raw.decode("utf-8-sig" if raw[:3] == BOM else "utf-8"))
        if raw.count(b"{") + raw.count(b"[") > DEPTH_LIMIT and not is_shallow(value):
            raise ValueError(TOO_DEEP)
        return value
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte {error.start} cannot be read") from None
    except json.JSONDecodeError as error:
        raise json_error(error) from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def json_error(error: json.JSONDecodeError) -> ValueError:
    return ValueError(f"not JSON: {error.msg.rstrip(':')} at line {error.lineno}, column {error.colno}")


def reject_constant(word: str) -> Any:
    raise ValueError(f"not JSON: {word} is not a number")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("not JSON: a number is too large")
    return number


def _int(digits: str) -> int:
    if len(digits) > DIGIT_LIMIT:
        raise ValueError("not JSON: a number is too large")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("JSON that has a key twice in one object")
    return fields


# Made once: that takes as long as to read an event.
_STRICT = json.JSONDecoder(
    parse_constant=reject_constant, parse_float=_float, parse_int=_int, object_pairs_hook=_object
)


def is_shallow(value: Any) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEPTH_LIMIT + 1):
        nodes = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for node in nodes for child in node if isinstance(child, (dict, list))]
        if not level:
            return True
    return False


def mapping(raw: bytes) -> dict[str, Any]:
    """The one JSON object that `raw` is. Raises ValueError with a phrase that follows "payload is" or "output is"."""
    try:
        value = loads(raw)
    except ValueError:
        if not raw.strip():
            raise ValueError("empty") from None
        raise
    if not isinstance(value, dict):
        raise not_object(value)
    return value


def not_object(value: Any) -> ValueError:
    return ValueError(f"a JSON {JSON_TYPES[type(value)]}, not an object")


_UNICODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ASCII = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def dumps(value: Any) -> bytes:
    """Compact JSON; text that UTF-8 cannot hold (half a surrogate pair) goes out escaped."""
    try:
        return _UNICODE.encode(value).encode()
    except UnicodeEncodeError:
        return _ASCII.encode(value).encode()


def dumps_line(value: Any) -> bytes:
    return dumps(value) + b"\n"


def text_problem(value: Any, *, blank: bool = True) -> str:
    """Why `value` cannot be sent as text; "" when it can. Without `blank` there must be something in it."""
    if not isinstance(value, str):
        return "is not text"
    if not blank and not value.strip():
        return "is empty"
    return "" if _encodes(value) else "is not Unicode text"


def json_problem(value: Any) -> str:
    """Why `value` cannot be written as JSON; "" when it can."""
    try:
        loads(dumps(value))
    except (TypeError, ValueError, RecursionError):
        return "is not JSON"
    return ""


def object_problem(value: Any) -> str:
    """Returns why `value` cannot be written as a JSON object; "" if it can."""
    return json_problem(value) if isinstance(value, Mapping) else "is not a JSON object"


def text(fields: Mapping[str, Any], *keys: str) -> str:
    """The first of `keys` that holds a text with something in it; safe to encode."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value:
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return ""


def texts(fields: Mapping[str, Any], keys: Collection[str]) -> dict[str, str]:
    """Those of `keys` that hold a text, as `text` has it; all at a time, since an event has only a few of them."""
    found = {}
    for key, value in fields.items():
        if key in keys and value and isinstance(value, str):
            found[key] = value if value.isascii() else value.encode("utf-8", "replace").decode()
    return found


def has_texts(*keys: str, capital: str = "") -> Callable[[Mapping[str, Any]], bool]:
    """Returns a test for payloads with a text under each key; the text of `capital` begins with a capital letter."""

    def is_alike(payload: Mapping[str, Any]) -> bool:
        for key in keys:  # a plain loop: it runs for every event
            if not isinstance(payload.get(key), str):
                return False
        return not capital or payload[capital][:1].isupper()

    return is_alike


def event_name(fields: Mapping[str, Any], key: str) -> str:
    """An event's name from the payload; "" when that is missing or not a name."""
    word = fields.get(key)
    if not isinstance(word, str) or len(word) > NAME_LIMIT:
        return ""
    return word if word.isascii() else text(fields, key)


def hook_event_name(fields: Mapping[str, Any], word: str) -> str:
    """The event's name under Claude Code's key, which many agents took over; else `word`."""
    return event_name(fields, "hook_event_name") or word


def path_parts(fields: Mapping[str, Any], key: str) -> list[str]:
    """The parts of the path under `key`, as either system writes it; one empty part when there is none."""
    path = fields.get(key)
    return re.split(r"[\\/]", path) if isinstance(path, str) else [""]


def nested(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def text_list(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def objects(fields: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Returns the objects in the list under `key`."""
    value = fields.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def tool(
    fields: Mapping[str, Any], *, name: str, input: str, call: str, output: str, failed: bool = False
) -> Tool | None:
    """The tool call of a payload whose fields have these names; None when it names no tool."""
    named = texts(fields, (name, call))
    if name not in named:
        return None
    given = fields.get(input)
    return Tool(
        name=named[name],
        input=given if isinstance(given, dict) else {},
        call=named.get(call, ""),
        output=fields.get(output),
        failed=failed,
    )


def request_fields(request: RelayRequest, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an Event that come with the request, whatever the dialect."""
    return {
        "id": request.id,
        "agent": request.agent,
        "payload": payload,
        "body": request.body,
        "environment": request.environment,
        "pid": request.pid,
    }


def non_empty(**fields: Any) -> dict[str, Any]:
    """Those fields that say something."""
    for key in list(fields):
        if fields[key] in ("", None, ()):
            del fields[key]
    return fields


def variables(**values: str) -> dict[str, str]:
    """Those environment variables that a process can be given."""
    return {key: value for key, value in values.items() if value and "\0" not in value and _encodes(value)}


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def run_problem(result: Result) -> str:
    """Why the process's output does not count; "" after an ordinary end. Only Claude Code reads on."""
    if result.cause or result.code is None or result.code < 0:
        return exit_problem(result)
    return START_FAILURES.get(result.code, "")


def exit_problem(result: Result) -> str:
    """Why its output cannot count, in every dialect; "" when it ended by itself."""
    if result.cause or result.code is None:
        return result.cause or "ended without an exit code"
    return f"killed by signal {-result.code}" if result.code < 0 else ""


def start_problem(result: Result) -> str:
    """What a shell's exit code means for a command that it could not start; "" for any other code."""
    return START_FAILURES.get(result.code or 0, "")


def stderr(result: Result) -> str:
    return result.stderr.decode("utf-8", "replace").strip()


def join_notes(notes: Iterable[str]) -> str:
    return "\n".join(filter(None, notes))
