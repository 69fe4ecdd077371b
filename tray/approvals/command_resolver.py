"""The command line of an approved hook, on the approved bytes and with the very programs that were approved."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tray.agents.placeholders import fill
from tray.approvals.command_words import (
    SYSTEM_FOLDERS,
    CommandWord,
    Stamp,
    file_sha256,
    is_user_file,
    path_stamp,
    program_of,
    words_of,
)
from tray.approvals.program_check import ProgramChecker, hook_path
from tray.approvals.script_start import (
    ScriptSource,
    ScriptStart,
    Starts,
    can_be_sealed,
    script_source,
    script_start,
)
from tray.errors import HooktrayError
from tray.execution.sealed_script import SealedScript, seal
from tray.files import content
from tray.lazy_dataclass import dataclass, replace
from tray.model.hook import Command, Hook
from tray.store.copies import Copies, DamagedError, Manifest
from tray.store.pins import Pins

MAX_LINES = 128  # command lines that are remembered, each with the descriptor of its script
NO_PLACEHOLDERS: Mapping[str, str] = MappingProxyType({})
NO_PROGRAMS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What starts: its words, and the script that they name by a descriptor, if any."""

    argv: tuple[str, ...] = ()
    script: SealedScript | None = None
    search_path: str = ""  # the hook's PATH; "" for the agent's


@dataclass(frozen=True, slots=True)
class _KnownLine:
    hook: Hook
    manifest: Manifest
    pins: Pins | None
    searched: str  # the agent's PATH, if the hook looks in it
    programs: Mapping[str, str]
    is_fixed: bool  # whether only the system can replace the programs
    line: CommandLine


@dataclass(frozen=True, slots=True, kw_only=True)
class _SealedHook:
    """A hook of one file that runs from a descriptor."""

    manifest: Manifest
    path: str
    source: ScriptSource
    script: SealedScript


