from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from every import every
from house import PRE_TOOL_USE, House

import tray
from tray.agents.registry import BUILT_IN
from tray.engine.guards_in_force import guards as installed_guards
from tray.engine.stores import open_stores
from tray.execution.isolation import base_interpreter, package_folders
from tray.installation import installed_relay
from tray.ipc.frames import decode_answer
from tray.model.decision import Answer
from tray.once import OneShotListener
from tray.own_environment import strip_environment
from tray.paths import locate
from tray.store.db import Database, open_db
from tray.store.journal import OFFLINE_MARK

DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"no"}\''


def once(
    house: House, agent: str, event: str, payload: Any, *more: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    argv = [sys.executable, "-I", "-m", "tray", "once", "--home", str(house.paths.home), *more, agent, event]
    return subprocess.run(
        argv, input=body, capture_output=True, timeout=60, check=False, env={**os.environ, **variables}
    )


def wait_for(path: Path) -> str:
    return wait(lambda: path.read_text() if path.exists() else "", what=f"{path} is written")


def test_without_the_tray_an_approved_guard_still_denies(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (done.returncode, done.stderr) == (0, b"")
    (record,) = house.stores.journal.recent(5)
    assert (record.offline, record.reason) == (True, "guard: no")


def test_without_the_tray_deleted_copies_are_restored_from_unchanged_files(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    shutil.rmtree(house.paths.copies)

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("beside", ["tray.sock", "tray.addr", ""])
def test_beside_a_tray_its_rows_leave_a_file_that_the_tray_watches(house: House, beside: str) -> None:
    if beside:
        (house.paths.state / beside).touch()

    once(house, "claude-code", "Stop", {**PRE_TOOL_USE, "hook_event_name": "Stop"})

    (record,) = house.stores.journal.recent(5)
    assert record.offline
    assert (house.paths.state / OFFLINE_MARK).exists() is bool(beside)


def test_without_the_tray_an_unapproved_hook_does_not_run(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=f"touch {tmp_path}/ran; {DENY}", approved=False)

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)

    assert done.stdout == b""
    assert not (tmp_path / "ran").exists()


PROMPT = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "go"}


def test_without_the_tray_the_user_reads_once_a_day_that_events_take_longer(house: House) -> None:
    tool = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)
    first, second = (once(house, "claude-code", "UserPromptSubmit", PROMPT) for _ in range(2))
    yesterday = time.time() - 86_500
    os.utime(house.paths.state / "notice-without-tray", (yesterday, yesterday))
    next_day = once(house, "claude-code", "UserPromptSubmit", PROMPT)

    assert (tool.stdout, second.stdout) == (b"", b"")
    assert list(json.loads(first.stdout)) == ["systemMessage"]
    assert "`hooktray run`" in json.loads(first.stdout)["systemMessage"]
    assert next_day.stdout == first.stdout


@every(
    ("agent", "event", "switch", "spent"),
    [
        ("claude-code", "UserPromptSubmit", False, "0"),  # who switched hooks off is left alone
        ("claude-code", "UserPromptSubmit", True, "300"),  # a tray is there, and starts or hangs
        ("shelley", "end-of-turn", True, "0"),  # takes nothing that only the user reads
    ],
)
def test_otherwise_the_answer_without_the_tray_has_no_notice(
    house: House, agent: str, event: str, switch: bool, spent: str
) -> None:
    house.stores.switch.set_enabled(switch, "test")

    done = once(house, agent, event, PROMPT if agent == "claude-code" else {}, "--spent", spent)

    assert b"hooktray run" not in done.stdout + done.stderr
    assert not (house.paths.state / "notice-without-tray").exists()


