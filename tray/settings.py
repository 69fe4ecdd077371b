"""hooktray.yaml without its hooks: a typed Settings, and errors that name the place and the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from tray.addresses import endpoint
from tray.errors import ConfigError
from tray.strict.document import Document, nearest, suggest
from tray.text import push_urls, sanitise

T = TypeVar("T")

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86400)]

ClassName = Literal[
    "turn_end",
    "session_end",
    "needs_you",
    "asked",
    "blocked",
    "rewritten",
    "note",
    "hook_failed",
    "hook_timed_out",
    "unjudged",
    "approval_pending",
    "changed",
    "switched",
    "information",
]
CLASSES: tuple[ClassName, ...] = get_args(ClassName)
PUSH_CLASSES: tuple[ClassName, ...] = ("needs_you", "asked", "turn_end")
MAX_PUSH = 8  # addresses
SOUNDS = ("alarm", "bell", "chime", "fall", "low", "tick")  # our own, in tray/notify/sounds


def ready_for_threads(kind: type[T]) -> type[T]:
    """The same class, with what msgspec notes about it at its first use.

    Two threads that were the first users at once crashed the interpreter (msgspec 0.22).
    """
    msgspec.json.Decoder(kind)
    return kind


class AlertRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one class of alerts does; what is not given stays as the class has it."""

    notify: bool | None = None
    sound: str | None = None  # a name of our own set, the path of a file, or "none"
    urgency: Literal["low", "normal", "critical"] | None = None
    sound_name: str | None = None  # of the desktop's sound theme, for servers that play sounds; ours is silent then


def overlay(rule: AlertRule | None, default: AlertRule | None) -> AlertRule:
    """The rule, key by key, with the other one's values where it has none."""
    if rule is None or default is None:
        return rule or default or AlertRule()
    return AlertRule(
        notify=default.notify if rule.notify is None else rule.notify,
        sound=default.sound if rule.sound is None else rule.sound,
        urgency=rule.urgency or default.urgency,
        sound_name=default.sound_name if rule.sound_name is None else rule.sound_name,
    )


TimeOfDay = Annotated[str, msgspec.Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class QuietHours(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"begin": "from", "end": "to"}):
    """The hours in which only what is critical is shown, without a sound; `days` are those they begin on."""

    begin: TimeOfDay
    end: TimeOfDay
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]] = []  # [] = every day


class PushTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where notifications are pushed to: a service by its Apprise URL, which is a secret, and which of them."""

    url: str  # or the reference of one that the secret store keeps
    when: Literal["away", "always"] = "away"
    classes: list[ClassName] = msgspec.field(default_factory=lambda: list(PUSH_CLASSES))
    show_input: bool = False  # the notification's text, too, which `show_input: false` above still hides


class AskOnDesktop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose questions are put to the user on the desktop, and how long they wait there."""

    agents: list[str] = []
    seconds: Annotated[float, msgspec.Meta(ge=5, le=590)] = 60.0


class Llm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model that prompt and agent hooks ask: any endpoint that speaks the chat-completions API."""

    base_url: str
    model: str
    api_key_env: str = ""  # the variable of the tray's own environment that holds the key; "" = it wants none


class ProtectionExceptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the self-protection lets agents do all the same, once a person has confirmed it."""

    allow: list[str] = []


class JournalLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much the journal keeps; the oldest decisions go first."""

    days: Annotated[float, msgspec.Meta(gt=0, le=36500)] = 90.0
    rows: Annotated[int, msgspec.Meta(ge=100, le=10_000_000)] = 200_000
    megabytes: Annotated[float, msgspec.Meta(ge=1, le=1_000_000)] = 500.0


@ready_for_threads
class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything in hooktray.yaml besides `hooks:`."""

    alerts: dict[str, AlertRule] = {}
    projects: dict[str, dict[str, AlertRule]] = {}  # the same for one project, by the last part of its folder
    quiet_hours: QuietHours | None = None
    show_input: bool = True
    min_turn_seconds: Seconds = 0.0
    notify_headless: bool = False
    while_looking: Literal["hold", "silent", "show"] = "hold"
    away_after: Annotated[float, msgspec.Meta(ge=0, le=1440)] = 5.0  # minutes; 0 = never
    sound_pack: str = ""  # the folder of one; "" = our own sounds
    speak: bool = False
    volume: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    push: list[PushTarget] = []
    ask_on_desktop: AskOnDesktop = AskOnDesktop()
    without_tray: Literal["once", "allow"] = "once"
    turn_quiet_seconds: Annotated[float, msgspec.Meta(ge=0.1, le=60)] = 3.0
    background_seconds: Seconds = 600.0
    journal: JournalLimits = JournalLimits()
    llm: Llm | None = None
    protection: ProtectionExceptions = ProtectionExceptions()
    sources: list[dict[str, Any]] = []  # tray/sources/external.py checks them


