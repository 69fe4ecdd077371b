"""The texts that people read, in their language: English as in the code, else a catalogue from here.

`say` translates a sentence, `count` one with a number in it; `phrase` and `plural` mark those in a table that are
translated later. Templates have `_` and `ngettext` instead. `python docs/catalogues.py` collects all of them.
"""

from __future__ import annotations

import gettext
import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

if sys.platform == "win32":
    import ctypes
    import locale

FOLDER = Path(__file__).parent
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # the first one that is set decides
TRADITIONAL = ("zh_tw", "zh_hk", "zh_mo", "zh_hant")  # no catalogue for these readers yet


def say(text: str, **values: object) -> str:
    """The sentence in the reader's language; what it names goes in as values, never into the text itself."""
    translated = _catalogue(pick_language()).gettext(text)
    return translated.format(**values) if values else translated


def count(one: str, many: str, n: int, **values: object) -> str:
    """The sentence for so many things; `{n}` is their number."""
    return _catalogue(pick_language()).ngettext(one, many, n).format(n=n, **values)


def phrase(text: str) -> str:
    """A sentence of a table, as it is: the code that shows it calls `say`."""
    return text


def plural(one: str, many: str) -> tuple[str, str]:
    """The two forms of a sentence of a table, as they are: the code that shows it calls `count`."""
    return one, many


def pick_language(environment: Mapping[str, str] = os.environ) -> str:
    """Which catalogue the reader wants: `en` or `zh_CN`."""
    wanted = next((environment[name] for name in VARIABLES if environment.get(name)), "") or _desktop()
    return next((found for word in wanted.split(":") if (found := _known(word))), "en")


def _known(locale: str) -> str:
    name = locale.split(".")[0].split("@")[0].replace("-", "_").lower()
    if name == "zh" or (name.startswith("zh_") and not name.startswith(TRADITIONAL)):
        return "zh_CN"
    return "en" if name.split("_")[0] in ("en", "c", "posix") else ""


@cache
def _desktop() -> str:
    """Programs that a desktop starts have no such variables on macOS and Windows: there the system knows."""
    if sys.platform == "win32":
        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    if sys.platform == "darwin":
        try:
            return str(import_module("Foundation").NSLocale.preferredLanguages()[0])
        except (ImportError, IndexError):
            return ""
    return ""


@cache
def _catalogue(name: str) -> gettext.NullTranslations:
    path = FOLDER / f"{name}.mo"
    if not path.exists():
        return gettext.NullTranslations()
    with path.open("rb") as file:
        return gettext.GNUTranslations(file)
