"""Commands that are ours under another look, or that take us away: not clear enough to deny, so a person is asked."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath

from tray.agents.agent import KnownAgent
from tray.agents.registry import known_agents
from tray.model.decision import Verdict
from tray.protection.file_effects import MOVERS, ProtectionFinding
from tray.protection.folder_effects import CONTAINERS
from tray.protection.protected_paths import absolute_path
from tray.shell.split import COMMAND_RUNNERS, KEYWORDS, ShellWord
from tray.text.words import word_set

HOOKTRAY_PROGRAMS = word_set("hooktray hooktray-hook hooktray.exe hooktray-hook.exe")
KILLERS = word_set("kill killall killall5 pgrep pkill pidof skill stop-process taskkill wmic")
SERVICES = word_set("busctl dbus-send gdbus launchctl reg sc schtasks service systemctl")
# Verbs that stop a service, change it, or give it another environment.
SERVICE_CHANGES = word_set(
    "/change /delete /end add bootout clean config delete disable edit freeze kickstart kill link mask remove revert "
    "set-property stop unload"
)
UNIT_CALL = re.compile(r"(?:Disable|Kill|Mask|Stop|Restart|Set)\w*Unit\w*")
SERVICE_VARIABLES = word_set("import-environment set-environment setenv unset-environment unsetenv")
OWN_VARIABLES = re.compile(r"(?:HOOKTRAY\w*|HOME|USERPROFILE|XDG_(?:CONFIG|DATA|STATE)_HOME)(?:=.*)?", re.DOTALL)
# Units whose end stops ours, too.
OWN_UNITS = ("hooktray.service", "hooktray.socket", "default.target", "graphical-session.target", "sockets.target")
SESSION_ENDS = word_set("kill-session kill-user terminate-session terminate-user")
# Names and start commands of the tray's processes.
OWN_NAMES = ("hooktray", "hooktray-hook", "python", "python3")
OWN_COMMANDS = ("/usr/bin/python3 /home/me/.local/bin/hooktray run", "python3 -m tray run")
VALUED = re.compile(r"-[uUgGPstF]|--(?:e?uid|group|parent|session|signal|terminal|pidfile)|/FI")  # of pkill
INSTALLERS = word_set(
    "apt apt-get aptitude brew conda dnf dpkg pacman pip pip3 pipx python python3 rpm stow uv winget yum zypper"
)
LOOKUPS = word_set("pgrep pidof")  # print what may be killed by another command
REMOVE_WORDS = word_set("--erase --purge --remove autoremove erase purge remove uninstall")
REMOVE_OPTIONS = {"dpkg": {"-P", "-r"}, "pacman": {"-R", "-Rns", "-Rs"}, "rpm": {"-e"}, "stow": {"-D", "-R"}}
ARGUMENT_RUNNERS = word_set("parallel xargs")
EXPORTERS = word_set("declare export readonly typeset unset")
OTHER_USERS = word_set("doas machinectl pkexec runuser su sudo")
# Programs in them see other files, or another user's.
BOXES = (
    OTHER_USERS
    | CONTAINERS
    | word_set("bwrap chroot distrobox firejail flatpak nsenter proot systemd-nspawn toolbox unshare")
)
LABELS = ("--hostname", "--name", "--network")  # options of a container
RUNNERS = BOXES | COMMAND_RUNNERS | KEYWORDS
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
HOMES = ("HOME", "USERPROFILE")
# Of agents that have no pattern of their own.
WITHOUT_HOOKS = re.compile(
    r"(?i)--(?:no|disable|without|skip)[-= ]hooks?\b.*|[\w.\"'-]*hooks[\w.\"]*\s*[=:]\s*false|.*AllHooks.*", re.DOTALL
)
PROCESS_LOOKUP = re.compile(r"(?:\$\(|`|\b(?:p?grep|pidof|get-process|lsof)\b)[^)`|;&]{0,200}(?:hooktray|tray run)")
UNCLEAR_TEXT = "it cannot be seen what runs here;"
ENDING_TEXT = "this may end or alter the tray, and with it the user's guards;"
REMOVAL_TEXT = "taking Hooktray away takes the user's guards away;"


def find_evasion(
    command: Sequence[ShellWord], program: str, line: str, verbs: frozenset[str], cwd: str
) -> Iterator[ProtectionFinding]:
    """What deserves a question in this command of `line`, which speaks of us somewhere."""
    # `grep [h]ooktray` does not find itself.
    program, low = program.lower(), line.lower().replace("[", "").replace("]", "")
    if "tray" not in low or ("hook" not in low and "tray run" not in low):
        return
    start = next((place for place, word in enumerate(command) if word.is_command), 0)
    texts = [word.text for word in command[start:] if word.redirect in ("", "<<<")]
    if texts and (
        _has_built_name(texts, verbs) or _passes_verb(texts, program, verbs) or _has_built_verb(command, texts, line)
    ):
        yield ProtectionFinding(Verdict.ASK, UNCLEAR_TEXT, "hooktray")
    programs = {program, *(map(_name, texts) if program in ARGUMENT_RUNNERS else ())} - LOOKUPS
    if _removes_hooktray(texts, program, cwd) or (KILLERS & programs and PROCESS_LOOKUP.search(low)):
        yield ProtectionFinding(Verdict.ASK, REMOVAL_TEXT, "hooktray")


def find_ending(texts: Sequence[str], program: str, line: str) -> Iterator[ProtectionFinding]:
    """Yields commands that end or replace the tray's process or service, or give it another home."""
    ends = (
        (program in SERVICES and _changes_service(texts, program))
        or (program == "loginctl" and SESSION_ENDS & set(texts))
        or (program in KILLERS and _ends_tray(texts, program, line))
    )
    if ends:
        yield ProtectionFinding(Verdict.ASK, ENDING_TEXT, "hooktray")