KEYS = Settings.__struct_fields__


def read(document: Document) -> Settings:
    """Settings of a loaded hooktray.yaml; ConfigError names file, line, column, key, value and remedy."""
    if not isinstance(document.value, dict):
        raise ConfigError(
            f"{document.location(())}: expected keys such as `hooks:`, got {_shown(document.value)}",
            hint="write `hooks:` and indent its entries below it",
        )
    known = {key: value for key, value in document.value.items() if key != "hooks"}
    settings = convert(document, (), known, Settings, extra=("hooks",))
    places = {("alerts",): settings.alerts} | {("projects", one): rules for one, rules in settings.projects.items()}
    for place, rules in places.items():
        for name in rules:
            if name not in CLASSES:
                raise unknown_key(document, place, name, CLASSES)
    if settings.llm is not None:
        _check_url(document, settings.llm.base_url)
    _check_push(document, settings.push)
    return settings


def _check_url(document: Document, url: str) -> None:
    try:
        endpoint(url)
    except ValueError as error:
        hint = "write it like `base_url: https://llm.example.com/v1`"
        raise invalid_value(document, ("llm", "base_url"), str(error), hint) from None


def _check_push(document: Document, targets: Sequence[PushTarget]) -> None:
    """Their URLs are secrets, so no error shows one."""
    if len(targets) > MAX_PUSH:
        raise invalid_value(document, ("push",), f"there are {len(targets)}", f"keep at most {MAX_PUSH} of them")
    for number, one in enumerate(targets):
        if problem := push_urls.problem(one.url):
            hint = "write it as Apprise does, `ntfy://topic`, or what `hooktray push add` printed"
            raise invalid_value(document, ("push", number, "url"), problem, hint)
        if push_urls.reference(one.url) in [push_urls.reference(other.url) for other in targets[:number]]:
            hint = "keep one of them, with all of its classes"
            raise invalid_value(document, ("push", number, "url"), "the same address is there already", hint)


