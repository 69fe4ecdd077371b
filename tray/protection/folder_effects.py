"""Finds commands that change everything below a folder that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby, islice, pairwise
from operator import attrgetter
from pathlib import PurePath

from tray.model.decision import Verdict
from tray.protection.file_effects import (
    EXEC_OPTIONS,
    FOLDER_KIND,
    MAX_FILES,
    MODE_CHANGERS,
    WRITERS,
    ProtectionFinding,
    deletes,
    only_grants,
    refuses_root,
)
from tray.protection.protected_paths import ProtectedPaths
from tray.shell.split import COMMAND_RUNNERS, ShellWord
from tray.text.words import word_set

REMOVERS = word_set(
    "del erase gio move-item mv rd remove-item ri rimraf rm rmdir shred srm trash trash-put unlink wipe"
)
DEPTH = 4  # names that are joined to one path
NODE_RUNNERS = word_set("bunx npx")  # run programs by the names of their packages
LISTERS = word_set("echo fd find ls printf")
MOUNTERS = word_set("fusermount mount umount")
CONTAINERS = word_set("docker nerdctl podman")  # run programs that see only the folders they are given
VOLUME = re.compile(r"(?:-v|--volume|--mount)(?:=(.*))?|-v([^=].*)", re.DOTALL)
BRACES = re.compile(r"([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)", re.DOTALL)
BOUND = re.compile(r"(?:^|,)(?:source|src)=([^,]*)")
READ_ONLY = re.compile(r"(?::|,)(?:ro|readonly)(?:$|,|=true)")
# Options to delete what is packed.
PACKERS = {"tar": word_set("--remove-files"), "zip": word_set("--move -m -mr -rm")}
RECURSIVE = re.compile(r"-[A-Za-z]*R[A-Za-z]*|--recursive")
NAME_FILTERS = word_set("-iname -ipath -iregex -iwholename -name -path -regex -wholename")  # of find
FD_PATTERN = re.compile(r"\^?(?:[\w.-]|\\\.)*\$?")  # of fd; any other may take its own time to be matched
FD_FLAG = re.compile(r"-[HIL0au]*(?:t[a-z])?|--(?:follow|hidden|no-ignore|print0|unrestricted)")  # without a value
REMOVING_CODE = re.compile(
    r"(?i)\brmtree\b|\brm(?:dir)?(?:sync)?\s*\(|remove_(?:tree|dir)|rm_rf?\b|unlink|\bos\.remove(?:dirs)?\b|\bDeno\.remove"
)
QUOTED_PATH = re.compile(r"'[~/][^'\n]*'|\"[~/][^\"\n]*\"|`[~/][^`\n]*`")
MOVED_PATH = re.compile(r"(?i)\b(?:rename(?:sync)?|move|mv)\s*\(\s*(?:[\w.]+\()?('[~/][^'\n]*'|\"[~/][^\"\n]*\")")
# How code names the home, joins paths, and shows them.
HOME_IN_CODE = re.compile(
    r"(?:(?:os\.path\.)?expanduser\(['\"]~['\"]\)|(?:pathlib\.)?Path\(['\"]~['\"]\)\.expanduser\(\)"
    r"|(?:pathlib\.)?Path\.home\(\)|(?:require\(['\"](?:node:)?os['\"]\)|\bos)\.homedir\(\)|\bhomedir\(\)"
    r"|\bDir\.home\b|\bprocess\.env\.HOME\b|(?:\$_?|\b)(?:process\.|Deno\.|os\.)?(?:ENV|SERVER|env|environ|getenv)"
    r"(?:\.get|\.fetch)?[\[({]['\"]?HOME['\"]?[\])}])"
)
HOME_NAME = re.compile(r"(?:^|(?<=[\s;]))(\w+)\s*=\s*\"~\"(?=\s*(?:[;\n]|$))")
JOINED = re.compile(
    r"((?<=join\()\"~[^\"\n]*(?=\",)|\"~[^\"\n]*(?=\"\s*[/+.]))\""
    r"(?:,\s*|\s*[/+]\s*|\.(?:r?glob|joinpath)\()(['\"])([^'\"\n]*)\2"
)
SHOWN = re.compile(r"\b(?:print|console\.log|puts|echo)[ (]\s*\"~\"")


def changed_folders(
    command: Sequence[ShellWord], program: str, cwd: str, protected: ProtectedPaths
) -> Iterator[ProtectionFinding]:
    """Yields findings about folders that a command removes, empties, or gives to a container."""
    texts = [word.text for word in command]
    name = program.lower()
    if program != "find" and program in COMMAND_RUNNERS | NODE_RUNNERS:
        name = next((one for one in map(_name, texts) if one in REMOVERS | MODE_CHANGERS), "")
    for word, path in ((one, path) for one in command for path in _alternatives(one.value or one.text)):
        if word.redirect or word.text == program or not protected.contains_protected(path, cwd):
            continue
        if not protected.kind(path, cwd) and _takes_away(word, texts, name, cwd, protected):
            is_wide = f"{protected.home}/".startswith(protected.absolute(path, cwd).rstrip("/") + "/")
            # A denial would come before the user's own hooks, which judge the home and the folders above it.
            yield _finding(path, cwd, protected, Verdict.DENY if name in WRITERS and not is_wide else Verdict.ASK)
    if program == "git" and (tree := _reset_tree(texts)):
        whole = protected.absolute(tree, cwd).rstrip("/") + "/"
        if any(place.startswith(whole) for place in protected.own):  # not the hooks of a project
            yield _finding(whole, cwd, protected)
    for path in (*_emptied_folders(texts, program), *_shared_folders(texts, program)):
        if protected.kind(path, cwd) or protected.contains_protected(path, cwd):
            yield _finding(path, cwd, protected)


def _alternatives(text: str) -> list[str]:
    """The words that a shell makes of braces: `~/{.config,.cache}`."""
    found = BRACES.fullmatch(text)
    return [f"{found[1]}{one}{found[3]}" for one in found[2].split(",")[:MAX_FILES]] if found else [text]


def listed_folders(words: Sequence[ShellWord], cwd: str, protected: ProtectedPaths) -> Iterator[ProtectionFinding]:
    """Yields folders with our files that one command of the line lists and another deletes: `ls -d ~ | xargs rm`."""
    for _, group in groupby(words, key=attrgetter("command")):
        command = [word.text for word in group]
        if command[0] in LISTERS:
            for text in command[1:]:
                selects = _fd_selects if command[0].startswith("fd") else _selects
                if protected.contains_protected(text, cwd) and selects(command, text, cwd, protected):
                    yield _finding(text, cwd, protected)


def removed_folders(code: str, cwd: str, protected: ProtectedPaths) -> Iterator[ProtectionFinding]:
    """Yields folders with our files that plain code names and may remove: `shutil.rmtree("/home/me")`."""
    pattern = QUOTED_PATH if REMOVING_CODE.search(code) else MOVED_PATH
    for quoted in islice(dict.fromkeys(pattern.findall(code)), MAX_FILES):
        if protected.contains_protected(quoted[1:-1], cwd):
            yield _finding(quoted[1:-1], cwd, protected)


def plain_code(code: str) -> str:
    """Returns the code with a quoted `~` for the user's home, joined with the names behind it."""
    code = re.sub(r'[$#]?\{"~"\}', "~", HOME_IN_CODE.sub('"~"', code))
    for name in islice(dict.fromkeys(HOME_NAME.findall(code)), DEPTH):
        code = re.sub(rf"(?<![\w.]){name}\b", '"~"', HOME_NAME.sub("", code))
    for _ in range(DEPTH):  # names that are joined one behind the other
        code = JOINED.sub(lambda found: f'{found[1]}/{found[3].lstrip("/*")}"', code)
    return SHOWN.sub("", code)


