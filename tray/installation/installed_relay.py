"""The relay at its one stable place, and the table beside it: installing, mending, removing.

Agents' settings name this place only (docs/running-tray.md). doctor/relay_problems.py finds what is wrong with both.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from tray import relay_program
from tray.agents import relay_table
from tray.agents.relay_table import TableContent
from tray.doctor.agent_sites import connected_agents
from tray.doctor.finding import Cause, Finding
from tray.doctor.relay_problems import (
    RELAY,
    TABLE,
    file_content,
    is_installed,
    other_state,
    problems,
    read_table,
    relay_digest,
    relay_names,
    saved_rows,
)
from tray.engine.guards_in_force import USUAL_WITHOUT_TRAY, GuardSources, connected_guards, kept_guards, note_loss
from tray.errors import HooktrayError, StoreError
from tray.execution.isolation import STARTER, one_shot_command
from tray.model.hook import Guard
from tray.paths import Paths, follow, unwritable_error
from tray.sources.configuration import write_atomic
from tray.store.db import Database, open_db
from tray.store.ledger import Ledger
from tray.store.switch import Switch

SEPARATOR = "\x1f"  # between the words of a command in relay.conf
SAVE = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
SITE_NAMES = ("dist-packages", "site-packages")
PACKAGE_MARK = Path("share", "hooktray", "connected")
FORGET = "DELETE FROM meta WHERE key IN (?, ?)"

log = logging.getLogger(__name__)


def leads_here(paths: Paths, database: Database) -> bool:
    """Whether the table is as it was written last, and names our state folder and this program's one-shot engine."""
    text = file_content(paths.relay_table)
    if text is None or saved_rows(database).get(TABLE, "").encode() != text:
        return False
    found = relay_table.read(text)
    return found.state == str(paths.state) and found.once == once_command(paths)


def once_command(paths: Paths) -> tuple[str, ...]:
    """Returns the command of the one-shot engine, without the agent and event that the relay appends."""
    folders = ("--config", paths.config, "--state", paths.state, "--logs", paths.logs)
    options = paths.relay_options if paths.home else folders
    return (*one_shot_command(), *map(str, options))


def write_conf(paths: Paths, without_tray: str) -> None:
    """Write relay.conf, which a relay without a table, such as `hooktray relay`, reads while no tray runs.

    Raises OSError.
    """
    text = os.fsencode(f"without_tray={without_tray}\nonce={SEPARATOR.join(once_command(paths))}\n")
    if not paths.relay_conf.exists() or paths.relay_conf.read_bytes() != text:
        write_atomic(paths.relay_conf, text)


def mend(paths: Paths, database: Database) -> tuple[Finding, ...]:
    """Install relay and table anew; returns what is still wrong."""
    install(paths, database)
    write_table(paths, None, database)
    return problems(paths, database)


def install(paths: Paths, database: Database, *, take_over: bool = False) -> bool:
    """Install this version's relay, whatever version is there. Returns True if a file was written.

    `take_over`: as in `write_table`. Raises HooktrayError.
    """
    if _is_ours_elsewhere(paths) and not take_over:
        return False
    files = relay_program.files()
    _make_folder(paths)
    written = [_write(paths.relay_folder / name, content, 0o700) for name, content in reversed(tuple(files.items()))]
    _save(database, RELAY, relay_digest(files.values()))
    for name in {relay_program.PORTABLE_RELAY.name} - files.keys():
        (paths.relay_folder / name).unlink(missing_ok=True)
    return any(written)


