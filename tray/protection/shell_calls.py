"""What a shell line does to Hooktray or to an agent's hook settings, as far as its words tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice, pairwise
from operator import attrgetter
from pathlib import PurePath

from tray.model.decision import Verdict
from tray.paths import repository
from tray.protection.evasion import (
    EXPORTERS,
    UNCLEAR_TEXT,
    assigned_names,
    find_disabled_hooks,
    find_ending,
    find_evasion,
    is_folder,
)
from tray.protection.file_effects import (
    CHANGES_GENERATED_FILES,
    CHANGES_LISTED_FILES,
    EXEC_OPTIONS,
    GIT_TEXT_COMMANDS,
    READERS,
    WRITERS,
    ProtectionFinding,
    changed_environment,
    changed_files,
    changed_text,
    created_files,
    named_files,
    patched_files,
)
from tray.protection.folder_effects import REMOVING_CODE, changed_folders, listed_folders, plain_code, removed_folders
from tray.protection.protected_paths import ProtectedPaths, glob_matches
from tray.shell.split import KEYWORDS, TOO_LONG, WRAPPERS, HereDocument, ShellWord, parse, substitutions
from tray.text.words import word_set

DEPTH = 5

PROTECTED_VERBS = word_set("approve connect deny disconnect import-hooks off pause revoke")
ALLOWED_VERBS = word_set(
    "agents completion config doctor export help list log on paths replay run schema sessions stats status test why"
)
ASKED_VERBS = word_set("approvals autostart focus once open passphrase push relay review")
VERBS = ASKED_VERBS | ALLOWED_VERBS | PROTECTED_VERBS
UNKNOWN_VERB = re.compile(r"[$`{}%^!()]|^[@:]")  # what is put in later may become a verb: `$x`, `{}`, `%x%`
RENAMERS = word_set("alias cp dd hash install ln mv parallel rsync scp xargs")  # give a program another name
URL = re.compile(r"(?i)(?:git\+)?(?:https?|ssh|git)://|[\w.-]+@[\w.-]+:")
SHELLS = word_set(
    "ash at bash batch crontab dash eval expect fish gnome-terminal ksh parallel powershell pwsh screen script sh "
    "socat source ssh su systemd-run tmux unbuffer watch xargs xdotool xterm ydotool zsh ."
)
# What is looked through for the program that a command is about.
PASSED_OVER = (WRAPPERS - SHELLS) | KEYWORDS | {"builtin"}
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
INTERPRETERS = word_set("bun deno lua node perl php ruby")
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
RUN_IN_CODE = re.compile(
    r"\b(?:system|[pP]open|call|check_\w+|run|shell_exec|exec\w*|spawn\w*)\b[\s(\[]{0,9}"
    r"((?:(?:'[^'\n]*'|\"[^\"\n]*\")[\s,\[]*)+)"
)
PRINTERS = word_set("echo printf")
TYPISTS = word_set("screen tmux xdotool ydotool")
# With one of these their other arguments are text.
TEXT_ARGUMENTS = {"gh": word_set("discussion issue pr release"), "git": GIT_TEXT_COMMANDS}
XARGS_VALUED = re.compile(r"-\w*[EIJLPRSadns]|--[a-z-]+")  # options that may have a value behind them
SPLITS = {"-S", "--split-string", "-vS"}  # of env: its next word is a command line
PATCHERS = word_set("apply_patch git patch")
# To the machine itself, or with a command that ssh runs on this one.
HERE = re.compile(r"(?i)(?:^|@)(?:(?:ip6-)?localhost|127\.[\d.]+|::1|\$.*|`.*)$|command")
SUBSTITUTION = re.compile(r"\$\(|`|<\(")
HOME_PATTERN = re.compile(r"(?:(?<=[\s=:>])|^)~(?=[/\s:;&|)]|$)|\$\{HOME[:%#/?][^}]*\}")
PRINTED_FOLDER = re.compile(r"\$\((?:pwd(?: -[LP])?|git rev-parse --show-toplevel)\)|`pwd`")
PIPED_TO_SHELL = re.compile(
    r"\|&?\s*(?:\w+=[^\s|]*\s+)*(?:sudo\s+)?(?:/[^\s|]*/)?"
    r"(?:(?:ba|da|z|k|a|fi)?sh|at|batch|crontab|parallel|(?:python|pypy)[\d.]*|perl|ruby|node)\b"
    # What a shell runs comes out of other commands: `eval $(…)`, `bash <(…)`, `sh -c "$(…)"`.
    r"|(?:^|[\s;&|(])(?:eval|source|\.|(?:ba|da|z|k|a|fi)?sh)\s+(?:-\S+\s+)*\"?(?:\$\(|<\(|`)"
)
CONTROLLING_CODE = re.compile(
    r"\b(?:from|import)\s+tray\b(?!\s*[;\n]\s*print\(tray\.__\w+__\)\s*$)|(?:run_module|__import__|import_module)\(\s*[\"']tray\b"
    r"|\bhooktray\b.{0,40}\b(?:approve|off|revoke|pause|deny)\b",
    re.DOTALL,
)
JOINED_LITERALS = re.compile(r"([\"'])\s*(?:\+\s*)?\1")  # of "hook" + "tray"
MODULE_RUNNERS = word_set("cProfile coverage pdb profile runpy trace")  # Python modules that run the one named next


def check_shell_line(line: str, cwd: str, protected: ProtectedPaths, depth: int = 0) -> Iterator[ProtectionFinding]:
    """Everything in this line that is not an agent's business."""
    if protected.names_page(line):
        yield ProtectionFinding(Verdict.DENY, "Hooktray's own page is for a person:", "page")
    if depth > DEPTH:
        yield ProtectionFinding(Verdict.ASK, "too many shells inside each other;", "shell")
        return
    line = protected.home.join(HOME_PATTERN.split(line.replace("\\\n", "")))
    line = PRINTED_FOLDER.sub(lambda found: repository(cwd) or cwd if "git" in found[0] else cwd, line)
    try:
        _, documents = parse(line, {})
        bare = _without_documents(documents, line)
        words, _ = parse(line, _variables(bare, protected, cwd))
    except ValueError as error:
        if error.args[0] == TOO_LONG or "hooktray" in line:
            yield ProtectionFinding(Verdict.ASK, "a line that cannot be read may be about Hooktray;", "shell")
        return
    if CHANGES_GENERATED_FILES.search(bare):
        yield from (one for word in words for one in named_files(word.text, cwd, protected))
    if CHANGES_LISTED_FILES.search(bare):
        yield from listed_folders(words, cwd, protected)
    piped = PIPED_TO_SHELL.search(bare) is not None
    exported: set[str] = set()
    names_us = False  # `$(echo hooktray) off` makes our name of another command
    for number, group in groupby(words, key=attrgetter("command")):
        command = list(group)
        if is_remote := command[0].text == "ssh" and not any(HERE.search(word.text) for word in command):
            command = [one for one in command if one is command[0] or one.redirect or SUBSTITUTION.search(one.raw)]
        yield from _check_command(command, cwd, protected, depth, piped, exported, line)
        program = _program([word.text for word in command])
        if not program or program in EXPORTERS:  # what a line sets holds for its later commands
            exported |= set(assigned_names([word.text for word in command], program))
        for text in (one for one in documents if one.command == number):
            yield from _check_document(text, "" if is_remote else program, cwd, protected, depth, piped)
        yield from find_evasion(command, program, line, PROTECTED_VERBS, cwd)
        yield from find_ending([word.text for word in command], program, line)
        cwd = _next_cwd(command, cwd, protected)
        names_us = names_us or any(_may_be_hooktray(word.text) for word in command)
        if names_us and command[0].text in PROTECTED_VERBS:
            yield ProtectionFinding(Verdict.ASK, UNCLEAR_TEXT, "hooktray")


