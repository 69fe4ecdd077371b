"""A hook's definition as rows such as a person writes them: what is set, by the names of `hooktray.yaml`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tray.model.decision import Verdict
from tray.model.hook import Failure, Rule

NAMES = {  # of the fields that definitions in ledgers have, where `hooktray.yaml` calls them otherwise
    "agents": "agent",
    "aside": "async",
    "background": "background_seconds",
    "line": "command",
    "pattern": "matcher",
    "text": "prompt",
    "verdict": "decision",
}
FIRST = ("name", "event", "agent", "tool", "matcher", "type", "command", "url", "prompt", "decision", "reason")
# The defaults: empty, or what every hook has that declares nothing else.
DEFAULTS: Mapping[str, object] = {"background": 600.0, "enabled": True, "failure": Failure.DEFAULT.value}
EMPTY: tuple[object, ...] = ("", [], {}, False, None)


def definition_rows(definition: str) -> list[str]:
    """`key: value` for all that a definition sets; a text of several lines follows its key, indented."""
    fields = _object(json.loads(definition))
    del fields["source"]
    kind = str(fields.pop("kind")).lower()
    action, match = _object(fields.pop("action")), _object(fields.pop("match"))
    if kind == Rule.__name__.lower():
        action["verdict"] = Verdict(int(str(action["verdict"]))).word
    elif action.pop("agent", False):
        kind = "agent"
    values: dict[str, object] = {"type": kind}
    for part in (match, action, fields):
        values |= {NAMES.get(key, key): value for key, value in part.items() if not _says_nothing(key, value)}
    order = [*(key for key in FIRST if key in values), *sorted(values.keys() - set(FIRST))]
    return [row for key in order for row in _rows(key, values[key])]


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"not a hook's definition: {value!r:.40}")
    return value


def _says_nothing(key: str, value: object) -> bool:
    return value in EMPTY or DEFAULTS.get(key) == value


def _rows(key: str, value: object) -> Iterator[str]:
    lines = _text(value).splitlines() or [""]
    if len(lines) == 1:
        yield f"{key}: {lines[0]}"
        return
    yield f"{key}:"
    yield from (f"  {line}" for line in lines)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(": ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
