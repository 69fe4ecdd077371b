"""Checks that the sounds of alerts exist; a warning names place and remedy before an alert stays silent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tray.errors import ConfigError
from tray.settings import SOUNDS, AlertRule, Settings, invalid_value
from tray.sources import sound_pack
from tray.strict.document import Document, nearest

KeyPath = tuple[Any, ...]

NONE = ("", "none")  # how a user writes "no sound"
THEMES = "/usr/local/share:/usr/share"
PROBLEMS_SHOWN = 3  # sounds of a pack that are named
ENDINGS = ("oga", "ogg", "wav", "disabled")


def check(document: Document, settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """One warning for each name that would play no sound."""
    pack = (str(invalid_value(document, ("sound_pack",), *found)) for found in _pack_problems(settings.sound_pack))
    return *pack, *(
        str(invalid_value(document, (*at, key), what, remedy))
        for at, rule in _rules(settings)
        for key, (what, remedy) in (
            ("sound", _sound_problem(rule.sound)),
            ("sound_name", _theme_sound_problem(rule.sound_name, environment)),
        )
        if what
    )


def _pack_problems(path: str) -> Iterator[tuple[str, str]]:
    """Each with its remedy."""
    if not path:
        return
    try:
        pack = sound_pack.read_pack(path)
    except ConfigError as error:
        yield error.message, error.hint
        return
    found = list(sound_pack.problems(pack))
    yield from ((what, "our own sound is played instead; correct the pack") for what in found[:PROBLEMS_SHOWN])
    if len(found) > PROBLEMS_SHOWN:
        yield f"{len(found) - PROBLEMS_SHOWN} more of its sounds cannot be played", "use another pack"


def files(settings: Settings) -> tuple[str, ...]:
    """The user's own files, watched: a missing one may be added later."""
    sounds = (Path(rule.sound).expanduser() for _, rule in _rules(settings) if rule.sound)
    pack = (Path(settings.sound_pack).expanduser(),) if settings.sound_pack else ()
    return tuple(str(path) for path in (*sounds, *pack) if path.is_absolute())


def _rules(settings: Settings) -> Iterator[tuple[KeyPath, AlertRule]]:
    for name, rule in settings.alerts.items():
        yield ("alerts", name), rule
    for project, rules in settings.projects.items():
        for name, rule in rules.items():
            yield ("projects", project, name), rule


def _sound_problem(sound: str | None) -> tuple[str, str]:
    if sound is None or sound in (*NONE, *SOUNDS):
        return "", ""
    path = Path(sound).expanduser() if sound.startswith("~") else Path(sound)
    if path.is_absolute():
        return ("", "") if path.is_file() else (f"{path} is not a file", "put the sound there, or name one of ours")
    likely = nearest(sound, SOUNDS)
    hint = f"did you mean `{likely}`?" if likely else f"there are {', '.join(SOUNDS)}, or write a file's whole path"
    return f"no sound is called {sound!r}", hint


def _theme_sound_problem(name: str | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """Only Linux has notification servers that play a theme's sounds by name."""
    if not name or sys.platform != "linux":
        return "", ""
    known = _theme_sounds(environment)
    if not known:
        return "no sound theme is installed here", "install sound-theme-freedesktop, or write `sound:` instead"
    if name in known:
        return "", ""
    likely = nearest(name, known)
    hint = f"did you mean `{likely}`?" if likely else "such as message-new-instant, complete or bell"
    return f"no installed sound theme has {name!r}", hint


def _theme_sounds(environment: Mapping[str, str]) -> set[str]:
    """The names of all sounds of all themes."""
    home = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    folders = (home, *(environment.get("XDG_DATA_DIRS") or THEMES).split(":"))
    return {
        path.stem
        for folder in folders
        if Path(folder).is_absolute()
        for ending in ENDINGS
        for path in Path(folder, "sounds").rglob(f"*.{ending}")
    }