def controls_hooktray(text: str) -> bool:
    """Whether code or a line of text drives us."""
    return CONTROLLING_CODE.search(JOINED_LITERALS.sub("", text)) is not None


def _without_documents(documents: Sequence[HereDocument], line: str) -> str:
    """The line without what it gives to its commands."""
    starts = [0, *(document.end for document in documents)]
    ends = [*(document.start for document in documents), len(line)]
    return "".join(line[start:end] for start, end in zip(starts, ends, strict=True))


def _may_be_hooktray(text: str) -> bool:
    """Our name, or a pattern that finds it: `hooktra[y]`."""
    name = PurePath(text).name.lower()
    return name == "hooktray" or ("hook" in name and bool(set(name) & set("*?[")) and glob_matches(name, "hooktray"))


def _check_document(
    text: HereDocument, program: str, cwd: str, protected: ProtectedPaths, depth: int, piped: bool
) -> Iterator[ProtectionFinding]:
    """A text that a shell or an interpreter runs, and the commands that the shell puts into any other."""
    if program in SHELLS or piped:
        yield from check_shell_line(text.text, cwd, protected, depth + 1)
    elif PYTHON.fullmatch(program) or program in INTERPRETERS:
        if controls_hooktray(text.text):
            yield ProtectionFinding(Verdict.DENY, "code that drives Hooktray is for a person:", "hooktray")
        yield from _check_code(text.text, cwd, protected, depth)
    elif program in PATCHERS:
        yield from patched_files(text.text, cwd, protected)
    if text.is_literal:
        return
    try:
        for one in substitutions(text.text):
            yield from check_shell_line(one, cwd, protected, depth + 1)
    except ValueError:
        if "hooktray" in text.text:
            yield ProtectionFinding(Verdict.ASK, "a text that cannot be read may run Hooktray;", "shell")


