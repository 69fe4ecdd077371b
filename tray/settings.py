"""hooktray.yaml without its hooks: a typed Settings, its JSON Schema, and errors that name the place and the cure."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import msgspec

from tray.addresses import endpoint
from tray.errors import ConfigError
from tray.strict import Document, nearest
from tray.text import sanitise

T = TypeVar("T")

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86400)]

CLASSES = (
    "turn_end",
    "session_end",
    "needs_you",
    "asked",
    "blocked",
    "rewritten",
    "note",
    "hook_failed",
    "hook_timed_out",
    "approval_pending",
    "changed",
    "switched",
    "information",
)


class AlertRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one class of alerts does; what is not given stays as the class has it."""

    notify: bool | None = None
    sound: str | None = None  # a name of our own set, the path of a file, or "none"


class Llm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model that prompt and agent hooks ask: any endpoint that speaks the chat-completions API."""

    base_url: str
    model: str
    api_key_env: str = ""  # the variable of the tray's own environment that holds the key; "" = it wants none


class Exceptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the self-protection lets agents do all the same, once a person has confirmed it."""

    allow: list[str] = []


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything hooktray.yaml says besides `hooks:`."""

    alerts: dict[str, AlertRule] = {}
    when_down: Literal["once", "allow"] = "once"
    settle: Annotated[float, msgspec.Meta(ge=0.1, le=60)] = 3.0
    background: Seconds = 600.0
    llm: Llm | None = None
    protection: Exceptions = Exceptions()
    sources: list[dict[str, Any]] = []  # tray/sources/foreign.py knows what may stand there


KEYS = tuple(field.name for field in msgspec.structs.fields(Settings))


def read(document: Document) -> Settings:
    """Settings of a loaded hooktray.yaml; ConfigError names file, line, column, key, value and remedy."""
    if not isinstance(document.value, dict):
        raise ConfigError(
            f"{document.where(())}: expected keys such as `hooks:`, got {_shown(document.value)}",
            hint="write `hooks:` and indent its entries below it",
        )
    known = {key: value for key, value in document.value.items() if key != "hooks"}
    settings = convert(document, (), known, Settings, extra=("hooks",))
    for name in settings.alerts:
        if name not in CLASSES:
            raise unknown(document, ("alerts",), name, CLASSES)
    if settings.llm is not None:
        _reachable(document, settings.llm.base_url)
    return settings


def _reachable(document: Document, url: str) -> None:
    try:
        endpoint(url)
    except ValueError as error:
        hint = "write it like `base_url: https://llm.example.com/v1`"
        raise wrong(document, ("llm", "base_url"), str(error), hint) from None


def convert(document: Document, at: tuple[Any, ...], value: Any, kind: type[T], extra: tuple[str, ...] = ()) -> T:
    """`value`, found in the document at `at`, as `kind`."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _explained(document, at, value, kind, str(error), extra) from None


def unknown(document: Document, at: tuple[Any, ...], key: str, known: Any) -> ConfigError:
    """The error for a key nobody knows, with the nearest one that is known."""
    likely = nearest(key, known)
    hint = f"did you mean `{likely}`?" if likely else "known here: " + ", ".join(known)
    return ConfigError(
        f"{document.where((*at, key))}: {_dotted((*at, key))}: unknown key `{sanitise(key, 60)}`", hint=hint
    )


def wrong(document: Document, at: tuple[Any, ...], what: str, hint: str) -> ConfigError:
    """The error for a value that cannot be taken, at its place."""
    return ConfigError(f"{document.where(at)}: {_dotted(at)}: {what}", hint=hint)


def _explained(
    document: Document, at: tuple[Any, ...], value: Any, kind: type, text: str, extra: tuple[str, ...]
) -> ConfigError:
    message, _, path = text.partition(" - at `$")
    inner = tuple(int(n) if n else key for key, n in re.findall(r"\.([^.\[\]`]+)|\[(\d+)\]", path))
    if "[...]" in path:  # msgspec does not say which key of a mapping
        inner = _culprit(value, inner, kind)
    field = re.search(r"unknown field `(.*)`", message)
    if field:
        return unknown(document, (*at, *inner), field[1], _fields(kind, inner) + extra)
    found = value
    for step in inner:
        found = found[step] if isinstance(found, (dict, list)) else found
    expected = message.split(", got ")[0].replace("Expected", "expected")
    if "Invalid enum value" in message:
        words = get_args(get_type_hints(kind)[str(inner[0])] if inner else ())
        expected = "expected one of " + ", ".join(str(word) for word in words if word is not None)
    if "missing required field" in message:
        key = message.split("`")[1]
        return wrong(document, (*at, *inner), f"the key `{key}` is missing", f"add `{key}:` here")
    return wrong(document, (*at, *inner), f"{expected}, got {_shown(found)}", _remedy(expected))


def _culprit(value: Any, inner: tuple[Any, ...], kind: type) -> tuple[Any, ...]:
    """The path into a mapping whose key the message leaves out: try its entries one by one."""
    head = inner[0]
    for key, entry in value[head].items():
        try:
            msgspec.convert(entry, AlertRule)
        except msgspec.ValidationError:
            return (head, key, *inner[1:])
    return inner


def _fields(kind: type, inner: tuple[Any, ...]) -> tuple[str, ...]:
    struct = {"alerts": AlertRule, "llm": Llm}.get(str(inner[0]), kind) if inner else kind
    return tuple(field.name for field in msgspec.structs.fields(struct))


def _remedy(expected: str) -> str:
    for word, remedy in REMEDIES.items():
        if word in expected:
            return remedy
    return "see the settings table in the README"


REMEDIES = {
    ">= ": "write a larger number",
    "> ": "write a larger number",
    "<= ": "write a smaller number",
    "`bool": "write `true` or `false`",
    "`float": "write seconds, for example `timeout: 10`",
    "one of": "write one of these words",
    "`array": "write a list: `[a, b]`",
    "`object": "write keys below it, each on a line of its own and indented",
    "`str": "write text; put it in quotes when it begins with a special character",
}


def _shown(value: Any) -> str:
    return repr(value) if not isinstance(value, str) else f"`{sanitise(value, 60)}`"


def _dotted(at: tuple[Any, ...]) -> str:
    parts = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return sanitise(parts.lstrip("."), 120) or "the file"