def write_table(
    paths: Paths,
    guarded: Iterable[Guard] | None,
    database: Database,
    *,
    without_tray: str = "",
    take_over: bool = False,
    only_installed: bool = False,
) -> bool:
    """Write the table beside the relay if it is to say anything else; whether it was written.

    `guarded`: what approved hooks guard at connected agents while switched on; None keeps those of the last call.
    `without_tray`: the confirmed setting; "" keeps that of the last call. `take_over`: also when the table leads to
    another Hooktray that is still there, which only the user may decide. `only_installed`: not when both were removed
    meanwhile. Raises HooktrayError.
    """
    if _is_ours_elsewhere(paths) and not take_over:
        return False
    text = saved_rows(database).get(TABLE)  # the file, which may have been changed, counts only without a text
    known = relay_table.read(text.encode()) if text else read_table(paths)
    mode = without_tray or known.without_tray or USUAL_WITHOUT_TRAY
    kept = known.guards if guarded is None else tuple(guarded)
    content = TableContent(
        state=str(paths.state),
        without_tray=mode,
        once=once_command(paths),
        package=mark_package(),
        guards=() if mode != USUAL_WITHOUT_TRAY else kept,
        ending=ending_command(paths),
    )
    return _replace_table(paths, relay_table.installed_text(content), database, only_installed=only_installed)


def remove(paths: Paths, database: Database) -> bool:
    """Take relay and table away, as the last agent is disconnected; whether anything was there.

    Those of another Hooktray stay. Lines that still name the relay are then silent.
    """
    if _is_ours_elsewhere(paths):
        return False
    places = [paths.relay_table, *(paths.relay_folder / name for name in relay_names())]
    with database.write() as connection:  # a running tray writes nothing meanwhile, and mends nothing afterwards
        connection.execute(FORGET, (RELAY, TABLE))
        unmark_package()
        found = [place for place in places if place.exists()]
        for place in found:
            with contextlib.suppress(OSError):
                place.unlink()
    with contextlib.suppress(OSError):
        paths.relay_folder.rmdir()  # unless there is something else in it
    return bool(found)


def prepare_to_connect(paths: Paths, agent: str) -> None:
    """Install relay and table before this agent's settings name them, with a database if there is none yet.

    So an event before the first start of the tray is judged and journalled by the one-shot engine. Raises
    HooktrayError.
    """
    database = open_db(paths.database)
    database.require_writable()
    note_loss(paths, database, Ledger(database).state)
    install(paths, database, take_over=True)
    agents = {*connected_agents(paths), agent}
    write_table(paths, _guards(database, agents), database, take_over=True)


def update_after_disconnect(paths: Paths) -> None:
    """Nothing guards a disconnected agent; with the last one, the relay goes as well. Raises HooktrayError."""
    database = open_db(paths.database)
    note_loss(paths, database, Ledger(database).state)
    connected = connected_agents(paths)
    if not connected:
        remove(paths, database)
    elif is_installed(paths, database):
        write_table(paths, _guards(database, connected), database)


def _guards(database: Database, agents: Collection[str]) -> tuple[Guard, ...]:
    sources = GuardSources(
        database=database,
        ledger=Ledger(database).state,
        switch=Switch(database),
        agents=agents,
    )
    return connected_guards(sources, kept_guards(sources))