def _variables(line: str, protected: ProtectedPaths, cwd: str) -> dict[str, str]:
    """What the line itself sets, and what every shell knows."""
    known = {"HOME": protected.home, "PWD": cwd}
    for name, value in re.findall(
        r"(?:^|[\s;&|(])(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|()]*)", line
    ):
        plain = value.strip("\"'")
        known[name] = re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], found[0]), plain)
    return known


def _next_cwd(command: Sequence[ShellWord], cwd: str, protected: ProtectedPaths) -> str:
    if command[0].text in ("cd", "pushd"):
        return protected.absolute(command[1].text, cwd) if len(command) > 1 else protected.home
    return cwd


def _check_command(
    command: Sequence[ShellWord],
    cwd: str,
    protected: ProtectedPaths,
    depth: int,
    piped: bool,
    exported: Collection[str] = (),
    line: str = "",
) -> Iterator[ProtectionFinding]:
    texts = [word.text for word in command]
    leader = _program(texts)
    reader = _passed_program(texts, leader)
    text_only = reader in READERS and not _executes(texts, reader)
    text_only = text_only or bool(TEXT_ARGUMENTS.get(leader, frozenset()) & set(texts[:4]))
    if not text_only or piped:
        arguments = [word.text for word in command if word.redirect in ("", "<<<")]
        if leader in RENAMERS and texts[0] == leader:
            arguments = [text for text in arguments if not is_folder(text, cwd)]
        yield from _check_cli(arguments, leader, sure=leader not in WRITERS, is_built=piped or leader in SHELLS)
    yield from _check_nested(command, leader, cwd, protected, depth, text_only and not piped)
    for word in command:
        yield from changed_files(word, texts, leader, cwd, protected)
        yield from changed_text(word, texts, leader, line, cwd, protected)
    yield from created_files(texts, leader, cwd, protected)
    yield from changed_folders(command, leader, cwd, protected)
    yield from changed_environment(command, texts, leader, cwd, protected)
    yield from find_disabled_hooks(texts, leader, exported)