def convert(document: Document, at: tuple[Any, ...], value: Any, kind: type[T], extra: tuple[str, ...] = ()) -> T:
    """`value`, found in the document at `at`, as `kind`."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _explained(document, at, value, kind, str(error), extra) from None


def unknown_key(document: Document, at: tuple[Any, ...], key: str, known: Any) -> ConfigError:
    """The error for an unknown key, with the nearest known one."""
    shown = (*at, push_urls.masked(key) if at[:1] == ("push",) else key)
    what = f"{document.location((*at, key))}: {_dotted(shown)}: unknown key `{sanitise(str(shown[-1]), 60)}`"
    return ConfigError(what, hint=suggest(key, known))


def invalid_value(document: Document, at: tuple[Any, ...], what: str, hint: str) -> ConfigError:
    """The error for a value that cannot be taken, at its place."""
    return ConfigError(f"{document.location(at)}: {_dotted(at)}: {what}", hint=hint)


def _explained(
    document: Document, at: tuple[Any, ...], value: Any, kind: type, text: str, extra: tuple[str, ...]
) -> ConfigError:
    message, _, path = text.partition(" - at `$")
    inner = _steps(value, kind, path)
    field = re.search(r"unknown field `(.*)`", message)
    if field:
        return unknown_key(document, (*at, *inner), field[1], _fields(kind, inner) + (() if inner else extra))
    actual = value
    for step in inner:
        actual = actual[step] if isinstance(actual, (dict, list)) else actual
    if inner[:1] == ("push",) and not {"when", "classes"}.intersection(inner):
        actual = push_urls.hidden(actual)  # it may be, or hold, the URL
    expected = message.split(", got ")[0].replace("Expected", "expected")
    if "Invalid enum value" in message:
        words = get_args(_type(kind, inner))
        likely = nearest(actual, words) if isinstance(actual, str) else ""
        remedy = f"did you mean `{likely}`?" if likely else "write one of these words"
        return invalid_value(
            document, (*at, *inner), f"expected one of {', '.join(words)}, got {_shown(actual)}", remedy
        )
    if "missing required field" in message:
        key = message.split("`")[1]
        return invalid_value(document, (*at, *inner), f"the key `{key}` is missing", f"add `{key}:` here")
    remedy = _remedy(expected, str(inner[-1]) if inner else "")
    return invalid_value(document, (*at, *inner), f"{_plain(expected)}, got {_shown(actual)}", remedy)


STEP = re.compile(r"\.([^.\[\]`]+)|\[(\d+)\]|(\[\.\.\.\])")


def _steps(value: Any, kind: Any, path: str) -> tuple[Any, ...]:
    """The path as keys; where msgspec does not say which key of a mapping it means, its entries are tried."""
    steps: tuple[Any, ...] = ()
    for name, number, one_of in STEP.findall(path):
        step = int(number) if number else name
        if one_of:
            broken = (key for key, entry in value.items() if not _is_valid(entry, _type(kind, (*steps, key))))
            step = next(broken, "")
        steps = (*steps, step)
        if isinstance(value, (dict, list)) and (step in value if isinstance(value, dict) else isinstance(step, int)):
            value = value[step]
    return steps


def _is_valid(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _type(kind: Any, steps: tuple[Any, ...]) -> Any:
    """The type at the end of a path, without its "or nothing"."""
    for step in steps:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            names = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
            kind = get_type_hints(kind)[names[str(step)]]
        else:  # a list of, or a mapping to
            kind = (*get_args(kind), Any)[1 if get_origin(kind) is dict else 0]
        if get_origin(kind) in (Union, UnionType):
            kind = next(one for one in get_args(kind) if one is not NoneType)
    return kind


def _fields(kind: Any, steps: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(_type(kind, steps)))


def _remedy(expected: str, key: str) -> str:
    for word, remedy in REMEDIES.items():
        if word in expected:
            return remedy or NUMBERS.get(key, f"write seconds, for example `{key}: 10`")
    return "see docs/settings.md"


REMEDIES = {
    ">= ": "write a larger number",
    "> ": "write a larger number",
    "<= ": "write a smaller number",
    "`int": "write a whole number",
    "`bool": "write `true` or `false`",
    "`float": "",  # by its key
    "`array": "write a list: `[a, b]`",
    "`object": "write keys below it, each on a line of its own and indented",
    "matching regex": 'write hours and minutes in quotes: `"22:00"`',
    "`str": "write text; put it in quotes when it begins with a special character",
}


# Numbers that are no seconds.
NUMBERS = {
    "days": "write days, for example `days: 90`",
    "megabytes": "write megabytes, for example `megabytes: 500`",
    "volume": "write a number from 0 to 1: `volume: 0.5`",
}


def _plain(expected: str) -> str:
    """What was expected, in the words of people instead of those of types."""
    if "matching regex" in expected:
        return "expected a time of day"
    expected = re.sub(r"`([^`]*)`", _either, re.sub(r"\.0\b", "", expected))
    return expected.replace(" >= ", " of at least ").replace(" <= ", " of at most ").replace(" > ", " above ")


def _either(types: re.Match[str]) -> str:
    return " or ".join(KINDS.get(kind, kind) for kind in types[1].split(" | ") if kind != "null")


KINDS = {
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
    "array": "a list",
    "object": "keys with values",
    "str": "text",
}


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"`{sanitise(value, 60)}`"
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _dotted(at: tuple[Any, ...]) -> str:
    parts = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return sanitise(parts.lstrip("."), 120) or "the file"