def test_without_the_tray_the_master_switch_still_counts(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    house.stores.switch.set_enabled(False, "test")

    assert once(house, "claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""
    assert house.stores.journal.recent(1)[0].hooks[0]["gate"] == "switch off"


def test_hooks_of_an_observe_only_event_run_after_the_agent_was_let_go(house: House, tmp_path: Path) -> None:
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; cat >{tmp_path}/seen"
    house.hook("done", on="session_end", script=script)
    payload = {"session_id": "s", "cwd": "/", "hook_event_name": "SessionEnd", "reason": "other"}

    done = once(house, "claude-code", "SessionEnd", payload)

    assert (done.returncode, done.stdout) == (0, b"")
    (tmp_path / "go").touch()
    assert json.loads(wait_for(tmp_path / "seen"))["event"] == "on_session_end"


def test_a_decision_that_was_committed_is_not_made_twice(house: House, tmp_path: Path) -> None:
    house.hook("guard", on="tool_before", script=f"echo x >>{tmp_path}/runs; {DENY}")
    house.tool(id="c" * 32)
    wait(lambda: house.stores.journal.count() == 1, what="its row is written")

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE, "--id", "c" * 32)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (tmp_path / "runs").read_text() == "x\n"


def test_where_there_was_never_a_tray_the_answer_is_neutral(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-m", "tray", "once", "--home", str(tmp_path / "none"), "shelley", "system-prompt"]

    done = subprocess.run(argv, input=b"You are Shelley.", capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"You are Shelley.", b"")


def lock(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def truncate(database: Path) -> None:
    for path in (database, *database.parent.glob(f"{database.name}-*")):
        path.write_bytes(path.read_bytes()[:1000])


def take_away(database: Path) -> None:
    for path in (database, *database.parent.glob(f"{database.name}-*")):
        path.unlink()


DAMAGE = {"locked": lock, "truncated": truncate, "missing": take_away}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_relay_gets_no_answer_about_a_tool_call_when_the_database_cannot_be_read(
    house: House, damage: Callable[[Path], object]
) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    house.close()
    held = damage(house.paths.database)

    call = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE, "--framed")
    prompt = once(house, "shelley", "system-prompt", b"You are Shelley.", "--framed")

    assert (call.returncode, call.stdout) == (1, b""), "the relay knows what is guarded"
    assert decode_answer(prompt.stdout).stdout == b"You are Shelley.", "nothing can be guarded there"
    del held


@pytest.mark.parametrize("guarded", [True, False])
def test_a_new_database_beside_a_table_with_guards_judges_no_tool_call(house: House, guarded: bool) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    guards = installed_guards(house.stores.ledger.state, house.stores.switch, ["claude-code"]) if guarded else ()
    installed_relay.install(house.paths, house.stores.database)
    installed_relay.write_table(house.paths, guards, house.stores.database)
    house.close()
    take_away(house.paths.database)
    database = open_db(house.paths.database, create=True)

    call = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE, "--framed")
    relayed = subprocess.run(
        [house.paths.relay, "claude-code", "PreToolUse"],
        input=json.dumps(PRE_TOOL_USE).encode(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    with database.connect() as connection:
        rows = connection.execute("SELECT count(*) FROM journal").fetchone()[0]
    if guarded:
        assert (call.returncode, call.stdout, rows) == (1, b"", 0)
        assert b'"permissionDecision":"ask"' in relayed.stdout
        assert "has no approvals" in (house.paths.logs / "hooktray.log").read_text()
    else:  # as `connect` leaves it before the first start
        assert (decode_answer(call.stdout), relayed.stdout, rows > 0) == (Answer(), b"", True)


def test_the_folder_may_be_named_before_the_word_once_too(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    argv = [sys.executable, "-I", "-m", "tray", f"--home={house.paths.home}", "once", "claude-code", "PreToolUse"]

    done = subprocess.run(argv, input=json.dumps(PRE_TOOL_USE).encode(), capture_output=True, timeout=60, check=False)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_nonsense_gets_the_neutral_answer_and_a_row(house: House) -> None:
    for body in (b"", b"nonsense", b"[]", b"\xff"):
        done = once(house, "claude-code", "PreToolUse", body)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    assert all(record.problem for record in house.stores.journal.recent(10))
    assert house.stores.journal.count() == 4


def test_time_that_the_relay_lost_counts_against_the_deadline(house: House) -> None:
    house.hook("slow", on="on_stop", agent="starchild", script="sleep 60", timeout=60)
    payload = {"event": "on_stop", "session_id": "s", "cwd": "/", "response": "x", "stop_hook_active": False}

    done = once(house, "starchild", "on_stop", payload, "--spent", "114900")

    assert (done.returncode, done.stdout) == (0, b"")
    assert house.stores.journal.recent(1)[0].hooks[0]["status"] == "timed_out"


def test_a_locked_database_is_told_to_the_log_and_not_to_the_agent(house: House) -> None:
    house.hook("guard", on="tool_before", script=DENY)
    lock = sqlite3.connect(house.paths.database, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)

    lock.close()
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (done.returncode, done.stderr) == (0, b"")
    assert "database is locked" in (house.paths.logs / "hooktray.log").read_text()


def test_the_one_shot_engine_waits_a_second_for_a_locked_database_and_the_tray_five(house: House) -> None:
    stores = open_stores(house.paths, create=False, offline=True)

    def limit(database: Database) -> int:
        with database.connect() as connection:
            return int(connection.execute("PRAGMA busy_timeout").fetchone()[0])

    assert (limit(stores.database), limit(house.stores.database)) == (1000, 5000)
    stores.journal.close()


def test_the_log_says_why_nothing_could_be_decided_if_it_can_be_written(house: House) -> None:
    house.paths.database.write_bytes(b"no database any more" * 100)
    log = house.paths.logs / "hooktray.log"

    done = once(house, "claude-code", "PreToolUse", PRE_TOOL_USE)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "the database is damaged" in log.read_text()
    log.unlink()
    log.mkdir()
    again = once(house, "shelley", "system-prompt", b"You are Shelley.")
    assert (again.returncode, again.stdout, again.stderr) == (0, b"You are Shelley.", b"")


# Modules that take long to import, and that neither a rule nor a hook whose pattern is plain text needs.
HEAVY = ("asyncio", "psutil", "regex", "tray.settings", "urllib3", "yaml")
OURS = 105  # modules of ours; each takes 0.15 ms at least
FOR_COMMANDS = ("tray.approvals.command_resolver", "tray.engine.execute", "tray.execution.command")
FOR_APPROVALS = ("tray.approvals.covered_files", "tray.approvals.inspection", "tray.approvals.search_path")


def imported(house: House, command: str) -> set[str]:
    """The modules that an event has imported when its answer is written."""
    payload = PRE_TOOL_USE | {"tool_input": {"command": command}}
    words = ["--home", str(house.paths.home), "--framed", "claude-code", "PreToolUse"]
    program = (
        f"import sys; sys.path += {list(package_folders())}; from tray import once\n"
        f"once._write = lambda answer, framed: print(*sys.modules)\nonce.main({words}, {{}})"
    )
    argv = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(argv, input=json.dumps(payload), capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_an_event_imports_only_what_it_needs(house: House) -> None:
    house.hook("guard", on="tool_before", script="cat >/dev/null; exit 0", matcher="rm -rf|mkfs")

    none, one = imported(house, "ls"), imported(house, "mkfs /dev/x")

    assert [name for name in HEAVY if name in none | one] == []
    assert [name for name in FOR_COMMANDS if name in none] == []
    assert [name for name in FOR_COMMANDS if name in one] == list(FOR_COMMANDS)  # it ran
    assert [name for name in FOR_APPROVALS if name in one] == []
    ours = [name for name in none if name.partition(".")[0] == "tray"]
    others = {f"{module}.protocol" for id, module in BUILT_IN.items() if id != "claude-code"}
    assert [name for name in ours if name in others] == []
    assert len(ours) <= OURS, f"{len(ours)} modules of ours"


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in a folder")
def test_without_the_tray_an_agents_variables_are_for_its_hooks_and_not_for_our_own_libraries(house: House) -> None:
    """OpenSSL would read the file that OPENSSL_CONF names, and load what it says; here nobody ever writes to it."""
    os.mkfifo(house.root / "openssl.cnf")
    house.hook("guard", on="tool_before", script='cat >/dev/null; echo "$OPENSSL_CONF|$SSL_CERT_FILE" >&2; exit 1')

    once(
        house, "claude-code", "PreToolUse", PRE_TOOL_USE,
        OPENSSL_CONF=str(house.root / "openssl.cnf"), SSL_CERT_FILE="/agents/ca.pem",
    )  # fmt: skip

    assert str(house.stores.journal.recent(1)[0].hooks[0]["stderr"]).strip() == "|/agents/ca.pem"


def test_what_is_ours_of_an_environment_is_places_and_language() -> None:
    environment = {"HOME": "/me", "LC_ALL": "C", "OPENAI_API_KEY": "x", "HTTPS_PROXY": "p", "LD_PRELOAD": "l"}
    environment |= {"SSL_CERT_DIR": "d", "HOSTALIASES": "a", "HOOKTRAY_HOME": "/h", "STARCHILD_SHELL_HOOKS": "1"}
    whole = dict(environment)

    assert strip_environment(environment) == whole
    assert environment == {"HOME": "/me", "LC_ALL": "C", "HOOKTRAY_HOME": "/h"}


def test_work_after_the_answer_that_fails_keeps_nothing_else_from_its_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []
    listener = OneShotListener(locate(str(tmp_path)))
    listener.spawn(lambda: 1 // 0)
    listener.spawn(lambda: done.append("the next hooks"))

    listener.run_deferred()

    assert done == ["the next hooks"]
    assert "ZeroDivisionError" in caplog.text


def test_an_engine_that_cannot_be_imported_says_why_in_the_log_and_answers_nothing(tmp_path: Path) -> None:
    """The relay's table decides then. Here the folder of the libraries is missing from the command."""
    starter = str(Path(tray.__file__).with_name("isolated.py"))
    argv = [base_interpreter(), "-I", "-S", starter, str(Path(tray.__file__).parent.parent), "once"]

    done = subprocess.run(
        [*argv, "--logs", str(tmp_path), "claude-code", "Stop"],
        input=b"{}",
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, b"")
    assert "cannot be imported" in (tmp_path / "hooktray.log").read_text()