def _finding(path: str, cwd: str, protected: ProtectedPaths, verdict: Verdict = Verdict.ASK) -> ProtectionFinding:
    whole = protected.absolute(path, cwd)
    reason = f"{PurePath(whole).name or whole} is {FOLDER_KIND}; changing all of it is for a person:"
    return ProtectionFinding(verdict, reason, whole)


def _takes_away(word: ShellWord, texts: Sequence[str], name: str, cwd: str, protected: ProtectedPaths) -> bool:
    """True if the command deletes or moves the files below this folder, or changes their modes."""
    if refuses_root(protected.absolute(word.text, cwd), texts, name):
        return False
    if name in REMOVERS:
        return name != "mv" or not _is_destination(word, texts)
    if name in MODE_CHANGERS:
        return _takes_rights(texts, name)
    if name == "rsync":
        option = "--del" if word.text == _plain(texts)[-1] else "--remove-source"
        return any(one.startswith(option) for one in texts)
    if name in PACKERS:
        return not PACKERS[name].isdisjoint(texts)
    if name in ("fd", "fdfind"):
        removes = bool(EXEC_OPTIONS & set(texts) and REMOVERS & set(texts))
        return removes and _fd_selects(texts, word.text, cwd, protected)
    return name in MOUNTERS or (name == "find" and _find_takes_away(word, texts, cwd, protected))


