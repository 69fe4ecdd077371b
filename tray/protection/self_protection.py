"""Self-protection, in front of every hook: no tool call of an agent approves, switches off or rewrites its guards.

Clear cases are denied, unclear ones asked. Reading is free, and so is talking about it: what counts is what a command
does. What hides its words on purpose (base64, a script written first) is out of reach; the gates hold without us.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from operator import attrgetter
from pathlib import PurePath
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.agents.overview import whole_overview
from tray.agents.tools import COMMAND, arguments, canonical, canonical_input
from tray.model.decision import HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.protection.file_effects import (
    ASKED_HINT,
    GUARD_HINT,
    ProtectionFinding,
    asked_reason,
    patched_files,
    shell_text,
)
from tray.protection.protected_paths import (
    GUARD_KIND,
    MAX_PATH,
    OWN_KIND,
    ProtectedPaths,
    agent_homes,
    asked_kinds,
    hook_words,
    path_words,
    shell_lines,
)
from tray.protection.settings_edit import adds_match, judge_edit
from tray.store.ledger import LedgerState
from tray.text.words import word_set

NAME = "self-protection"
KINDS = frozenset({EventKind.TOOL_BEFORE, EventKind.PERMISSION_REQUEST})
HINTS = ("tray", "setting")  # without one of these, or of the words of paths, a text is none of ours
QUOTES = ("\\\n", *"'\"\\+")
SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Monitor"})
WRITE_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
READ_TOOLS = word_set("AskUserQuestion Glob Grep LS Read Skill Task TodoWrite ToolSearch WebSearch")
PATH_KEYS = ("file_path", "notebook_path", "path")
# Arguments of tools that run code, and those that name the folder in which it runs.
CODE_KEYS = word_set("CommandLine cmd code command command_line python script source")
FOLDER_KEYS = word_set("Cwd cwd dir_path directory workdir workingDirectory working_dir working_directory")
PROGRAM_KEYS = frozenset({"cmd", "command", "executable", "program"})
NON_TEXT_TYPES = {int, float, bool}
RUNNING_TOOL = re.compile(r"(?i)console|eval|exec|input|key|run|send|shell|terminal|tmux|type")  # names of such tools
REMOVING_TOOL = re.compile(r"(?i)delete|move|remove|rename|unlink")
READING = ("read", "get", "list", "search", "find", "stat")
CHANGES = word_set("add change chmod copy drop edit exec move patch put run save set store")
CHANGING = re.compile(
    "append|apply|creat|delet|insert|modif|overwrit|remov|renam|replac|restor|truncat|unlink|upd|upload|writ"
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")
# Programs that end processes, or remove a folder with all its files. Every `rm` refuses `rm -rf /` by itself.
SWEEPING = re.compile(
    r"\b(?:chattr|chgrp|checkout|chmod|chown|clean|docker|fd|fdfind|find|kill\w*|launchctl|loginctl|mount|move-item|mv|nerdctl|pkill"
    r"|podman|rd|remove-files|remove-item|remove_tree|removesync|rename|renamesync|reset|restore|rimraf|rmdir|rmdirsync|rmsync"
    r"|rmtree|rm_rf?|rm(?!\s+-\w+\s+/$)|rsync|setfacl|shred|systemctl|trash|trash-put|umount"
    r"|unlink|wipe|zip)\b"
)
# Without one of these such a program is about something below the agent's own folder.
ELSEWHERE = re.compile(r"[~$/*`%]|\.\.|\b(?:cd|clean|home|homedir|kill\w*|launchctl|loginctl|pkill|systemctl)\b")
NO_VARIABLES: Mapping[str, str] = {}
PROJECT_HINT = "allow it if these hooks are what you want"

log = logging.getLogger(__name__)


class PageAddress(msgspec.Struct):
    """Where the page is: its port while it is open, else 0."""

    port: int = 0


class ConfirmedExceptions(Protocol):
    """Has the exceptions that a person confirmed: a command such as `hooktray pause`, or a pattern of paths."""

    @property
    def exceptions(self) -> Sequence[str]: ...


class ApprovedFiles(Protocol):
    """Lists the files that approved hooks run or name, and that are not copied.

    Ledger and LedgerState implement it.
    """

    @property
    def uncovered(self) -> tuple[str, ...]: ...


class Protection(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Without `settings` there are no exceptions."""

    protected_paths: ProtectedPaths
    settings: ConfirmedExceptions | None = None
    approved: ApprovedFiles = LedgerState()
    page: PageAddress = msgspec.field(default_factory=PageAddress)

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """Returns words; a text that contains none of them does not concern Hooktray."""
        words = {*HINTS, *hook_words(), *path_words(self.protected_paths)}
        return tuple(sorted(one for one in words if not any(other in one and other != one for other in words)))

    @functools.cached_property
    def home_variables(self) -> frozenset[str]:
        """Returns variables; an environment with none of them names no agent's home."""
        return frozenset(whole_overview().home_variables)

    def _places(self, event: Event) -> ProtectedPaths:
        """With the page's port, and with the agents' homes that the agent's own environment names."""
        port, homes, guards = self.page.port, agent_homes(event.environment), self.approved.uncovered
        if not port and not homes and not guards:
            return self.protected_paths
        homes = {**self.protected_paths.agent_homes, **homes}
        return replace(self.protected_paths, port=port, agent_homes=homes, guards=guards)

    def judge(self, event: Event) -> Outcome | None:
        """The outcome for this event; None without an objection."""
        if event.tool is None or event.kind not in KINDS:
            return None
        if not self.applies(event.agent, event.tool, event.cwd, event.environment):
            return None
        try:
            worst = max(self._findings(event, event.tool), key=attrgetter("verdict"), default=None)
        except Exception:  # whoever finds words that we fail on has not got past us
            log.exception("%s of %s could not be judged", event.name, event.agent)
            worst = ProtectionFinding(Verdict.ASK, "this call cannot be judged;", "")
        if worst is None:
            return None
        reading = HookOutput(verdict=worst.verdict, reason=f"{worst.reason} {worst.hint}")
        return Outcome(hook=NAME, status=Status.OK, output=reading)

    def applies(self, agent: str, tool: Tool, cwd: str = "", environment: Mapping[str, str] = NO_VARIABLES) -> bool:
        """Whether this call has to be judged: it names something of ours, or it writes (a link may have any name).

        It looks at each text of the call; of a shell's call only at the commands, as other arguments may be large.
        It runs for every call of a tool, so it has plain loops with few steps.
        """
        name = canonical(agent, tool.name)
        if name in WRITE_TOOLS:
            return True
        if name in READ_TOOLS:
            return False
        text = "\n".join(map(str, arguments(agent, tool, COMMAND))) if name in SHELL_TOOLS else _text(tool.input)
        if name in SHELL_TOOLS and not FOLDER_KEYS.isdisjoint(tool.input):
            text = "\n".join((text, *_folders(tool)))
        bare = text.lower()
        for quote in QUOTES:
            if quote in bare:
                bare = bare.replace(quote, "")
        lines, bare = bare, bare.replace("\n", "")  # a name may go on in the next line
        for word in self.words:
            if word in bare:
                return True
        names_page = self.page.port and str(self.page.port) in bare
        if names_page or (SWEEPING.search(lines) and self._may_sweep(lines, cwd)):
            return True
        for path in self.approved.uncovered:
            *_, folder, file = f"//{path.lower()}".split("/")
            if file in bare or (folder and folder in bare) or (cwd and path.startswith(f"{cwd}/")):
                return True
        environments = self.protected_paths.environments
        if cwd and cwd.replace(os.sep, "/").startswith((*environments.shared, *environments.packages)):
            return True  # a relative path may be in one of them
        if self.home_variables.isdisjoint(environment):
            return False
        return any(PurePath(home).name in text for home in agent_homes(environment).values())

    def _may_sweep(self, bare: str, cwd: str) -> bool:
        """True if such a program may end the tray, or remove a folder above one of ours."""
        above = cwd.replace(os.sep, "/").rstrip("/") + "/"
        if ELSEWHERE.search(bare):
            return True
        below = [place[len(above) :] for place in self.protected_paths.own if place.startswith(above)]
        return any("." in bare.split() or one.split("/")[0].lower() in bare for one in below)

    def _findings(self, event: Event, tool: Tool) -> list[ProtectionFinding]:
        name = canonical(event.agent, tool.name)
        places = self._places(event)
        folders = dict.fromkeys((event.cwd, *(places.absolute(one, event.cwd) for one in _folders(tool))))
        found = [one for cwd in folders for one in self._check_call(name, replace(event, cwd=cwd), tool, places)]
        allowed = self.settings.exceptions if found and self.settings else ()
        return [one for one in found if not any(_is_excepted(one, places.expand_home(word)) for word in allowed)]

    def _check_call(self, name: str, event: Event, tool: Tool, places: ProtectedPaths) -> Iterator[ProtectionFinding]:
        if name in READ_TOOLS:
            return
        if name in SHELL_TOOLS:
            from tray.protection.shell_calls import check_shell_line  # most events name nothing that is protected

            for line in arguments(event.agent, tool, COMMAND):
                yield from check_shell_line(str(line), event.cwd, places)
            return
        input = canonical_input(event.agent, tool.name, tool.input)
        if name in WRITE_TOOLS:
            paths = [one for key in PATH_KEYS for one in arguments(event.agent, tool, key) if isinstance(one, str)]
            if paths:
                yield from self._check_write(input, paths, event.cwd, places)
                return
            input = dict(tool.input)  # a patch, or an unknown input
        yield from self._check_unknown_tool(name, input, event.cwd, places)

    def _check_write(
        self, input: Mapping[str, object], paths: Sequence[str], cwd: str, places: ProtectedPaths
    ) -> Iterator[ProtectionFinding]:
        for path in paths:
            if kind := places.kind(path, cwd):
                whole = places.absolute(path, cwd)
                if kind in asked_kinds():
                    hint = GUARD_HINT if kind == GUARD_KIND else ASKED_HINT
                    yield ProtectionFinding(Verdict.ASK, asked_reason(path, kind), whole, hint)
                    continue
                verdict = Verdict.DENY if kind == OWN_KIND else judge_edit(input, whole)
                if verdict is Verdict.ABSTAIN:
                    continue
                if verdict is Verdict.ASK:
                    reason = f"this call could change or switch off hooks in {PurePath(path).name};"
                    yield ProtectionFinding(verdict, reason, whole, PROJECT_HINT)
                    continue
                reason = f"{PurePath(path).name} is {kind}; changing it is for a person:"
                yield ProtectionFinding(verdict, reason, whole)
            elif found := places.judge_environment(path, cwd):
                yield ProtectionFinding(found.verdict, found.reason, found.path)
            elif (lines := shell_lines(places.absolute(path, cwd))) and adds_match(
                input, places.absolute(path, cwd), lines
            ):
                yield shell_text(path, cwd, places)

    def _check_unknown_tool(
        self, name: str, input: Mapping[str, object], cwd: str, places: ProtectedPaths
    ) -> Iterator[ProtectionFinding]:
        """A tool that we do not know: a command is judged as one, a path is asked about unless it is only read."""
        from tray.protection.shell_calls import check_shell_line, controls_hooktray

        for line in _lines(input):
            yield from check_shell_line(line, cwd, places)
        given = _texts(input)
        for text in given:
            lines = shell_lines(places.absolute(text, cwd)) if len(text) < MAX_PATH and "\n" not in text else None
            if lines and any(lines.search(one) for one in given):
                yield shell_text(text, cwd, places)
        for key, text in ((key, text) for key, value in input.items() for text in _texts(value)):
            if key in CODE_KEYS:
                yield from check_shell_line(text, cwd, places)
            yield from self._check_argument(name, text, cwd, places)
            if RUNNING_TOOL.search(name) and controls_hooktray(text):
                reason = "a text that may be run speaks of switching Hooktray's guards;"
                yield ProtectionFinding(Verdict.ASK, reason, "hooktray")

    def _check_argument(self, name: str, text: str, cwd: str, places: ProtectedPaths) -> Iterator[ProtectionFinding]:
        """What such a tool is given anywhere: a page of ours, a patch, a path, something to be typed."""
        if places.names_page(text):
            yield ProtectionFinding(Verdict.DENY, "Hooktray's own page is for a person:", text)
        if "\n" in text:
            yield from patched_files(text, cwd, places)
        elif len(text) < 4096 and not _reads(name):
            kind = places.kind(text, cwd)
            if not kind and REMOVING_TOOL.search(name) and places.contains_protected(text, cwd):
                kind = "a folder with Hooktray's own files"
            if kind:
                path = places.absolute(text, cwd)
                yield ProtectionFinding(Verdict.ASK, f"{name} is about {kind}; if that changes it,", path)
            elif found := places.judge_environment(text, cwd, removes=bool(REMOVING_TOOL.search(name))):
                yield ProtectionFinding(Verdict.ASK, found.reason, found.path)


