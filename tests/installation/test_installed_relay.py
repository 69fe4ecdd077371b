"""The relay at its one stable place and the table beside it: installed, checked, mended, removed."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from house import PRE_TOOL_USE, House

from tray import relay_program
from tray.agents import relay_table
from tray.doctor import relay_problems
from tray.doctor.finding import Cause
from tray.installation import installed_relay
from tray.installation.relay_files import RelayFiles
from tray.model.hook import Failure, Guard
from tray.paths import Paths, locate
from tray.sources.configuration import write_atomic
from tray.store.db import open_db

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="runs POSIX shells")

GUARD = Guard(agent="claude-code", event="PreToolUse", failure=Failure.BLOCK, names=("Bash",))
BODY = json.dumps(PRE_TOOL_USE).encode()


def install(house: House, *guards: Guard) -> Paths:
    installed_relay.install(house.paths, house.stores.database)
    installed_relay.write_table(house.paths, guards, house.stores.database)
    return house.paths


def causes(house: House) -> list[Cause]:
    return [one.cause for one in relay_problems.problems(house.paths, house.stores.database)]


def relay(paths: Paths, *words: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [str(paths.relay), *(words or ("claude-code", "PreToolUse"))],
        input=BODY, capture_output=True, timeout=60, check=False, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def decision(stdout: bytes) -> str:
    return str(json.loads(stdout)["hookSpecificOutput"]["permissionDecision"]) if stdout else ""


def test_it_is_installed_once_and_runs_from_there(house: House) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    paths = install(house)

    assert paths.relay == house.root / "home" / "bin" / "hooktray-hook"
    assert (paths.relay.stat().st_mode & 0o777, paths.relay_folder.stat().st_mode & 0o777) == (0o700, 0o700)
    assert decision(relay(paths)[1]) == "deny"
    assert causes(house) == []
    assert not installed_relay.install(paths, house.stores.database)
    assert not installed_relay.write_table(paths, None, house.stores.database)


def test_without_an_own_home_it_is_among_the_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert (sys.platform, locate().relay) in {
        ("linux", tmp_path / ".local" / "share" / "hooktray" / "bin" / "hooktray-hook"),
        ("darwin", tmp_path / "Library" / "Application Support" / "Hooktray" / "bin" / "hooktray-hook"),
    }


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def link(paths: Paths) -> None:
    paths.relay.unlink()
    paths.relay.symlink_to("/bin/true")


def redirect(paths: Paths) -> None:
    paths.relay_table.write_text(paths.relay_table.read_text().replace(str(paths.state), "/nonexistent"))


DAMAGE: dict[str, tuple[Callable[[Paths], object], list[Cause]]] = {
    "deleted": (lambda paths: paths.relay.unlink(), [Cause.RELAY_MISSING]),
    "a link": (link, [Cause.RELAY_MISSING]),
    "altered": (lambda paths: append(paths.relay), [Cause.RELAY_ALTERED]),
    "no program": (lambda paths: paths.relay.chmod(0o600), [Cause.RELAY_NOT_EXECUTABLE]),
    "table deleted": (lambda paths: paths.relay_table.unlink(), [Cause.RELAY_TABLE_MISSING]),
    "table altered": (lambda paths: append(paths.relay_table), [Cause.RELAY_TABLE_ALTERED]),
    "table redirected": (redirect, [Cause.RELAY_ELSEWHERE]),
    "the folder deleted": (
        lambda paths: shutil.rmtree(paths.relay_folder), [Cause.RELAY_MISSING, Cause.RELAY_TABLE_MISSING]
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGE)
def test_what_somebody_did_to_it_is_found_and_mended_with_its_guards(house: House, case: str) -> None:
    paths = install(house, GUARD)
    before = paths.relay_table.read_bytes()
    damage, expected = DAMAGE[case]

    damage(paths)

    assert causes(house) == expected
    assert installed_relay.mend(paths, house.stores.database) == ()
    assert paths.relay_table.read_bytes() == before
    assert relay(paths)[0] == 0


def test_the_relay_of_another_version_is_replaced(house: House) -> None:
    paths = install(house)
    paths.relay.write_bytes(b"#!/bin/sh\necho earlier\n")
    with house.stores.database.write() as connection:
        connection.execute("DELETE FROM meta WHERE key = 'relay'")  # as a start of that version left it
    assert causes(house) == [Cause.RELAY_OTHER]

    assert installed_relay.install(paths, house.stores.database)
    assert relay(paths)[1] == b""


def test_another_hooktray_takes_it_over_only_when_a_person_says_so_or_the_first_is_gone(house: House) -> None:
    paths = install(house)
    other = Paths(config=paths.config, state=house.root / "other", logs=paths.logs, home=paths.home)
    other.prepare()
    database = open_db(other.database, create=True)

    assert not installed_relay.write_table(other, (), database)
    assert not installed_relay.install(other, database)
    assert relay_table.read(paths.relay_table.read_bytes()).state == str(paths.state)
    assert [one.cause for one in relay_problems.problems(other, database)] == [Cause.RELAY_ELSEWHERE]

    assert installed_relay.write_table(other, (), database, take_over=True)
    assert causes(house) == [Cause.RELAY_ELSEWHERE]
    other.database.unlink()
    assert installed_relay.write_table(paths, (), house.stores.database)


@pytest.fixture
def portable(house: House, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """An installation without a native relay."""
    monkeypatch.setattr(relay_program, "files", relay_program.portable_files)
    return install(house)


def test_without_a_native_relay_a_script_of_the_same_name_runs_the_portable_one(
    house: House, portable: Paths
) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")

    assert decision(relay(portable)[1]) == "deny"
    assert causes(house) == []
    append(portable.relay_folder / "relay.py")
    assert causes(house) == [Cause.RELAY_ALTERED]


def test_the_script_is_harmless_without_an_interpreter(portable: Paths) -> None:
    script = portable.relay.read_text()
    nowhere = script.replace(sys.executable, "/nonexistent/python")
    for path in relay_program.INTERPRETERS:
        nowhere = nowhere.replace(path, "/nonexistent/python")
    portable.relay.write_text(nowhere)

    assert relay(portable) == (0, b"", b"")
    portable.relay.write_text(script)
    (portable.relay_folder / "relay.py").unlink()
    assert relay(portable) == (0, b"", b"")


@pytest.mark.parametrize("kind", ["native", "portable"])
def test_with_the_package_gone_a_guarded_call_is_denied_with_the_command_that_ends_it(
    house: House, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "portable":
        monkeypatch.setattr(relay_program, "files", relay_program.portable_files)
    paths = install(house, GUARD)
    table = re.sub(r"\nonce=[^\x1f\n]*", "\nonce=/nonexistent/python", paths.relay_table.read_text())
    paths.relay_table.write_text(table)

    code, stdout, stderr = relay(paths)

    reason = json.loads(stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    assert (code, decision(stdout), stderr) == (0, "deny", b"")
    assert "`hooktray doctor`" in reason
    subprocess.run(["/bin/sh", "-c", reason.split("`")[3]], check=True)
    assert relay(paths) == (0, b"", b"")


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BREAK: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "damaged": lambda path: path.write_bytes(b"x" * 4096),
    "truncated": lambda path: os.truncate(path, 5000),
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("case", BREAK)
def test_with_a_database_that_cannot_be_read_only_guarded_calls_are_asked_about(house: House, case: str) -> None:
    paths = install(house, GUARD)
    house.stores.journal.close()
    for suffix in ("-wal", "-shm"):
        paths.database.with_name(paths.database.name + suffix).unlink(missing_ok=True)
    BREAK[case](paths.database)

    assert decision(relay(paths)[1]) == "deny"
    log = (paths.logs / "hooktray.log").read_text()
    assert "once: 'claude-code' 'PreToolUse': " in log
    assert str(paths.database) in log
    assert relay(paths, "claude-code", "Stop") == (0, b"", b"")
    installed_relay.write_table(
        paths,
        [Guard(agent="claude-code", event="PreToolUse", failure=Failure.ASK, names=("Read",))],
        house.stores.database,
    )
    assert relay(paths) == (0, b"", b"")


def test_a_table_leads_here_until_it_is_removed_altered_or_of_another_program(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, database = install(house, GUARD), house.stores.database
    assert installed_relay.leads_here(paths, database)

    with monkeypatch.context() as other:
        other.setattr(sys, "base_exec_prefix", str(house.root))  # no interpreter is there
        assert not installed_relay.leads_here(paths, database)

    paths.relay_table.write_bytes(paths.relay_table.read_bytes() + b"#\n")
    assert not installed_relay.leads_here(paths, database)
    paths.relay_table.unlink()
    assert not installed_relay.leads_here(paths, database)


def lock_error(database: Path) -> str:
    with closing(sqlite3.connect(database, timeout=0)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return str(error)
    return ""


def test_while_the_table_is_written_or_removed_no_other_process_records_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, seen, unlink = install(house), [], Path.unlink

    def write(path: Path, content: bytes, mode: int) -> None:
        seen.append((path, lock_error(paths.database)))
        write_atomic(path, content, mode)

    def look(path: Path, missing_ok: bool = False) -> None:
        seen.extend([(path, lock_error(paths.database))] if path == paths.relay_table else ())
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(installed_relay, "write_atomic", write)
    monkeypatch.setattr(Path, "unlink", look)

    assert installed_relay.write_table(paths, [GUARD], house.stores.database)
    assert installed_relay.remove(paths, house.stores.database)

    assert seen == [(paths.relay_table, "database is locked")] * 2
    assert not paths.relay_folder.exists()
    assert causes(house) == []
    assert not relay_problems.is_installed(paths, house.stores.database)


def test_a_table_that_the_tray_makes_while_the_last_agent_is_disconnected_is_not_written(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = install(house, GUARD)
    mark = installed_relay.mark_package

    def remove() -> tuple[str, ...]:  # by another process, while the tray makes the table
        installed_relay.remove(paths, open_db(paths.database, create=False))
        return mark()

    monkeypatch.setattr(installed_relay, "mark_package", remove)

    RelayFiles(paths, house.stores, house.catalog).write()

    assert not paths.relay_folder.exists()
    assert not relay_problems.is_installed(paths, house.stores.database)