def ending_command(paths: Paths) -> str:
    """The command that ends all guards when Hooktray itself was removed without `disconnect`."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(["del", str(paths.relay_table)])
    return shlex.join(["rm", str(paths.relay_table)])


def _is_ours_elsewhere(paths: Paths) -> bool:
    """Whether the table leads to another Hooktray that is still there.

    Otherwise a tray that was started with another state folder in its environment would redirect every agent.
    """
    other = other_state(paths)
    return bool(other) and Path(other, paths.database.name).exists()


def _make_folder(paths: Paths) -> None:
    real = follow(paths.relay_folder)
    try:
        real.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = real.lstat()
        if sys.platform != "win32" and found.st_uid == os.getuid() and found.st_mode & 0o022:
            paths.relay_folder.chmod(0o700)
    except OSError as error:
        raise unwritable_error(paths.relay_folder, error) from error
    if not stat.S_ISDIR(found.st_mode) or (sys.platform != "win32" and found.st_uid != os.getuid()):
        message = f"{paths.relay_folder}: is not a real folder of yours"
        raise HooktrayError(message, hint="move it away: agents run the relay in it")


def _write(path: Path, content: bytes, mode: int) -> bool:
    """Whole or not at all, since an agent may run it at this moment; whether it was written."""
    try:
        if file_content(path) == content and (sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == mode):
            return False
        if path.is_dir() and not path.is_symlink():
            try:
                path.rmdir()
            except OSError as error:
                found = Finding(cause=Cause.RELAY_FOLDER, name="relay", values={"file": path})
                raise HooktrayError(found.message, hint=found.remedy) from error
        if sys.platform == "win32" and path.suffix == ".exe":
            _set_aside(path)
        write_atomic(path, content, mode)
    except OSError as error:
        raise unwritable_error(path.parent, error) from error
    return True


def _replace_table(paths: Paths, text: str, database: Database, *, only_installed: bool) -> bool:
    """Write file and record in one transaction; whether the file was written.

    `connect` and the tray may write at the same time. The file of one beside the record of the other would count as
    altered by another program.
    """

    if saved_rows(database).get(TABLE) == text and file_content(paths.relay_table) == text.encode():
        return _write_table(paths, text)  # its mode may be another
    try:
        with database.write() as connection:
            if only_installed and not is_installed(paths, database):
                unmark_package()  # which the text has marked
                return False
            _make_folder(paths)
            connection.execute(SAVE, (TABLE, text))
            return _write_table(paths, text)
    except StoreError as error:
        _warn_unrecorded(TABLE, error)
        _make_folder(paths)
        return _write_table(paths, text)


def _write_table(paths: Paths, text: str) -> bool:
    return _write(paths.relay_table, text.encode(), 0o600)


def _set_aside(path: Path) -> None:
    """Windows replaces no program that runs, but gives it another name."""
    for old in path.parent.glob(f"{path.name}.old-*"):
        with contextlib.suppress(OSError):
            old.unlink()
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}.old-{os.getpid()}"))


def _save(database: Database, key: str, value: str) -> None:
    """A database that cannot be written at this moment must not keep agents without a relay."""
    if saved_rows(database).get(key) == value:
        return
    try:
        with database.write() as connection:
            connection.execute(SAVE, (key, value))
    except StoreError as error:
        _warn_unrecorded(key, error)


def _warn_unrecorded(key: str, error: StoreError) -> None:
    log.warning("what was installed as %s could not be written down: %s", key, error.message)


def mark_package() -> tuple[str, ...]:
    """Marks the environment, and returns the table's mark, folder and files of the package; () if it is not known.

    With them, the relay distinguishes an uninstalled Hooktray from an environment that was moved or is being rebuilt.
    `pip uninstall` removes only the package's own files. So the mark, an empty file `share/hooktray/connected` in the
    environment, outlives the package, but not a rebuild. There is no mark in a folder that only an administrator can
    write, nor below /usr: there the system's package manager removes the files, and would leave the mark behind.
    """
    package = Path(STARTER).parent
    site = package.parent
    if sys.platform == "win32" or getattr(sys, "frozen", False) or site.name not in SITE_NAMES:
        return ()
    files = tuple(str(package / name) for name in ("__init__.py", "isolated.py", "once.py"))
    if is_of_the_system(package) or not any(os.access(folder, os.W_OK) for folder in (package, *package.parents)):
        return "", "", *files
    file = _mark_file(site)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    except OSError:
        return ()
    return str(file), str(site), *files


def unmark_package() -> None:
    """No agent runs the relay any more."""
    site = Path(STARTER).parent.parent
    if site.name not in SITE_NAMES:
        return
    with contextlib.suppress(OSError):
        _mark_file(site).unlink()


def is_of_the_system(package: Path) -> bool:
    """Whether it is where the system's package manager puts files."""
    return package.is_relative_to("/usr") and not package.is_relative_to("/usr/local")


def _mark_file(site: Path) -> Path:
    return site.parents[2] / PACKAGE_MARK  # site is PREFIX/lib/python3.N/site-packages
