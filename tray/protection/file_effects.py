"""What a command of a shell line does to the files that its words name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePath

import msgspec

from tray.model.decision import Verdict
from tray.paths import real_path
from tray.protection.protected_paths import (
    GUARD_KIND,
    MANAGED_TEXT,
    NO_ENVIRONMENTS,
    OWN_KIND,
    REMOVED_TEXT,
    ProtectedPaths,
    asked_kinds,
    changes_installation,
    hook_words,
    path_words,
    remade_environment,
    shell_lines,
)
from tray.protection.settings_edit import content_counts
from tray.shell.split import ShellWord
from tray.text.words import word_set

# They show, compare, print or make folders; none of them runs or writes a file that it names.
READERS = word_set(
    "[ [[ : awk basename bat cat cd cksum cmp comm cut diff dirname du echo egrep eza false fd fdfind fgrep file "
    "grep head hexdump jq less ls lsof man md5sum mkdir more nl od printf pwd readlink realpath rg sha1sum yamllint "
    "sha256sum shasum shellcheck sort stat strings tac tail test tr tree true type uniq wc which whereis xxd yq"
)
GIT_TEXT_COMMANDS = word_set("commit grep log show diff add blame status tag stash")  # of git
WRITERS = word_set(
    "chattr chmod chown cp dd ed ex install ln mv nano patch rename rm rmdir rsync sed setfacl shred sqlite3 tee "
    "touch truncate unlink vi vim"
)
NETWORK_PROGRAMS = word_set("curl nc ncat netcat socat wget websocat")
CONTENT_EDITORS = word_set("dasel jq tomlq yq")  # print an edited document
HINT = "ask your user to do it in the tray's menu"
GUARD_HINT = "allow it if the hook is to go by what this call writes"
TEXT_HINT = "allow it if you want these lines to run when the text is used"
ASKED_HINT = "allow it if this is what you want"
UNSEEN_TEXT = "and Hooktray cannot see what this command makes of it."
UNSEEN_HINT = "An edit by a file tool can be seen, and passes when it leaves the hooks as they are."
MAX_FILES = 200  # files of one text that are looked at
COPIERS = word_set("cp install ln mv rsync")
UNPACKERS = word_set("7z bsdtar cpio curl tar unzip wget")  # write below a folder, or a file, that they are given
FILTERS = word_set("-iname -ipath -iregex -name -newer -path -regex")  # of find: then it means other packages
STARTUP_HINT = re.compile(r"\.pth|customize|pyvenv", re.IGNORECASE)
EXEC_OPTIONS = word_set("-X -x --exec --exec-batch")  # of fd
CHANGERS = word_set("awk fd fdfind jq uniq yq")  # readers with an option to write
INTERPRETER = re.compile(r"(?:ba|da|z|k)?sh$|bun$|deno$|node$|perl$|php$|pypy|python|ruby$|source$|\.$")
CHANGING = re.compile(r"-\w*i\w*(?:\..*)?|--in-?place(?:=.*)?")
MODE_CHANGERS = word_set("attr chattr chgrp chmod chown setfacl")
# Modes that leave the owner's rights as they are.
HARMLESS_MODE = re.compile(r"[0-7]?7[0-7]{2}|[ugoa]*\+[rwxXst]+|[go]+[-=][rwxXst]*")
FOLDER_KIND = "a folder with Hooktray's own files"
MOVERS = word_set("chmod chown mv rm rmdir shred unlink")

# Files that code may name: no blank, no quote, no bracket, and a slash or a dot somewhere.
PATH_IN_CODE = re.compile(r"[^\s'\"`(){}<>,;=|&\[\]]*[/.][^\s'\"`(){}<>,;=|&\[\]]*")
PATCH_SIGN = re.compile(r"^\+", re.MULTILINE)
PATCH_TARGET = re.compile(r"^(?:\*\*\* (?:\w+ File|Move to): |(?:---|\+\+\+) (?:[ab]/)?)([^\t\n]+)", re.MULTILINE)
_CHANGES = "|".join(map(re.escape, sorted(WRITERS | MOVERS)))
CHANGES_LISTED_FILES = re.compile(rf"\b(?:xargs|parallel)\b[^|;&]*\b(?:{_CHANGES})\b")
CHANGES_GENERATED_FILES = re.compile(
    rf"\b(?:xargs|parallel)\b[^|;&]*\b(?:{_CHANGES})\b|(?:^|[\s;&|(])(?:{_CHANGES})\b[^|;&\n]*(?:\$\(|`)"
)


class ProtectionFinding(msgspec.Struct, frozen=True):
    """`subject` is what an exception may name: `hooktray off`, or the path. `hint` is what to do instead."""

    verdict: Verdict
    reason: str
    subject: str
    hint: str = HINT


def asked_reason(path: str, kind: str) -> str:
    """Returns why a change of this file, of one of `asked_kinds`, is asked about."""
    if kind == GUARD_KIND:
        return f"an approved hook goes by {PurePath(path).name}, and its approval does not cover that file;"
    return f"{PurePath(path).name} is {kind};"


def shell_text(path: str, cwd: str, protected: ProtectedPaths) -> ProtectionFinding:
    reason = f"{PurePath(path).name} is a text whose shell lines an agent runs by itself;"
    return ProtectionFinding(Verdict.ASK, reason, protected.absolute(path, cwd), TEXT_HINT)


def changed_text(
    word: ShellWord, texts: Sequence[str], program: str, line: str, cwd: str, protected: ProtectedPaths
) -> Iterator[ProtectionFinding]:
    """Returns a text for a model that a command writes, if it has shell lines or its content is unknown."""
    path = word.value or word.text
    lines = shell_lines(protected.absolute(path, cwd)) if path and "\0" not in path else None
    if lines is None or word.redirect == "<" or program in MOVERS - {"mv"} or not _may_change(word, texts, program):
        return
    if lines.search(line) or (program in COPIERS | UNPACKERS and not word.is_output):
        yield shell_text(path, cwd, protected)


def named_files(text: str, cwd: str, protected: ProtectedPaths) -> Iterator[ProtectionFinding]:
    """Files of ours that code names, whatever it does to them."""
    hints = (*hook_words(), *path_words(protected))
    words = (one for one in PATH_IN_CODE.findall(text) if any(hint in one.lower() for hint in hints))
    for one in islice(dict.fromkeys(words), MAX_FILES):
        if kind := protected.kind(one, cwd):
            reason = f"code names {PurePath(one).name}, {kind}; changing it is for a person:"
            yield ProtectionFinding(Verdict.ASK, reason, protected.absolute(one, cwd))
        elif (lines := shell_lines(protected.absolute(one, cwd))) and lines.search(text):
            yield shell_text(one, cwd, protected)
        elif (
            found := protected.environments.judge_write(protected.absolute(one, cwd))
        ) and found.verdict is Verdict.DENY:
            yield ProtectionFinding(Verdict.ASK, found.reason, found.path)


def patched_files(text: str, cwd: str, protected: ProtectedPaths) -> Iterator[ProtectionFinding]:
    """Files of ours that a patch changes."""
    for one in (found.strip() for found in PATCH_TARGET.findall(text)):
        if kind := protected.kind(one, cwd):
            reason = f"{PurePath(one).name} is {kind}; changing it is for a person:"
            verdict = Verdict.ASK if kind in asked_kinds() else Verdict.DENY
            yield ProtectionFinding(verdict, reason, protected.absolute(one, cwd))
        elif (lines := shell_lines(protected.absolute(one, cwd))) and lines.search(PATCH_SIGN.sub("", text)):
            yield shell_text(one, cwd, protected)
        elif found := protected.environments.judge_write(protected.absolute(one, cwd)):
            yield ProtectionFinding(found.verdict, found.reason, found.path)


def changed_environment(
    command: Sequence[ShellWord], texts: Sequence[str], program: str, cwd: str, protected: ProtectedPaths
) -> Iterator[ProtectionFinding]:
    """What a command does to the Python environments that we run from."""
    environments = protected.environments
    if environments == NO_ENVIRONMENTS:
        return
    if changes_installation(texts, program, cwd, environments):
        yield ProtectionFinding(Verdict.ASK, MANAGED_TEXT, f"{program} hooktray")
    if remade := remade_environment(texts, program, cwd, environments):
        yield ProtectionFinding(Verdict.ASK, f"{PurePath(remade).name} {REMOVED_TEXT}", remade)
    removes = program in MOVERS or _deletes(texts, program)
    for word in command:
        is_writer = (program in WRITERS or program in UNPACKERS or removes) and _may_change(word, texts, program)
        if word.redirect == "<" or not (word.is_output or is_writer):
            continue
        for path in _paths(word.value or word.text, cwd, protected):
            if refuses_root(path, texts, program):
                continue
            is_whole = removes and not (program in MODE_CHANGERS and environments.is_above(path))
            found = environments.judge_removal(path) if is_whole else environments.judge_write(path)
            if found:
                yield ProtectionFinding(found.verdict, found.reason, found.path)
    for path in _copied_to(texts, program):
        for whole in _paths(path, cwd, protected):
            if found := environments.judge_write(whole):
                yield ProtectionFinding(found.verdict, found.reason, found.path)


def _paths(text: str, cwd: str, protected: ProtectedPaths) -> tuple[str, ...]:
    """The path that a word names, as written and by whatever links it is reached."""
    if not text or "\0" in text:
        return ()
    whole = protected.absolute(text.removeprefix("of="), cwd)
    # The last name is kept: to remove a link removes what is there, not what it leads to.
    folder, name = os.path.split(whole)
    linked = os.path.join(real_path(folder), name).replace(os.sep, "/")  # noqa: PTH118
    return (whole,) if linked == whole else (whole, linked)


def _copied_to(texts: Sequence[str], program: str) -> Iterator[str]:
    if program in COPIERS:
        *sources, into = [text for text in texts if not text.startswith("-")] or [""]
        yield from (f"{into}/{PurePath(one).name}" for one in sources[1:])


def _deletes(texts: Sequence[str], program: str) -> bool:
    """Whether a program that does not remove as a rule does: `rsync --delete`, `find … -delete`."""
    if program == "rsync":
        return any(text.startswith("--del") for text in texts)
    if program != "find" or (FILTERS & set(texts) and not any(STARTUP_HINT.search(text) for text in texts)):
        return False
    return deletes(texts)


def refuses_root(path: str, texts: Sequence[str], program: str) -> bool:
    """True for `rm -rf /`, which every `rm` refuses by itself."""
    return program == "rm" and path == "/" and "--no-preserve-root" not in texts


def deletes(texts: Sequence[str]) -> bool:
    """True if this `find` deletes or changes what it finds."""
    runs = (after for text, after in pairwise(texts) if text in ("-exec", "-execdir", "-ok", "-okdir"))
    return "-delete" in texts or any(PurePath(after).name in WRITERS for after in runs)


def changed_files(
    word: ShellWord, texts: Sequence[str], program: str, cwd: str, protected: ProtectedPaths
) -> Iterator[ProtectionFinding]:
    """What a command does to a file of ours that one of its words names."""
    if word.redirect == "<":  # it is read
        return
    path = (word.value or word.text).removeprefix("of=")  # of dd
    kind = protected.kind(path, cwd)
    if not kind or not _may_change(word, texts, program):
        return
    if kind == GUARD_KIND and (_is_run(word, texts, program) or only_grants(texts, program)):
        return
    sure = (
        word.is_output
        or program in WRITERS
        or program == "sort"
        or (program in NETWORK_PROGRAMS and kind == "Hooktray's own")
    )
    whole = protected.absolute(path, cwd)
    if kind in asked_kinds():
        if kind == GUARD_KIND or word.is_output or program in WRITERS | UNPACKERS | {"git"}:
            hint = GUARD_HINT if kind == GUARD_KIND else ASKED_HINT
            yield ProtectionFinding(Verdict.ASK, asked_reason(path, kind), whole, hint)
        return
    if kind != OWN_KIND and _replaces_content(word, texts, program) and content_counts(whole):
        reason = f"{PurePath(path).name} is {kind}, {UNSEEN_TEXT}"
        yield ProtectionFinding(Verdict.ASK, reason, whole, UNSEEN_HINT)
        return
    verdict = Verdict.DENY if sure else Verdict.ASK
    reason = f"{PurePath(path).name} is {kind}; changing it is for a person:"
    yield ProtectionFinding(verdict, reason, whole)


def _is_run(word: ShellWord, texts: Sequence[str], program: str) -> bool:
    """True if the word is the script that an interpreter runs."""
    place = next((number for number, text in enumerate(texts) if PurePath(text).name == program), 0)
    script = next((text for text in texts[place + 1 :] if not text.startswith("-")), "")
    return (
        not word.redirect
        and program not in WRITERS
        and word.text == script
        and INTERPRETER.match(program) is not None
    )


def only_grants(texts: Sequence[str], program: str) -> bool:
    """True for `chmod +x` and the like, which leave a file's text and its owner's rights."""
    mode = next((text for text in texts[1:] if not re.match(r"-[a-z]{2,}|--", text)), "")
    return program == "chmod" and all(HARMLESS_MODE.fullmatch(one) for one in mode.split(","))


def _replaces_content(word: ShellWord, texts: Sequence[str], program: str) -> bool:
    """Whether the file gets a content that the line does not show: `jq … > new && mv new settings.json`."""
    if word.is_output:
        return program in CONTENT_EDITORS
    plain = [text for text in texts if not text.startswith("-")]
    is_copy = program in ("cp", "install", "mv") and len(plain) == 3 and word.text == plain[-1]
    return is_copy and not plain[1].startswith("/dev/")


def created_files(
    texts: Sequence[str], program: str, cwd: str, protected: ProtectedPaths
) -> Iterator[ProtectionFinding]:
    """What is put into a folder under a name that makes it one of ours: `cp -r x/hooktray ~/.config`."""
    if program not in COPIERS:
        return
    plain = [text for text in texts if not text.startswith("-")] or [""]
    given = next((after for text, after in pairwise(texts) if text in ("-t", "--target-directory")), "")
    into = given or plain[-1]
    for name in dict.fromkeys(PurePath(one).name for one in plain[1:] if one != into):
        is_above = name and program != "ln" and protected.contains_protected(f"{into}/{name}", cwd)
        kind = protected.kind(f"{into}/{name}", cwd) if name else ""
        if kind := kind or (FOLDER_KIND if is_above else ""):
            reason = f"it may become {name}, {kind}; changing it is for a person:"
            yield ProtectionFinding(Verdict.ASK, reason, protected.absolute(f"{into}/{name}", cwd))


def _last_argument(texts: Sequence[str]) -> str:
    return next((text for text in reversed(texts) if not text.startswith("-")), "")


def _may_change(word: ShellWord, texts: Sequence[str], program: str) -> bool:
    """Whether the command may change what this word names."""
    if word.is_output:
        return True
    if program == "sort" and any(text.startswith(("-o", "--output")) for text in texts):
        return True
    if program in CHANGERS and _changes(word, texts, program):
        return True
    if program in READERS or PurePath(word.text).name == program:
        return False
    if program == "rsync":
        return word.text == _last_argument(texts) or any(text.startswith("--remove-source") for text in texts)
    if program in ("cp", "install", "scp"):
        return word.text == _last_argument(texts) or "-t" in texts
    if program == "sed":
        return any(CHANGING.fullmatch(text) for text in texts[1:])
    if program == "find":
        return any(text in ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint") for text in texts)
    if program == "sqlite3":
        return "-readonly" not in texts
    return not (program == "git" and GIT_TEXT_COMMANDS & set(texts[:4]))


def _changes(word: ShellWord, texts: Sequence[str], program: str) -> bool:
    """Whether a program that only reads as a rule has an option to write."""
    if program == "uniq":
        return word.text == texts[-1] and sum(not text.startswith("-") for text in texts) > 2
    return bool(EXEC_OPTIONS & set(texts) if program.startswith("fd") else any(map(CHANGING.fullmatch, texts[1:])))