def _executes(texts: Sequence[str], program: str) -> bool:
    """Whether it makes a reader run something."""
    runs = program.startswith("fd") and not EXEC_OPTIONS.isdisjoint(texts)
    return runs or (program == "awk" and any("system" in text or "|" in text for text in texts))


def _program(texts: Sequence[str]) -> str:
    """The program that a command is about: behind assignments, `sudo`, `env -i` and their like."""
    for place, text in enumerate(texts):
        name = PurePath(text).name
        if (
            (place > 1 and texts[place - 2 : place] == ["exec", "-a"])  # the name that it gives itself
            or re.match(r"[A-Za-z_]\w*=", text)
            or name in PASSED_OVER
            or text.startswith("-")
            or re.fullmatch(r"[\d.]+[smh]?", text)
        ):
            continue
        return name
    return ""


def _passed_program(texts: Sequence[str], leader: str) -> str:
    """The program to which `find` or `xargs` passes what it reads; the leader itself when it is another one."""
    words = [text for before, text in pairwise(texts) if text[:1] != "-" and not XARGS_VALUED.fullmatch(before)][:1]
    if leader == "find":
        words = [after for text, after in pairwise(texts) if re.fullmatch("-(?:exec|ok)(?:dir)?", text)]
    return PurePath(words[0]).name if leader in ("find", "xargs") and len(words) == 1 else leader


def _check_cli(texts: Sequence[str], program: str, *, sure: bool, is_built: bool) -> Iterator[ProtectionFinding]:
    """Our command, by whatever path, and its verb. `is_built`: its words may be put together later."""
    for index in range(len(texts)):
        behind = _cli_arguments(texts, index)
        if behind is None or (program in TYPISTS and texts[index - 1] in ("-S", "-s", "-t")):
            continue
        verb = _verb(behind)
        if not is_built and list(behind[:2]) in ([verb, "--help"], [verb, "-h"]):
            continue
        if verb in PROTECTED_VERBS:
            verdict = Verdict.DENY if sure and not SUBSTITUTION.search(texts[index]) else Verdict.ASK
            yield ProtectionFinding(verdict, f"`hooktray {verb}` is for a person:", f"hooktray {verb}")
        elif verb == "open":
            yield ProtectionFinding(Verdict.ASK, "Hooktray's page is for a person;", "hooktray open")
        elif verb == "relay":
            yield ProtectionFinding(
                Verdict.ASK, "an event that did not happen is not an agent's to send;", "hooktray relay"
            )
        elif _is_unclear(verb, program, is_built=is_built or program in RENAMERS):
            yield ProtectionFinding(Verdict.ASK, "it cannot be seen what `hooktray` is told to do here;", "hooktray")


def _cli_arguments(texts: Sequence[str], index: int) -> Sequence[str] | None:
    """The words behind our command when it is at `index`; None when it does not."""
    text = texts[index]
    if URL.match(text):
        return None
    name = PurePath(re.sub(r"^.*(?:=|EXEC:|SYSTEM:)", "", text)).name.lower().removesuffix(".exe")
    led = index == 0 and len(name.strip("*?[]")) > 1 and glob_matches(name, "hooktray")  # a name that a shell finds
    if led or _may_be_hooktray(name):
        return texts[index + 1 :]
    if name == "hooktray-hook" or text.endswith("tray/relay.py"):
        return ["relay"]
    if SUBSTITUTION.search(text) and re.search(r"\bhooktray\b", text):
        return texts[index + 1 :]
    module = re.fullmatch(r"-\w*m(tray[\w.]*)?", text)
    if module is None:
        return None
    named, *behind = [module[1], *texts[index + 1 :]] if module[1] else [*texts[index + 1 :], ""]
    if named in MODULE_RUNNERS:
        named, *behind = [*(text for text in behind if not text.startswith("-")), ""]
    if named == "tray.relay":
        return ["relay"]
    return behind if named in ("tray", "tray.__main__") else None


def _verb(behind: Sequence[str]) -> str:
    rest = iter(behind)
    for text in rest:
        if text == "--home":
            next(rest, None)
        elif not text.startswith("-"):
            return text
    return ""


