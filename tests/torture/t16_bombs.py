"""T16: documents that explode when they are read, at every place where foreign text is parsed."""

from __future__ import annotations

import functools
import json
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping

import yaml

from torture.frame import Tally
from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.agents.wire import loads, mapping
from tray.errors import HooktrayError
from tray.ipc.frames import decode_header, decode_request
from tray.model.decision import Result
from tray.model.event import RelayRequest
from tray.strict.json_reader import load_json
from tray.strict.yaml_reader import load_yaml

TITLE = "YAML and JSON bombs"
TIME = 30.0  # times as long as the yardstick, in the same seconds on the same processor
MOST = 6  # tries; whatever else the machine does makes them longer, never shorter
SPACE = 64 * 1024 * 1024  # bytes
MB = 1024 * 1024


def torture(tally: Tally) -> None:
    step = tally.many(20, 1)
    for number, (place, read) in enumerate(READERS.items()):
        kind = YAML if place == "configuration" else JSON
        for name, text in list(_documents(kind))[number % step :: step]:
            _read(tally, f"{place}: {name}", read, text)
    _controls(tally)


def _read(tally: Tally, name: str, read: Callable[[bytes], object], text: bytes) -> None:
    """Read in time and space, or refused in one sentence; twice, as the first time measures the space."""
    tracemalloc.start()
    try:
        refusal = _refusal(read, text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    times = _times(read, text)
    said = f"{name}: {refusal[:80]!r}, {times:.1f} times the yardstick, {peak // 1024} KiB"
    tally.attack(said, refusal != CRASHED and times < TIME and peak < SPACE + 12 * len(text))


CRASHED = "crashed"


def _refusal(read: Callable[[bytes], object], text: bytes) -> str:
    try:
        read(text)
    except HooktrayError as error:
        return error.message
    except ValueError as error:
        return str(error)
    except (RecursionError, MemoryError, Exception):  # noqa: BLE001 - anything else is a way to break us
        return CRASHED
    return ""


def _times(read: Callable[[bytes], object], text: bytes) -> float:
    """How many times as long as the yardstick it takes, each at its quickest: tried again while it seems too long.

    First by the quickest of some yardsticks, which is the strictest, and by a new one if that fails.
    """
    ours = _timed(read, text)
    if ours < TIME * _quickest_yardstick():
        return ours / _quickest_yardstick()
    unit = math.inf
    for _ in range(MOST):
        unit, ours = min(unit, _yardstick()), min(ours, _timed(read, text))
        if ours / unit < TIME:
            break
    return ours / unit


@functools.cache
def _quickest_yardstick() -> float:
    return min(_yardstick() for _ in range(MOST))


def _yardstick() -> float:
    """The time for 100,000 small values in plain Python, as many as the largest document has."""
    started = time.thread_time()
    values = {(number,): str(number) for number in range(100_000)}
    return time.thread_time() - started if values else 0.0


def _timed(read: Callable[[bytes], object], text: bytes) -> float:
    started = time.thread_time()
    _refusal(read, text)
    return time.thread_time() - started


def _parse(agent: str) -> Callable[[bytes], object]:
    return lambda text: parse(RelayRequest(agent=agent, event="PreToolUse", id="1", body=text, cwd="/"))


def _answer(agent: str) -> Callable[[bytes], object]:
    protocol = AGENTS[agent].protocol
    event = parse(RelayRequest(agent=agent, event="PreToolUse", id="1", body=b"{}", cwd="/"))
    return lambda text: protocol.read(event, Result(code=0, stdout=text))


READERS: Mapping[str, Callable[[bytes], object]] = {
    "configuration": lambda text: load_yaml(text, "hooktray.yaml"),
    "settings of agents": lambda text: load_json(text, "settings.json", limit=MB),
    "payload": loads,
    "payload object": mapping,
    "request": decode_request,
    **{f"payload of {agent}": _parse(agent) for agent in AGENTS},
    **{f"hook of {agent}": _answer(agent) for agent in AGENTS},
    "head": decode_header,
}


def _aliases(depth: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, depth)]
    return "\n".join(lines)