def find_disabled_hooks(
    texts: Sequence[str], program: str, exported: Collection[str] = ()
) -> Iterator[ProtectionFinding]:
    """Yields starts of an agent without the user's hooks: by option, variable, another home, or in a container.

    `exported` are the variables that are set or unset before it. Code that it is given is refused.
    """
    for agent in known_agents():
        place = _start(agent, texts, program)
        if place is None:
            continue
        before, arguments = texts[:place], texts[place + 1 :]
        subject = min(agent.programs, default=program)
        if agent.adds_plugins and agent.adds_plugins.search("\n".join(arguments)):
            reason = "it brings code that can answer in place of the user's hooks; that is for a person:"
            yield ProtectionFinding(Verdict.DENY, reason, subject)
        given = (ASSIGNMENT.match(text.removeprefix("--setenv=")) for text in before)
        names = {*exported, *(found[1] for found in given if found), *_unset_names(before)}
        is_away = {*HOMES, agent.home_variable, *agent.off_variables} & names or _is_boxed(before)
        if is_away or _has_off_option(agent, texts, arguments):
            yield ProtectionFinding(
                Verdict.ASK, "an agent without the user's hooks is for a person to start;", subject
            )


def _start(agent: KnownAgent, texts: Sequence[str], program: str) -> int | None:
    """Returns the position in this command at which the agent is started; None if it is not."""
    starters = agent.starters or agent.programs
    if program in starters and _is_agent(agent, texts, program):
        return next(number for number, text in enumerate(texts) if PurePath(text).name == program)
    first = PurePath(next((text for text in texts if not ASSIGNMENT.match(text)), "")).name
    if first not in RUNNERS or (first in CONTAINERS and not {"exec", "run"} & set(texts[:4])):
        return None
    for number, (before, text) in enumerate(pairwise(texts), 1):
        words = re.split(r"[\s;&|()]+", text) if first in BOXES else [text]  # the line of a shell in the container
        is_command = _may_precede(before, texts[number - 2]) if first in OTHER_USERS else before not in LABELS
        if is_command and any(PurePath(word).name in agent.programs for word in words):
            return number
    return None


def _may_precede(before: str, other: str) -> bool:
    """True if a command may follow these words: behind `sudo -u bob`, not behind `sudo apt-get install`."""
    return before.startswith("-") or other.startswith("-") or before in RUNNERS or bool(ASSIGNMENT.match(before))


def _has_off_option(agent: KnownAgent, texts: Sequence[str], arguments: Sequence[str]) -> bool:
    if any(text.partition("=")[0] in agent.off_options for text in arguments):
        return True
    options = (*texts, *(" ".join(pair) for pair in pairwise(texts)))
    pattern = agent.without_hooks
    return any(pattern.search(text) if pattern else WITHOUT_HOOKS.fullmatch(text) for text in options)


def _is_boxed(before: Sequence[str]) -> bool:
    """True if the program runs as another user, in a container, or without the variables of its home."""
    names = [PurePath(text).name for text in before]
    if BOXES & set(names[:1]) or OTHER_USERS & set(names):
        return True
    return "env" in names and any(re.fullmatch(r"-\w*i\w*|-|--ignore-environment", text) for text in before)


def _unset_names(texts: Sequence[str]) -> Iterator[str]:
    """Yields the variables that a command unsets: `env -u HOME program`, `unset HOME`."""
    for text, after in pairwise((*texts, "")):
        if text in ("-u", "--unset") and "env" in map(_name, texts):
            yield after
        elif text.startswith(("--unset=", "-u")):
            yield text.removeprefix("--unset=").removeprefix("-u")


def _name(text: str) -> str:
    return PurePath(text).name


