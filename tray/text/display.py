"""Makes foreign text safe to show: nothing in it hides, moves or commands."""

from __future__ import annotations

import re
import unicodedata

PRINTABLE_LIMIT = 65_536  # characters
_MARKS = 8  # combining marks that one letter may carry; more would paint over the lines around it
_SLACK = 32  # characters looked at per character shown, so that normalising stays linear

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*+(?:\x07|\x1b\\|\x9c)"  # OSC and other strings
    r"|\x1b[ -/]*+[0-~]"
)
_BREAKS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]|\u2800")
_SPACES = re.compile(r"[\s\u2800]+")
_PLAIN = re.compile(r"(?:[!-~]++(?: [!-~]++)*+)?+")  # what most texts are: one line that can be shown as it is
_PLAIN_LINES = re.compile(r"(?!\n)[ -~\n]*+")  # the same of several lines, which end where the text does
_EMOJI = r"\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_LOOSE_JOINER = re.compile(rf"(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}])")
_HIDDEN = re.compile(
    "["
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # C0 and C1 that are no white space
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200c\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # format characters, bidi controls, tags
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0d"  # drawn as nothing
    r"\ud800-\udfff\ufdd0-\ufdef"  # lone surrogates, noncharacters
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))
    + "]+"
)


def sanitise(text: str, limit: int) -> str:
    """One line without anything that hides, moves or commands; a cut is marked with "…" and counted in `limit`."""
    if len(text) <= limit and _PLAIN.fullmatch(text):
        return text
    return _shorten(_SPACES.sub(" ", _visible(text)).strip(), limit)


def printable(text: str, limit: int = PRINTABLE_LIMIT) -> str:
    """The same for text of several lines: line breaks and indentation stay."""
    shown = text.rstrip()
    if len(shown) <= limit and _PLAIN_LINES.fullmatch(shown):
        return shown
    lines = _BREAKS.sub("\n", _visible(text)).replace("\t", "    ")
    return _shorten(_BLANKS.sub(" ", lines).strip("\n").rstrip(), limit)


def first_line(text: str, limit: int = 200) -> str:
    """The first line with something to see in it, sanitised."""
    lines = _BREAKS.sub("\n", _visible(text)).split("\n")
    return next((shown for line in lines if (shown := sanitise(line, limit))), "")


def escape_markup(text: str) -> str:
    """For servers that read markup: as html.escape without quotes; that module's table of entities takes 400 KB."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return _LOOSE_JOINER.sub("", _HIDDEN.sub("", _ESCAPES.sub("", text)))


def _shorten(text: str, limit: int) -> str:
    if limit < 1:
        return ""
    window = text[: limit * _SLACK]
    composed = window if window.isascii() else _compose(window).strip()
    if len(composed) <= limit and len(window) == len(text):
        return composed
    return composed[: _boundary(composed, min(limit - 1, len(composed)))].rstrip() + "…"


def _compose(text: str) -> str:
    # Marks are thinned before normalising, which sorts a run of them in quadratic time, and once more after it,
    # because it may add one by taking a letter apart.
    composed = _thin(unicodedata.normalize("NFC", _thin(text)))
    return _LOOSE_JOINER.sub("", composed)


def _thin(text: str) -> str:
    marks = set(filter(_is_mark, filter("\u02ff".__lt__, set(text))))
    if not marks:
        return text
    kept = []
    run = 0
    for char in text:
        run = run + 1 if char in marks else 0
        if run <= _MARKS:
            kept.append(char)
    return "".join(kept)


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char)[0] == "M"


def _boundary(text: str, cut: int) -> int:
    """The last place at or before `cut` that is not inside a letter with its marks or a joined emoji."""
    while 0 < cut < len(text) and (_continues(text[cut]) or text[cut - 1] == "\u200d"):
        cut -= 1
    return cut


def _continues(char: str) -> bool:
    return _is_mark(char) or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"