YAML: Mapping[str, str | bytes] = {
    **{f"aliases {depth}": _aliases(depth) for depth in (2, 5, 9, 40)},
    "merge": "a: &a {x: 1}\nb:\n  <<: *a\n",
    "self": "&a [*a]",
    "duplicate": "hooks: []\nhooks: [1]\n",
    "duplicate by case of quotes": "hooks: []\n'hooks': [1]\n",
    **{f"deep flow {depth}": "[" * depth + "]" * depth for depth in (33, 500, 100_000)},
    **{f"deep maps {depth}": "{a: " * depth + "1" + "}" * depth for depth in (33, 500, 50_000)},
    **{f"deep blocks {depth}": "".join(f"{' ' * i}a:\n" for i in range(depth)) for depth in (40, 1000)},
    "python": "!!python/object/apply:os.system ['true']",
    "tags": "!!binary aGVsbG8=\n---\n!!set {a, b}",
    "many documents": "---\na: 1\n" * 50_000,
    "long number": "a: " + "9" * 100_000,
    "exponent": "a: 1e999999999",
    "octal": "a: 0o7777777777777777777777777777777",
    "sexagesimal": "a: " + ":".join(["59"] * 10_000),
    "long key": f"? {'k' * 500_000}\n: 1",
    "complex keys": "? [a, b]\n: 1\n",
    "many keys": "\n".join(f"k{i}: 1" for i in range(90_000)),
    "too many keys": "\n".join(f"k{i}: 1" for i in range(150_000)),
    "one string": "a: |\n" + "  x\n" * 200_000,
    "too large": "#" * (2 * MB),
    "directive": "%YAML 9.9\n---\na: 1",
    "anchors": "\n".join(f"k{i}: &a{i} 1" for i in range(20_000)),
    "control characters": "a: \x00\x01\x07",
    "surrogate": b"a: \xed\xa0\x80",
    "not UTF-8": b"\xff\xfe\x00a",
    "UTF-16": "a: 1".encode("utf-16"),
    "quotes": "a: '" + "''" * 200_000,
    "comments": "# x\n" * 200_000,
}
JSON: Mapping[str, str | bytes] = {
    **{f"deep lists {depth}": "[" * depth + "]" * depth for depth in (65, 201, 5000, 300_000)},
    **{f"deep maps {depth}": '{"a":' * depth + "1" + "}" * depth for depth in (65, 201, 5000, 100_000)},
    **{f"open {sign}": sign * 300_000 for sign in "[{"},
    "deep in a field": '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    "duplicate": '{"decision": "allow", "decision": "deny"}',
    "duplicate by escape": '{"decision": 1, "\\u0064ecision": 2}',
    "many duplicates": "{" + ",".join(['"a":1'] * 50_000) + "}",
    "NaN": '{"a": NaN}',
    "Infinity": '{"a": -Infinity}',
    "long number": '{"a": ' + "9" * 200_000 + "}",
    "exponent": '{"a": 1e999999999}',
    "long fraction": '{"a": 0.' + "1" * 200_000 + "}",
    "many numbers": "[" + ",".join(["1"] * 90_000) + "]",
    "many keys": "{" + ",".join(f'"k{i}":1' for i in range(45_000)) + "}",
    "colliding keys": "{" + ",".join(f'"{i * (2**61 - 1)}":1' for i in range(20_000)) + "}",
    "one string": json.dumps({"a": "x" * 900_000}),
    "escapes": '{"a": "' + "\\u0041" * 100_000 + '"}',
    "half a pair": '{"a": "\\ud800"}',
    "open string": '{"a": "' + "x" * 500_000,
    "backslashes": '{"a": "' + "\\" * 300_001,
    "blanks": " " * 900_000 + "{}",
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NULs": b"\0" * 100_000,
    "two values": "{}{}",
    "comments": "// x\n{}",
    "empty": "",
}


def _documents(kind: Mapping[str, str | bytes]) -> Iterator[tuple[str, bytes]]:
    for name, text in kind.items():
        yield name, text if isinstance(text, bytes) else text.encode()


def _controls(tally: Tally) -> None:
    """The plain parsers, with the same documents."""
    tally.control("YAML, aliases", len(str(yaml.safe_load(_aliases(5)))) > 200_000)
    tally.control("YAML, a key twice", yaml.safe_load("a: 1\na: 2") == {"a": 2})
    tally.control("JSON, a key twice", json.loads('{"a": 1, "a": 2}') == {"a": 2})
    try:
        json.loads("[" * 100_000)
    except RecursionError:
        tally.control("JSON, deep", fell=True)
    else:
        tally.control("JSON, deep", fell=False)