def assigned_names(texts: Sequence[str], program: str) -> Iterator[str]:
    """Yields variables that a command sets or unsets: `A=1 program`, `env A=1 program`, `export A=1`, `unset A`."""
    if program == "unset" or texts[:1] == ["unset"]:
        yield from texts
    for text in texts:
        if PurePath(text).name == program and program not in EXPORTERS:
            return
        if found := ASSIGNMENT.match(text):
            yield found[1]


def _is_agent(agent: KnownAgent, texts: Sequence[str], program: str) -> bool:
    """A program that starts many others starts this agent only when a word names it."""
    own = agent.programs | {agent.id}
    return program in own or any(name in text for name in own for text in texts)


def _has_built_name(texts: Sequence[str], verbs: frozenset[str]) -> bool:
    """`$x off`, `$(printf hook)tray off`, `hooktray{,} off`, `{hooktray,off}`: the name is made somewhere else."""
    first, *rest = texts
    verb = next((text for text in rest if not text.startswith("-")), "")
    if verb in verbs and (first.startswith(("$", "`")) or PurePath(first).name in ("tray", "hook")):
        return True
    name = PurePath(first).name
    if "hooktray" not in name or name in HOOKTRAY_PROGRAMS:
        return False
    verb_word = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(verbs)))})(?![^\W_])")
    return any(map(verb_word.search, texts))


def _passes_verb(texts: Sequence[str], program: str, verbs: frozenset[str]) -> bool:
    """`… | xargs -I{} {} off`."""
    return program in ARGUMENT_RUNNERS and bool(verbs & set(texts))


def _has_built_verb(command: Sequence[ShellWord], texts: Sequence[str], line: str) -> bool:
    """`hooktray $(echo off)`: its verb comes out of another command."""
    last = command[-1]
    runs_hooktray = PurePath(texts[0]).name == "hooktray" or any(
        word.is_command and word.text == "hooktray" for word in command
    )
    words = [text for before, text in pairwise(["", *texts]) if not text.startswith("-") and before != "--home"]
    runs_hooktray = runs_hooktray and PurePath((words or texts)[-1]).name == "hooktray"  # else its verb is there
    return runs_hooktray and line[last.end :].lstrip(" \t")[:2].startswith(("$(", "`"))


def is_folder(text: str, cwd: str) -> bool:
    """True if the word names a folder, such as a repository, and so not the program."""
    return text.endswith("/") or os.path.isdir(absolute_path(text, cwd))  # noqa: PTH112 - at each such word


def _removes_hooktray(texts: Sequence[str], program: str, cwd: str) -> bool:
    """The program removed, or the tray ended."""
    if program in KILLERS:
        return program not in LOOKUPS and any("hooktray" in text or "tray run" in text for text in texts)
    if program not in INSTALLERS | MOVERS:
        return False
    named = {PurePath(text).name for text in texts[1:] if program != texts[0] or not is_folder(text, cwd)}
    if program in INSTALLERS:
        removes = (REMOVE_WORDS | REMOVE_OPTIONS.get(program, frozenset())) & set(texts)
        return bool(removes) and any(re.split(r"[=<>@\[]", name)[0] == "hooktray" for name in named)
    return bool(HOOKTRAY_PROGRAMS & named)


def _changes_service(texts: Sequence[str], program: str) -> bool:
    if SERVICE_VARIABLES & set(texts):
        return any(OWN_VARIABLES.fullmatch(text) for text in texts)
    if not SERVICE_CHANGES & set(texts) and not any(UNIT_CALL.search(text) for text in texts):
        return program == "systemctl" and bool({"exit", "isolate"} & set(texts))
    others = (text for text in texts[1:] if not text.startswith("-"))
    return any("hooktray" in text.lower() or any(fnmatchcase(unit, text) for unit in OWN_UNITS) for text in others)


def _ends_tray(texts: Sequence[str], program: str, line: str) -> bool:
    """True if the command ends the tray among other processes: by a pattern, by user, or all."""
    if program == "killall5":
        return True
    arguments = texts[next(n for n, text in enumerate(texts) if PurePath(text).name == program) + 1 :]
    if program == "kill":
        return len(arguments) > 1 and arguments[-1] == "-1"
    if program in LOOKUPS and not re.search(r"\bkill\b", line):
        return False
    named = [
        text
        for before, text in zip(("", *arguments), arguments, strict=False)
        if not text.startswith(("-", "/")) and not VALUED.fullmatch(before)
    ]
    if not named:
        return program in ("pkill", "killall") and any(re.match(r"-[uU]|--e?uid|--user", text) for text in arguments)
    if program in ("killall", "taskkill", "pidof") and not {"-r", "--regexp"} & set(arguments):
        return any(text.removesuffix(".exe") in OWN_NAMES for text in named)
    places = OWN_COMMANDS if any(re.fullmatch(r"-\w*f\w*|--full", text) for text in arguments) else OWN_NAMES
    try:
        return any(re.search(text, place) for text in named for place in places)
    except re.error:
        return False