def _emptied_folders(texts: Sequence[str], program: str) -> Iterator[str]:
    """Yields the folders in which `git clean` deletes untracked files."""
    if program != "git" or "clean" not in texts or {"--dry-run"} & set(texts):
        return
    place = texts.index("clean")
    flags = "".join(text for text in texts[place:] if text.startswith("-"))
    if "f" not in flags or re.search(r"(?:^|-)[a-zA-Z]*n", flags.replace("--exclude", "")):
        return
    yield next((after for text, after in pairwise(texts[:place]) if text == "-C"), ".")
    yield from (text for text in texts[place + 1 :] if not text.startswith("-"))


def _reset_tree(texts: Sequence[str]) -> str:
    """Returns the work tree that git writes anew, as in `git -C ~ reset --hard`; "" if it writes none."""
    given = set(texts)
    if not ({"reset", "--hard"} <= given or ({"checkout", "restore"} & given and {"-f", "--force", "."} & given)):
        return ""
    tree = next((text.partition("=")[2] for text in texts if text.startswith("--work-tree=")), "")
    return tree or next((after for text, after in pairwise(texts) if text in ("-C", "--work-tree")), ".")


def _shared_folders(texts: Sequence[str], program: str) -> Iterator[str]:
    """Yields the folders that a container is given and may write: `docker run -v ~/.config:/c`."""
    if program not in CONTAINERS:
        return
    for text, after in pairwise((*texts, "")):
        if found := VOLUME.fullmatch(text):
            given = found[2] or (found[1] if found[1] is not None else after)
            source = BOUND.search(given)
            if not READ_ONLY.search(given):
                yield source[1] if source else re.split(r"(?<!^[A-Za-z]):", given, maxsplit=1)[0]


def _selects(texts: Sequence[str], folder: str, cwd: str, protected: ProtectedPaths) -> bool:
    """True if the filters of `find` may select something of ours below this folder; other programs have none."""
    filters = [
        (text, pattern)
        for before, (text, pattern) in zip(("", *texts), pairwise(texts), strict=False)
        if text in NAME_FILTERS and before not in ("!", "-not")
    ]
    enough = any if {"-o", "-or"} & set(texts) else all
    places = protected.places_below(folder, cwd)
    return not filters or any(enough(_matches(text, pattern, place) for text, pattern in filters) for place in places)


def _fd_selects(texts: Sequence[str], folder: str, cwd: str, protected: ProtectedPaths) -> bool:
    """True if the patterns of `fd` may select something of ours below this folder."""
    end = next((number for number, text in enumerate(texts) if text in EXEC_OPTIONS), len(texts))
    given = [(before, text) for before, text in pairwise(texts[:end]) if text[:1] not in "-~/" and text != folder]
    endings = tuple(f".{text}".lower() for before, text in given if before in ("-e", "--extension"))
    patterns = [text.lower() for before, text in given if before[:1] != "-" or FD_FLAG.fullmatch(before)] or [""]
    if not all(map(FD_PATTERN.fullmatch, patterns)) or {"-p", "--full-path"} & set(texts):
        return True
    names = (name for place in protected.places_below(folder, cwd) for name in PurePath(place.lower()).parts)
    return any(re.search(pattern, name) for name in names if name.endswith(endings or "") for pattern in patterns)


def _matches(option: str, pattern: str, place: str) -> bool:
    low, wanted = place.lower(), pattern.lower()
    if option in ("-name", "-iname"):
        return any(fnmatchcase(part, wanted) for part in PurePath(low).parts)
    if option in ("-regex", "-iregex"):
        return True  # it takes its own time to be matched
    whole = PurePath(low)
    return any(fnmatchcase(one.as_posix(), wanted.removeprefix(".")) for one in (whole, *whole.parents))


def _find_takes_away(word: ShellWord, texts: Sequence[str], cwd: str, protected: ProtectedPaths) -> bool:
    roots = texts[: next((number for number, text in enumerate(texts) if text[:1] in ("-", "!", "(")), len(texts))]
    if word.text not in roots and any(text.startswith(("/", ".", "~")) for text in roots):
        return False  # it belongs to a filter
    return deletes(texts) and _selects(texts, word.text, cwd, protected)


def _name(text: str) -> str:
    return PurePath(text).name


def _plain(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if not text.startswith("-")] or [""]


def _is_destination(word: ShellWord, texts: Sequence[str]) -> bool:
    """True if the command moves files into the folder."""
    given = next((after for text, after in pairwise(texts) if text in ("-t", "--target-directory")), "")
    if not given and len(_plain(texts)) == 2:  # `mv x{,.old}`
        return False
    return word.text == (given or _plain(texts)[-1]) or word.text.startswith("--target-directory=")


def _takes_rights(texts: Sequence[str], program: str) -> bool:
    return any(RECURSIVE.fullmatch(text) for text in texts) or not only_grants(texts, program)
