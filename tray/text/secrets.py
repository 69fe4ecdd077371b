"""Makes foreign text safe to keep: each secret becomes a fingerprint, by its own shape or by the name beside it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tray.text.openings import folded, names, tokens
from tray.text.shapes import BARE, CLEAN_TAIL, CLEAN_VALUE, ENV, FLAG, NAME, PLAIN, QUOTED, SEPARATOR, SHAPES, TAIL

_DEPTH = 100  # levels of a JSON value; what lies deeper is masked whole
_NAMES = 64  # characters before a name that may belong to it
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and the kinds of those that were there, in order, with their fingerprints."""

    text: str
    masks: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


def redact(text: str, keep: int | None = None) -> Redacted:
    """The text with "[masked <kind> <fingerprint>]" for each secret; equal secrets have equal fingerprints.

    With `keep`, only so many characters of the text come out, but for a secret at that border, which is masked as
    far as the text goes: who keeps a part gives some more of it, so that no secret is cut into what no rule knows.
    """
    low = folded(text)
    spans = _merged(sorted([*_shapes(text, low), *_named(text, low)]))
    if keep is not None:
        spans = [span for span in spans if span.start < keep]
        text = text[: max([keep, *(span.end for span in spans[-1:])])]
    parts, end, fingerprints = [], 0, []
    for span in spans:
        fingerprints.append(_fingerprint(text[span.start : span.end]))
        parts += [text[end : span.start], masked(span.kind, fingerprints[-1])]
        end = span.end
    return Redacted("".join([*parts, text[end:]]), tuple(span.kind for span in spans), tuple(fingerprints))


def redact_value(value: object) -> tuple[object, tuple[str, ...]]:
    """The same through nested JSON values; a key or header named like a secret masks its whole value."""
    masks: list[str] = []
    return _value(value, "", masks, 0), tuple(masks)


def masked(kind: str, fingerprint: str) -> str:
    """What stands where a secret was."""
    return f"[masked {kind} {fingerprint}]"


def _mask(kind: str, secret: str) -> str:
    return masked(kind, _fingerprint(secret))


def _fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _shapes(text: str, low: str | None) -> Iterator[_Span]:
    for found in tokens(text):
        yield _Span(*found.span(), found.lastgroup or "token")
    for kind, words, shape in SHAPES:
        if low is None or any(word in low for word in words):
            for found in shape.finditer(text):
                if not found["value"].startswith("[masked"):
                    yield _Span(*found.span("value"), kind)


def _named(text: str, low: str | None) -> Iterator[_Span]:
    """Secrets that a name gives away: `password = x`, `"api_key": "x"`, `--token x`."""
    end = 0
    for name in names(text, low):
        value = _beside(text, name) if name.start() >= end else None
        if (
            value
            and not _is_call(text, value)
            and _is_secret(value["value"], bool(name["strong"]), _is_quoted(value))
        ):
            end = value.end("value")
            yield _Span(*value.span("value"), name[0].lower().replace("_", " ").replace("-", " "))


def _beside(text: str, name: re.Match[str]) -> re.Match[str] | None:
    tail = TAIL.match(text, name.end())
    if tail is None or CLEAN_TAIL.match(tail[0]):
        return None
    sign = SEPARATOR.match(text, tail.end())
    if sign is None:
        flag = FLAG.match(text, tail.end()) if _is_flag(text, name.start()) else None
        return (QUOTED.match(text, flag.end()) or BARE.match(text, flag.end())) if flag else None
    bare = ENV if sign[0] == "=" and name[0].isupper() else BARE
    return QUOTED.match(text, sign.end()) or bare.match(text, sign.end())


def _is_flag(text: str, at: int) -> bool:
    before = text[max(0, at - _NAMES) : at]
    return before[before.rfind(" ") + 1 :].startswith("--")


def _is_quoted(value: re.Match[str]) -> bool:
    return "quote" in value.re.groupindex


def _is_call(text: str, value: re.Match[str]) -> bool:
    """Code, not a value: `token = next(…)`, or the quote that ends a text such as 'Password: '."""
    if _is_quoted(value):
        return value["value"][0] in " ,):;]}+" and not text.startswith(value["quote"], value.end())
    return text[value.end() : value.end() + 1] in {"(", "["} and value["value"].replace(".", "_").isidentifier()


def _is_secret(value: str, strong: bool, quoted: bool) -> bool:
    if CLEAN_VALUE.fullmatch(value):
        return False
    if strong:
        return quoted or not (_is_code(value) or (len(value) < 4 and value.isdigit()))
    return len(value) >= 8 and not PLAIN.fullmatch(value) and (quoted or not _is_code(value)) and " " not in value


def _is_code(value: str) -> bool:
    """An expression such as args.password, which names a secret and is none."""
    parts = value.split(".")
    return len(parts) > 1 and all(part.isidentifier() and not any(map(str.isdigit, part)) for part in parts)


def _merged(spans: list[_Span]) -> list[_Span]:
    """Overlapping spans become one, under the name of the one that begins first."""
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _value(value: object, name: str, masks: list[str], depth: int) -> object:
    if depth > _DEPTH:
        masks.append("depth")
        return "[masked depth]"
    if isinstance(value, str):
        return _string(value, name, masks)
    if isinstance(value, Mapping):
        return _mapping(value, name, masks, depth + 1)
    if isinstance(value, list | tuple):
        return _list(value, name, masks, depth + 1)
    if name and isinstance(value, int | float) and not isinstance(value, bool) and _password(name):
        return _string(str(value), name, masks)
    return value


def _mapping(value: Mapping[object, object], name: str, masks: list[str], depth: int) -> dict[object, object]:
    title = value.get("name", value.get("key"))
    entries: dict[object, object] = {}
    for key, item in value.items():
        own = title if key == "value" and isinstance(title, str) else key if isinstance(key, str) else ""
        shown = _string(key, "", masks) if isinstance(key, str) else key
        entries[shown] = _value(item, _kind(own) or name, masks, depth)
    return entries


def _list(value: list[object] | tuple[object, ...], name: str, masks: list[str], depth: int) -> list[object]:
    if len(value) == 2 and isinstance(value[0], str) and _kind(value[0]):
        return [value[0], _value(value[1], _kind(value[0]), masks, depth)]
    return [_value(item, name, masks, depth) for item in value]


def _string(value: str, name: str, masks: list[str]) -> str:
    if name and (name in _HEADERS or _is_secret(value, _password(name), True)) and value:
        masks.append(name)
        return value if value.startswith("[masked") else _mask(name, value)
    redacted = redact(value)
    masks.extend(redacted.masks)
    return redacted.text


def _kind(key: str) -> str:
    """What a key says of its value: the name of a secret, or ""."""
    if key.lower() in _HEADERS:
        return key.lower()
    for found in NAME.finditer(key[:256]):
        if not CLEAN_TAIL.match(key, found.end()):
            return found[0].lower().replace("_", " ").replace("-", " ")
    return ""


def _password(name: str) -> bool:
    found = NAME.search(name.replace(" ", "_"))
    return bool(found and found["strong"])