def _is_unclear(verb: str, program: str, *, is_built: bool) -> bool:
    """True if it cannot be seen what our command does. With a word that is none of its verbs, it does nothing."""
    if not verb or verb == "." or verb in ALLOWED_VERBS:
        return not verb and program in ("xargs", "parallel", "alias", "ln", "cp")
    low = verb.strip().lower()
    return bool(is_built or UNKNOWN_VERB.search(low) or any(glob_matches(low, one) for one in VERBS))


def _check_nested(
    command: Sequence[ShellWord], program: str, cwd: str, protected: ProtectedPaths, depth: int, text_only: bool
) -> Iterator[ProtectionFinding]:
    """Lines and code inside a word: of `sh -c`, of `eval`, of `$(…)` in quotes, of `python -c`."""
    texts = [word.text for word in command]
    printed = frozenset() if text_only else PRINTERS  # to a shell
    for index, word in enumerate(command):
        if SUBSTITUTION.search(word.text) and word.raw[:1] != "'":
            yield from check_shell_line(_without_substitution(word.text), cwd, protected, depth + 1)
        elif (program in SHELLS | printed or SPLITS & set(texts[:index])) and " " in word.text.strip():
            text = re.sub(r"\\[nr]", "\n", word.text) if program in PRINTERS | TYPISTS else word.text
            yield from check_shell_line(text, cwd, protected, depth + 1)
        elif index and _is_code(texts, index, program) and not controls_hooktray(word.text):
            yield from _check_code(word.text, cwd, protected, depth)
        elif index and re.fullmatch(r"-\w*[ce]", texts[index - 1]) and not text_only and controls_hooktray(word.text):
            verdict = Verdict.DENY if PYTHON.fullmatch(program) else Verdict.ASK
            yield ProtectionFinding(verdict, "code that drives Hooktray is for a person:", "hooktray")
        elif (
            (not text_only or _sets_program(texts, index, program))
            and len(word.text.split()) > 1
            and controls_hooktray(word.text)
        ):
            yield ProtectionFinding(
                Verdict.ASK, "a text that may be run speaks of switching Hooktray's guards;", "hooktray"
            )


def _is_code(texts: Sequence[str], index: int, program: str) -> bool:
    """Whether the word is code for an interpreter, which may open files: of `-c`, `-e`, `-r`, of awk."""
    if program == "awk" or program.endswith("awk"):
        return ">" in texts[index] or "system" in texts[index]
    if program == "sed":  # its own commands that write, and run
        return re.search(r"(?:^|[\s;}\d$/|,#gpI])[wWe]\s", texts[index]) is not None
    known = program in INTERPRETERS or PYTHON.fullmatch(program) is not None
    return known and re.fullmatch(r"-\w*[ceErp]|--eval|--print|eval", texts[index - 1]) is not None


def _check_code(code: str, cwd: str, protected: ProtectedPaths, depth: int) -> Iterator[ProtectionFinding]:
    """What code names, removes, and gives to a shell: `os.system('rm -rf ~')`, `run(["rm", "-rf", home])`."""
    plain = plain_code(code)
    yield from named_files(plain if REMOVING_CODE.search(plain) else code, cwd, protected)
    yield from removed_folders(plain, cwd, protected)
    for words in islice(RUN_IN_CODE.findall(plain), DEPTH):
        line = " ".join(one[1:-1] for one in QUOTED.findall(words))
        yield from check_shell_line(line, cwd, protected, depth + 1)


def _sets_program(texts: Sequence[str], index: int, program: str) -> bool:
    """Whether the word sets what another program will run: `GIT_PAGER='…' git log`, `git -c core.pager='…'`."""
    if program == "git" and index and texts[index - 1] == "-c":
        return True
    return all(re.match(r"[A-Za-z_]\w*=", text) for text in texts[: index + 1])


def _without_substitution(text: str) -> str:
    return re.sub(r"\$\(|<\(|[`)]", "\n", text)
