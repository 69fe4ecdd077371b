"""Finds the sentences of an HTML template as they are written there, and translates each.

A sentence is the content between two block tags, or an attribute that people read: text, with inline tags, code and
Jinja's expressions as `{0}`, `{1}` in it. So templates are written in plain English, and none can be missed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tray.lazy_dataclass import dataclass, field

INLINE = frozenset({"a", "b", "bdi", "code", "em", "kbd", "strong"})
VERBATIM = frozenset({"pre", "script", "style"})
ATTRIBUTES = re.compile(r'(\b(?:aria-label|data-(?:cure|lost|many|one|used)|placeholder|title)=")([^"]*)(")')
JINJA = r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}"
TOKEN = re.compile(rf"<code>[^<]*</code>|{JINJA}|<(?:{JINJA}|[^<>])*>", re.DOTALL)
TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)")
WORD = re.compile(r"[\w-]*[A-Za-z]{2,}[\w-]*")
CALL = re.compile(r'\bsay\("([^"]+)"')
COUNT = re.compile(r'\bcount\("([^"]+)", "([^"]+)"')
NAMES = frozenset({"Hooktray", "SHA-256"})  # are the same in every language

Say = Callable[[str], str]


@dataclass(slots=True)
class Sentence:
    """What has been read of one so far: pieces of text, and what is between them."""

    parts: list[tuple[bool, str]] = field(default_factory=list)  # (whether it is text, source)

    def translated(self, say: Say) -> str:
        """The source, with the sentence in it translated; what only surrounds it stays where it is."""
        parts, before, after = list(self.parts), "", ""
        while len(parts) > 1 and (_blank(parts[0]) or 0 in _unpaired(parts)):
            before += parts.pop(0)[1]
        while len(parts) > 1 and (_blank(parts[-1]) or len(parts) - 1 in _unpaired(parts)):
            after = parts.pop()[1] + after
        if len(parts) > 2 and _pairs(parts):
            inner = Sentence(parts[1:-1]).translated(say)
            return f"{before}{parts[0][1]}{inner}{parts[-1][1]}{after}"
        return f"{before}{_translate_parts(parts, say)}{after}"


def translate_template(source: str, say: Say) -> str:
    """The template in the language of `say`."""
    return "".join(_translated(source, say))


def sentences(source: str) -> list[str]:
    """Every sentence of a template, those of its own calls of `say` included, in order."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    translate_template(source, note)
    return [*dict.fromkeys((*found, *CALL.findall(source)))]


def counts(source: str) -> list[tuple[str, str]]:
    """The sentences with a number in them, one and many."""
    return COUNT.findall(source)


def _translated(source: str, say: Say) -> Iterator[str]:
    sentence, at, verbatim, button = Sentence(), 0, "", False
    for token in TOKEN.finditer(source):
        text, word = source[at : token.start()], token[0]
        at = token.end()
        if verbatim:
            yield text + word
            verbatim = "" if word.startswith(f"</{verbatim}") else verbatim
            continue
        *lines, text = text.split("\n")
        for line in lines:  # a sentence is on one line
            sentence.parts.append((True, f"{line}\n"))
            yield sentence.translated(say)
            sentence = Sentence()
        sentence.parts.append((True, text))
        button = (word.startswith("<a ") and "class=" in word) or (button and not word.startswith("<a "))
        if _is_inline(word) and not (button and TAG.match(word)):
            sentence.parts.append((False, _translate_tag(word, say)))
            continue
        yield sentence.translated(say)
        yield _translate_tag(word, say)
        sentence = Sentence()
        button = button and word != "</a>"
        tag = TAG.match(word)
        verbatim = tag[2] if tag and not tag[1] and tag[2] in VERBATIM else ""
    sentence.parts.append((True, source[at:]))
    yield sentence.translated(say)


def _is_inline(word: str) -> bool:
    """Whether it may be in the middle of a sentence."""
    if word.startswith("{"):
        return word.startswith("{{")
    tag = TAG.match(word)
    return tag is not None and tag[2] in INLINE


def _translate_tag(word: str, say: Say) -> str:
    """A tag with its readable attributes translated."""
    if not word.startswith("<") or word.startswith("<code>"):
        return word
    return ATTRIBUTES.sub(lambda found: found[1] + _attribute(found[2], say) + found[3], word)


def _attribute(value: str, say: Say) -> str:
    parts = [(n % 2 == 0, part) for n, part in enumerate(re.split(f"({JINJA})", value))]
    return _translate_parts(parts, say)


def _translate_parts(parts: list[tuple[bool, str]], say: Say) -> str:
    source = "".join(part for _, part in parts)
    words = " ".join(part for is_text, part in parts if is_text)
    if not {word for word in WORD.findall(words) if "_" not in word} - NAMES:
        return source
    tokens = [part for is_text, part in parts if not is_text]
    numbers = iter(range(len(tokens)))
    text = "".join(part if is_text else f"{{{next(numbers)}}}" for is_text, part in parts)
    bare = " ".join(text.split())
    begin, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return begin + re.sub(r"\{(\d+)\}", lambda found: tokens[int(found[1])], say(bare)) + end


def _is_tag(part: tuple[bool, str]) -> bool:
    return not part[0] and part[1].startswith("<") and not part[1].startswith("<code>")


def _blank(part: tuple[bool, str]) -> bool:
    return part[0] and not part[1].strip()


def _pairs(parts: list[tuple[bool, str]]) -> bool:
    """Whether the first part is a tag and the last one is what closes it."""
    return (0, len(parts) - 1) in _matched(parts)[0]


def _unpaired(parts: list[tuple[bool, str]]) -> set[int]:
    """The tags whose other half is outside."""
    return _matched(parts)[1]


def _matched(parts: list[tuple[bool, str]]) -> tuple[set[tuple[int, int]], set[int]]:
    """Where tags open and close, and which have no other half."""
    pairs: set[tuple[int, int]] = set()
    opened: list[int] = []
    closed: set[int] = set()
    for number, part in enumerate(parts):
        if not _is_tag(part):
            continue
        if not part[1].startswith("</"):
            opened.append(number)
        elif opened:
            pairs.add((opened.pop(), number))
        else:
            closed.add(number)
    return pairs, closed | set(opened)