def _folders(tool: Tool) -> list[str]:
    """The folders in which a call may ask to be run."""
    return [one for key in FOLDER_KEYS if isinstance(one := tool.input.get(key), str) and 0 < len(one) < MAX_PATH]


def _lines(input: Mapping[str, object]) -> Iterator[str]:
    """The command lines that are given as lists, with the program in front when it is given apart."""
    program = next((value for key, value in input.items() if key in PROGRAM_KEYS and isinstance(value, str)), "")
    for value in input.values():
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            yield shlex.join(value)
            if program:
                yield shlex.join([program, *value])


def _is_excepted(found: ProtectionFinding, word: str) -> bool:
    return found.subject == word or fnmatch(found.subject, word)


def _reads(name: str) -> bool:
    """Whether the tool only reads, by its name."""
    words = [word.lower() for word in WORD.findall(name.rpartition("__")[2])]
    changes = any(word in CHANGES or CHANGING.match(word) for word in words)
    return bool(words) and words[0].startswith(READING) and not changes


def _text(input: Mapping[str, object]) -> str:
    """Every text in it, joined without a separator; in most calls each argument is one text."""
    if {str}.issuperset(map(type, input.values())):
        return "".join(map(str, (*input, *input.values())))
    return "".join(_texts(input))


def _texts(value: object) -> list[str]:
    """Every text in it that is not empty, in order."""
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, (list, tuple)):
            waiting += _nonempty(one)
        elif isinstance(one, (dict, Mapping)):
            keys = (key for key in one if isinstance(key, str))  # a key may be a path
            waiting += _nonempty([*keys, *one.values()])
    return found


def _nonempty(values: Sequence[object]) -> list[object]:
    """The last one first, and without what holds no text: of that a payload may have millions."""
    return [one for one in reversed(values) if one and one.__class__ not in NON_TEXT_TYPES]
