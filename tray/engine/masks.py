"""What was masked in one record: which place, which kind of secret, and its fingerprint. Never a part of it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tray.text import Redacted, mask_text, redact, sanitise

LIMIT = 200  # masks that are listed; all of them are masked
PLACE = 200  # characters
MASK = re.compile(r"\[masked [^\[\]]{1,40} [0-9a-f]{12}\]")
KEY_STEP = " (a key)"
BORDER = "\n "  # between texts that are looked at together: no secret ends or begins otherwise because of it

Steps = tuple["Steps", str | int] | None  # the last one first, so that a step down copies nothing


class Masks:
    """Redacts one text after the other, and keeps the list. `hooks` are the names of the hooks that were asked."""

    def __init__(self, hooks: Collection[str] = ()) -> None:
        self._hooks = frozenset(hooks)
        self.found: list[Mapping[str, Any]] = []

    def redact_all(self, texts: Mapping[str, tuple[str, int]]) -> Mapping[str, str]:
        """So many characters of each text, by its place, without its secrets.

        Of most events one look at all of them shows that none has any.
        """
        if not redact(BORDER.join([text for text, _ in texts.values()])).masks:
            return {place: text[:keep] for place, (text, keep) in texts.items()}
        return {place: self.redact(text, place, keep=keep) for place, (text, keep) in texts.items()}

    def redact(self, text: str, place: str, *, keep: int | None = None, is_json: bool = False) -> str:
        """The text without its secrets. With `is_json` it may be JSON, and its keys then say where they were."""
        if not text:
            return ""
        redacted = redact(text, keep, () if is_json else self._hooks)
        if redacted.masks:
            places = _places(redacted, place) if is_json else {}
            for kind, fingerprint in zip(redacted.masks, redacted.fingerprints, strict=True):
                at = places.get(mask_text(kind, fingerprint)) or [place]
                self._note(at.pop(0) if len(at) > 1 else at[0], kind, fingerprint)
        return redacted.text

    def _note(self, place: str, kind: str, fingerprint: str) -> None:
        self.found.append({"place": sanitise(place, PLACE), "kind": kind, "fingerprint": fingerprint})


def limit_masks(masks: list[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """As many as a row holds."""
    return tuple(masks[:LIMIT])


def _places(redacted: Redacted, place: str) -> dict[str, list[str]]:
    """Where in the JSON each mask stands now; empty when the text is none."""
    try:
        value = json.loads(redacted.text)
    except (ValueError, RecursionError):
        return {}
    masks = {mask_text(*pair) for pair in zip(redacted.masks, redacted.fingerprints, strict=True)}
    places: dict[str, list[str]] = {}
    for steps, text in _texts(value):
        found = [mask for mask in MASK.findall(text) if mask in masks] if "[masked " in text else []
        path = _path(place, steps) if found else ""
        for mask in found:
            places.setdefault(mask, []).append(path)
    return places


def _texts(value: object) -> Iterator[tuple[Steps, str]]:
    """Every text, keys too, with the way to it; walked without recursion, for depth comes from outside."""
    waiting: list[tuple[Steps, object]] = [(None, value)]
    while waiting:
        steps, one = waiting.pop()
        if isinstance(one, str):
            yield steps, one
        elif isinstance(one, dict):
            waiting += [((steps, key), inner) for key, inner in reversed(one.items())]
            waiting += [((steps, KEY_STEP), key) for key in one]
        elif isinstance(one, list):
            waiting += [((steps, n), inner) for n, inner in reversed(list(enumerate(one)))]


def _path(place: str, steps: Steps) -> str:
    """`payload.tool_input.lines[2]`; a key may hide a secret of its own."""
    parts: list[str] = []
    while steps is not None:
        steps, step = steps
        parts.append(
            f"[{step}]" if isinstance(step, int) else KEY_STEP if step is KEY_STEP else f".{redact(step).text}"
        )
    return place + "".join(reversed(parts))
