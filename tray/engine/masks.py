"""What was masked in one account: which place, which kind of secret, and its fingerprint. Never a part of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tray.text import Redacted, masked, redact, sanitise

LIMIT = 200  # masks that are listed; all of them are masked
PLACE = 200  # characters


class Masks:
    """Redacts one text after the other, and keeps the list."""

    def __init__(self) -> None:
        self.found: list[Mapping[str, Any]] = []

    def redact(self, text: str, place: str, *, inside: bool = False) -> str:
        """The text without its secrets. With `inside` it may be JSON, and its keys then say where they were."""
        if not text:
            return ""
        redacted = redact(text)
        if redacted.masks:
            places = _places(redacted, place) if inside else {}
            for kind, fingerprint in zip(redacted.masks, redacted.fingerprints, strict=True):
                at = places.get(masked(kind, fingerprint)) or [place]
                self._note(at.pop(0) if len(at) > 1 else at[0], kind, fingerprint)
        return redacted.text

    def _note(self, place: str, kind: str, fingerprint: str) -> None:
        self.found.append({"place": sanitise(place, PLACE), "kind": kind, "fingerprint": fingerprint})


def listed(masks: list[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """As many as a row holds."""
    return tuple(masks[:LIMIT])


def _places(redacted: Redacted, place: str) -> dict[str, list[str]]:
    """Where in the JSON each mask stands now; empty when the text is none."""
    try:
        value = json.loads(redacted.text)
    except (ValueError, RecursionError):
        return {}
    marks = {masked(*pair) for pair in zip(redacted.masks, redacted.fingerprints, strict=True)}
    places: dict[str, list[str]] = {}
    for path, text in _texts(value, place):
        for mark in marks:
            places.setdefault(mark, []).extend([path] * text.count(mark))
    return places


def _texts(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Every text, keys too, with its path; walked without recursion, for depth comes from outside."""
    waiting = [(place, value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, str):
            yield path, one
        elif isinstance(one, dict):
            waiting += [(f"{path}.{redact(key).text}", inner) for key, inner in reversed(one.items())]
            waiting += [(f"{path} (a key)", key) for key in one]
        elif isinstance(one, list):
            waiting += [(f"{path}[{n}]", inner) for n, inner in reversed(list(enumerate(one)))]
