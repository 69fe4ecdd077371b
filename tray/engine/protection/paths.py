"""What a command of a shell line does to the files that its words name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath

from tray.engine.protection.places import Places, hints
from tray.engine.shell_line import Word
from tray.model.decision import Verdict


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They show, compare or say; none of them runs or writes what it names.
READERS = names(
    "[ [[ : awk basename bat cat cd cmp comm cut diff dirname echo egrep false fgrep file grep head hexdump jq less "
    "ls lsof man md5sum more od printf pwd readlink realpath rg sha256sum sort stat strings tail test tr tree true "
    "type uniq wc which whereis xxd"
)
TALKERS = names("commit grep log show diff add blame status tag stash")  # of git
WRITERS = names(
    "chattr chmod chown cp dd ed ex install ln mv nano patch rename rm rmdir rsync sed setfacl shred sqlite3 tee "
    "touch truncate unlink vi vim"
)
REACHING = names("curl nc ncat netcat socat wget websocat")
MOST = 200  # files of one text that are looked at
TELLING = (".claude", ".x-code", "agent.y", "autostart", "hook", "settings")
ARRIVING = names("cp install ln mv rsync")
CHANGERS = names("awk jq uniq")  # readers that may be told to write
CHANGING = re.compile(r"-\w*i\w*(?:\..*)?|--in-place(?:=.*)?")
MOVERS = names("chmod chown mv rm rmdir shred unlink")


# Files that code may name: no blank, no quote, no bracket, and a slash or a dot somewhere.
INSIDE = re.compile(r"[^\s'\"`(){}<>,;=|&\[\]]*[/.][^\s'\"`(){}<>,;=|&\[\]]*")
PATCHED = re.compile(r"^(?:\*\*\* (?:\w+ File|Move to): |(?:---|\+\+\+) (?:[ab]/)?)([^\t\n]+)", re.MULTILINE)
_CHANGES = "|".join(map(re.escape, sorted(WRITERS | MOVERS)))
HANDED = re.compile(
    rf"\b(?:xargs|parallel)\b[^|;&]*\b(?:{_CHANGES})\b|(?:^|[\s;&|(])(?:{_CHANGES})\b[^|;&\n]*(?:\$\(|`)"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject` is what an exception may name: `hooktray off`, or the path."""

    verdict: Verdict
    what: str
    subject: str


def named(text: str, cwd: str, places: Places) -> Iterator[Finding]:
    """Files of ours that code names, whatever it does to them."""
    telling = (*TELLING, *hints(places))
    words = (one for one in INSIDE.findall(text) if any(part in one.lower() for part in telling))
    for one in islice(dict.fromkeys(words), MOST):
        if kind := places.kind(one, cwd):
            what = f"code names {PurePath(one).name}, {kind}; changing it is for a person:"
            yield Finding(Verdict.ASK, what, places.absolute(one, cwd))


def patched(text: str, cwd: str, places: Places) -> Iterator[Finding]:
    """Files of ours that a patch changes."""
    for one in (found.strip() for found in PATCHED.findall(text)):
        if kind := places.kind(one, cwd):
            what = f"{PurePath(one).name} is {kind}; changing it is for a person:"
            yield Finding(Verdict.DENY, what, places.absolute(one, cwd))


def touched(word: Word, texts: Sequence[str], leader: str, cwd: str, places: Places) -> Iterator[Finding]:
    """What a command does to a file of ours that one of its words names."""
    if word.redirected == "<":  # it is read
        return
    path = (word.named or word.text).removeprefix("of=")  # of dd
    kind = places.kind(path, cwd)
    if not kind and leader in MOVERS and word.text != leader and places.holds(path, cwd):
        kind = "a folder with Hooktray's own files"
    if not kind or not _touches(word, texts, leader):
        return
    sure = word.written or leader in WRITERS or leader == "sort" or (leader in REACHING and kind == "Hooktray's own")
    verdict = Verdict.DENY if sure else Verdict.ASK
    where = places.absolute(path, cwd)
    yield Finding(verdict, f"{PurePath(path).name} is {kind}; changing it is for a person:", where)


def arriving(texts: Sequence[str], leader: str, cwd: str, places: Places) -> Iterator[Finding]:
    """What is put into a folder under a name that makes it one of ours: `cp -r x/.claude ~/`."""
    if leader not in ARRIVING:
        return
    *sources, into = [text for text in texts if not text.startswith("-")] or [""]
    for name in dict.fromkeys(PurePath(one).name for one in sources[1:]):
        if kind := places.kind(f"{into}/{name}", cwd) if name else "":
            what = f"it may become {name}, {kind}; changing it is for a person:"
            yield Finding(Verdict.ASK, what, places.absolute(f"{into}/{name}", cwd))


def _last(texts: Sequence[str]) -> str:
    return next((text for text in reversed(texts) if not text.startswith("-")), "")


def _touches(word: Word, texts: Sequence[str], leader: str) -> bool:
    """Whether the command may change what this word names."""
    if word.written:
        return True
    if leader == "sort" and any(text.startswith(("-o", "--output")) for text in texts):
        return True
    if leader in CHANGERS and _changes(word, texts, leader):
        return True
    if leader in READERS or PurePath(word.text).name == leader:
        return False
    if leader in ("cp", "install", "rsync"):
        return word.text == _last(texts) or "-t" in texts
    if leader == "sed":
        return any(CHANGING.fullmatch(text) for text in texts[1:])
    if leader == "find":
        return any(text in ("-delete", "-exec", "-execdir", "-ok", "-fprint") for text in texts)
    if leader == "sqlite3":
        return "-readonly" not in texts
    return not (leader == "git" and TALKERS & set(texts[:4]))


def _changes(word: Word, texts: Sequence[str], leader: str) -> bool:
    """Whether what only reads as a rule is told to write."""
    if leader == "uniq":
        return word.text == texts[-1] and sum(not text.startswith("-") for text in texts) > 2
    return "-i" in texts
