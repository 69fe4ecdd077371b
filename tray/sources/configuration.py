"""hooktray.yaml as a whole, with the sources it names; the last good one stays in force when it is broken."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.agents.registry import AGENTS
from tray.errors import ConfigError
from tray.files import user_file
from tray.model.hook import Command, Hook
from tray.paths import Paths, unwritable_error
from tray.settings import Settings, invalid_value
from tray.settings import read as read_settings
from tray.sources.external import read as read_sources
from tray.sources.hooktray import read as read_hooks
from tray.sources.sounds import check as check_sounds
from tray.sources.sounds import files as sound_files
from tray.sources.starter import STARTER_TEXT
from tray.strict.document import Document, suggest
from tray.strict.yaml_reader import load_yaml


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What is in force. `problem` has the reason why the file as it is now is not; "" when it is.

    `warnings` are about entries of other sources and missing sounds, each with its place; `watched` are
    the files of both.
    """

    settings: Settings = msgspec.field(default_factory=Settings)
    hooks: tuple[Hook, ...] = ()
    problem: str = ""
    warnings: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()


class PathSource(Protocol):
    """Finds the PATH for programs of hooks."""

    def current(self) -> str: ...


SCHEMA = Path(__file__).parents[1] / "hooktray.schema.json"


def parse(text: str | bytes, path: str) -> Configuration:
    """Settings and hooks of one text; raises ConfigError."""
    document = load_yaml(text, path)
    settings = read_settings(document)
    _check_agents(document, settings)
    own_hooks = tuple(read_hooks(document, settings.background_seconds))
    sources = read_sources(document, os.environ)
    hooks = (*own_hooks, *(replace(hook, background_seconds=settings.background_seconds) for hook in sources.hooks))
    return Configuration(
        settings=settings,
        hooks=hooks,
        warnings=(*check_sounds(document, settings, os.environ), *sources.warnings),
        watched=(*sources.watched, *sound_files(settings)),
    )


def _check_agents(document: Document, settings: Settings) -> None:
    for index, agent in enumerate(settings.ask_on_desktop.agents):
        if agent not in AGENTS:
            place = ("ask_on_desktop", "agents", index)
            what = f"expected one of {', '.join(AGENTS)}, got `{agent}`"
            raise invalid_value(document, place, what, suggest(agent, AGENTS))


def load(paths: Paths) -> Configuration:
    """Never raises: a broken file leaves the last good one in force, and sets `problem`."""
    try:
        text = user_file(paths.config)
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError) and not paths.config.is_symlink()
        if is_gone and not paths.last_good.exists():
            return Configuration()
        what, hint = f"cannot be read: {error.strerror or error}", "put a file there that you can read"
        if is_gone:
            what, hint = "is gone", "put it back; an empty file says that you want nothing"
        return _last_good(paths, f"{paths.config}: {what}\n  {hint}")
    try:
        configuration = parse(text, str(paths.config))
    except ConfigError as error:
        return _last_good(paths, str(error))
    _keep(paths.last_good, text)
    return configuration


def find_programs(configuration: Configuration, search: PathSource) -> Configuration:
    """Returns the configuration with programs that our own PATH lacks, found on the PATH that `search` returns."""
    if not any(_is_unfound(hook) for hook in configuration.hooks):
        return configuration
    path = search.current()
    return replace(configuration, hooks=tuple(_with_program(hook, path) for hook in configuration.hooks))


def _is_unfound(hook: Hook) -> bool:
    """Whether its program is a name that was found nowhere."""
    action = hook.action
    if not isinstance(action, Command) or action.interpreter or action.shell or hook.inactive:
        return False
    first = shlex.split(action.line)[0]
    return "/" not in first and "\\" not in first and "${" not in first


def _with_program(hook: Hook, path: str) -> Hook:
    if not isinstance(hook.action, Command) or not _is_unfound(hook):
        return hook
    program = shutil.which(shlex.split(hook.action.line)[0], path=path) or ""
    return replace(hook, action=replace(hook.action, interpreter=program)) if Path(program).is_absolute() else hook


def file_stamp(path: Path) -> object:
    """A cheap sign that this file or folder may have changed; None when it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _keep(path: Path, text: bytes) -> None:
    """Writes the file if its text differs; ignores a failure."""
    with contextlib.suppress(OSError):
        if not path.exists() or user_file(path) != text:
            write_atomic(path, text)


def write_atomic(path: Path, text: bytes, mode: int = 0o600) -> None:
    """Write a file as a whole or not at all."""
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.chmod(draft, mode)  # noqa: PTH101
        Path(draft).replace(path)
    except OSError:  # a full disk
        Path(draft).unlink(missing_ok=True)
        raise


def write_starter(paths: Paths) -> bool:
    """Write the commented starter file where there is none; True when it was written. Its schema goes beside it."""
    _keep(paths.config.with_name(SCHEMA.name), SCHEMA.read_bytes())
    if paths.config.exists() or paths.config.is_symlink():
        return False
    try:
        write_atomic(paths.config, STARTER_TEXT.encode())
    except OSError as error:
        raise unwritable_error(paths.config.parent, error) from error
    return True


def _last_good(paths: Paths, problem: str) -> Configuration:
    try:
        good = parse(user_file(paths.last_good), str(paths.config))
    except (OSError, ConfigError):
        return Configuration(problem=problem)
    return replace(good, problem=problem)