class CommandResolver:
    """Runs hooks from their approved bytes, bound to the very programs that were there when they were approved."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._cached_sums: dict[Stamp, str] = {}
        self._lines: dict[str, _KnownLine] = {}  # as long as hook and copy are the same
        self._sources: dict[tuple[str, str], ScriptSource] = {}
        self._sealed: dict[str, _SealedHook] = {}
        self._programs = ProgramChecker()

    def argv(self, hook: Hook, name: str, placeholders: Mapping[str, str] = NO_PLACEHOLDERS) -> tuple[str, ...]:
        """The command line on the approved copies. Raises DamagedError; never falls back to the original.

        `placeholders` are the hook's values for one event.
        """
        if not isinstance(hook.action, Command):
            return ()
        manifest = self._intact_manifest(hook, name)
        self._check_pinned(hook, manifest)
        _check_program(hook, hook.action, manifest)
        return _line(hook, hook.action, self._plain_starts(name), placeholders, NO_PROGRAMS)

    def command_line(
        self,
        hook: Hook,
        name: str,
        placeholders: Mapping[str, str] = NO_PLACEHOLDERS,
        pins: Pins | None = None,
        agent_path: str = "",
    ) -> CommandLine:
        """The same as it is started: a script that does not use its own place is read from a sealed descriptor.

        `pins` are its programs. Raises ProgramChangedError when one of them is another one now. A hook that was
        approved before PATHs were recorded looks in `agent_path`, too.
        """
        command = hook.action
        if not isinstance(command, Command):
            return CommandLine()
        # A descriptor's bytes are the approved ones, whatever became of the copy.
        sealed = self._sealed.get(name)
        manifest = sealed.manifest if sealed else self._intact_manifest(hook, name)
        searched = agent_path if pins and pins.is_open else ""
        known = self._lines.get(name)
        if known is not None and (known.manifest is not manifest or known.pins is not pins):
            known = None
        if known is not None and known.is_fixed:
            programs = known.programs
        else:
            programs = self._programs.programs(pins, hook.name) if pins else NO_PROGRAMS
        if manifest.pinned:
            self._check_pinned(hook, manifest, pins)
        is_same = known is not None and known.programs == programs and known.searched == searched
        if known is not None and is_same and not placeholders and (sealed or known.hook is hook):
            return known.line
        line = self._make_line(hook, command, name, manifest, programs, placeholders)
        if pins:
            line = replace(line, search_path=hook_path(pins, searched))
        if not placeholders and (line.script is None or name in self._sealed):
            if len(self._lines) >= MAX_LINES:
                self._lines.clear()
            is_fixed = pins is None or not self._programs.is_watched(pins)
            self._lines[name] = _KnownLine(hook, manifest, pins, searched, programs, is_fixed, line)
        return line

    def _make_line(
        self,
        hook: Hook,
        command: Command,
        name: str,
        manifest: Manifest,
        programs: Mapping[str, str],
        placeholders: Mapping[str, str],
    ) -> CommandLine:
        _check_program(hook, command, manifest)
        sealed = self._sealed.get(name) or self._seal(hook, command, name, manifest)
        if sealed:
            starts: Starts = {sealed.path: script_start(sealed.source, programs, sealed.script)}.get
        else:
            starts = self._copied_starts(hook, command, name, programs)
        argv = _line(hook, command, starts, placeholders, programs)
        return CommandLine(argv=argv, script=sealed.script if sealed else None)

    def _seal(self, hook: Hook, command: Command, name: str, manifest: Manifest) -> _SealedHook | None:
        """The only file of a hook behind a descriptor; None when it has to run from its copy."""
        if len(manifest.files) != 1:
            return None
        ((path, expected),) = manifest.files.items()
        source, whole = self._source(hook, command, name, path), content(self._copies.paths(name)[path])
        if not can_be_sealed(hook, command, source, whole):
            return None
        if hashlib.sha256(whole).hexdigest() != expected:
            raise DamagedError(f"the approved copy of {path} was altered while {hook.name} was started")
        script = seal(whole, path)
        if script is None:
            return None
        sealed = _SealedHook(manifest=manifest, path=path, source=source, script=script)
        if script.is_shared:
            if len(self._sealed) >= MAX_LINES:
                self._sealed.clear()
            self._sealed[name] = sealed
        return sealed

    def _plain_starts(self, name: str) -> Starts:
        copies = self._copies.paths(name)
        return lambda path: (
            ScriptStart(as_program=(copies[path],), as_script=(copies[path],)) if path in copies else None
        )

    def _copied_starts(self, hook: Hook, command: Command, name: str, programs: Mapping[str, str]) -> Starts:
        copies = self._copies.paths(name)
        return lambda path: (
            script_start(self._source(hook, command, name, path), programs, None) if path in copies else None
        )

    def _source(self, hook: Hook, command: Command, name: str, path: str) -> ScriptSource:
        """What is known of one script of a copy; its bytes are those of the copy's name."""
        found = self._sources.get((name, path))
        if found is None:
            if len(self._sources) >= MAX_LINES:
                self._sources.clear()
            found = self._sources[name, path] = script_source(hook, command, path, self._copies.paths(name)[path])
        return found

    def _check_pinned(self, hook: Hook, manifest: Manifest, pins: Pins | None = None) -> None:
        """At each start: these programs can change without a change of the hook or of its copy."""
        for path, pinned in manifest.pinned.items():  # what runs from a copy is not looked for at its old path
            if pins and path in pins.approved:
                continue  # one question covers all hooks that use it
            if pinned != self._cached_sha256(path):
                raise DamagedError(f"{path} is another program than when {hook.name} was approved")

    def _intact_manifest(self, hook: Hook, name: str) -> Manifest:
        """What the copy consists of; altered files are put back from the spare bytes or from the hook's files."""
        try:
            manifest = self._copies.check(name)
            self._copies.keep_spares(name)  # before the hook's first start can alter it
            return manifest
        except DamagedError:
            with contextlib.suppress(DamagedError):
                return self._copies.restore(name)
            from tray.approvals.inspection import read_bundle  # takes long to import; few copies are damaged

            with contextlib.suppress(HooktrayError, OSError, ValueError):
                bundle = read_bundle(hook)
                if bundle.digest == name:
                    self._copies.save(bundle)
                    return self._copies.check(name)
            raise

    def copy(self, name: str, original: str) -> str:
        """Where the copy of a file or folder lies within the bundle; "" for no folder."""
        return str(self._copies.path(name, original)) if original else ""

    def _cached_sha256(self, path: str) -> str:
        """The program's SHA-256; read again only when the file may be another one by the kernel's marks."""
        stamp = path_stamp(path)
        if stamp is None:
            return "gone"
        if stamp not in self._cached_sums:
            self._cached_sums[stamp] = file_sha256(path)
        return self._cached_sums[stamp]


def _check_program(hook: Hook, command: Command, manifest: Manifest) -> None:
    """Once for each line: what starts follows from the hook and its copy."""
    program = program_of(hook, command)
    if program not in (*manifest.files, *manifest.pinned) and not program.startswith(SYSTEM_FOLDERS):
        raise DamagedError(f"{program} was not there when {hook.name} was approved")


def _line(
    hook: Hook, command: Command, starts: Starts, placeholders: Mapping[str, str], programs: Mapping[str, str]
) -> tuple[str, ...]:
    program = program_of(hook, command)
    if command.shell:
        from tray.approvals import shell_hooks  # takes long to import, and not every hook is a shell line

        return (programs.get(program, program), "-c", shell_hooks.rewrite_line(hook, command, starts))
    first, others = starts(program), list(words_of(hook, command))[1:]
    words = (part for word in others for part in _resolve_word(word, starts, placeholders, command))
    return (*(first.as_program if first else (programs.get(program, program),)), *words)


def _resolve_word(
    word: CommandWord, starts: Starts, placeholders: Mapping[str, str], command: Command
) -> tuple[str, ...]:
    """The word with the approved copy of what it names; data keeps the user's own path in every folder."""
    if start := starts(word.path):
        *options, path = start.as_script
        return (*options, word.prefix + path)
    named = word.text.removeprefix(word.prefix)
    if named.startswith("~/") or (_is_relative(named, command) and "${" not in named):
        return (word.prefix + word.path,)
    if is_user_file(word.path) and not Path(named).is_absolute():
        return (word.prefix + word.path,)
    return (fill(word.text, placeholders),)


def _is_relative(named: str, command: Command) -> bool:
    """Whether it is a path relative to hooktray.yaml; other formats mean the agent's folder."""
    return not command.format and named.startswith(("./", "../"))
