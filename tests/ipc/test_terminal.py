"""Commands that need a proof, at a real terminal: only the passphrase counts, and it is never shown."""

from __future__ import annotations

import json
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from damage import damage_table
from desk import wait
from guarded import approved
from ipc.guarded_tray import GUARD, WANTED, guarded_tray
from live import Live
from terminal import SLOW, Shell
from user_controls import SECRET

from tray.approvals.controls import PASSPHRASE, TERMINAL
from tray.engine.stores import open_stores
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`setsid --ctty` is Linux's")


@contextmanager
def opened(live: Live) -> Iterator[Shell]:
    with closing(Shell(live.argv(), live.place.folder, "bash", "--norc", "--noediting")) as shell:
        yield shell
        assert SECRET not in shell.text


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with guarded_tray(tmp_path) as live:
        yield live


@pytest.fixture(scope="module")
def shared_live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A tray that is shared by the tests that approve nothing."""
    with guarded_tray(tmp_path_factory.mktemp("tray")) as live:
        yield live


@pytest.fixture
def shell(live: Live) -> Iterator[Shell]:
    with opened(live) as shell:
        yield shell


@pytest.fixture
def shared_shell(shared_live: Live) -> Iterator[Shell]:
    with opened(shared_live) as shell:
        yield shell


def confirms(shell: Shell, *words: str, typed: str = SECRET) -> str:
    """Run a command, read what it asks, and type; returns what was asked."""
    before = shell.text.count(WANTED)
    shell.runs(*words)
    shell.wait(WANTED, before + 1)
    shown = " ".join(shell.text.split())
    shell.types(typed)
    return shown


def ledger(live: Live) -> list[tuple[str, str, str]]:
    with sqlite3.connect(locate(str(live.home)).database) as rows:
        found = rows.execute("SELECT act, key, way FROM ledger ORDER BY seq").fetchall()
    rows.close()
    return [(act, key.rpartition("#")[2], way) for act, key, way in found if key != "setting:passphrase"]


def test_the_whole_review_is_shown_before_the_passphrase_approves(live: Live, shell: Shell) -> None:
    shown = confirms(shell, "approve", "tool_before", "./guard.sh")

    assert "./guard.sh" in shown
    assert "before each tool call" in shown
    assert "| exit 0" in shown, "the whole script"
    shell.wait("done, recorded as `passphrase`")
    assert live.states() == {"guard": "approved"}
    assert ledger(live) == [("approve", "guard", PASSPHRASE)]


def test_all_hooks_of_the_file_are_approved_and_a_test_run_that_failed_is_shown(live: Live, shell: Shell) -> None:
    live.configure({"hooks": [*GUARD["hooks"], {"name": "broken", "event": "tool_before", "command": "./broken.sh"}]})
    assert live.states() == {"guard": "pending", "broken": "pending"}, "the tray has looked"
    live.script("broken.sh", "exit 7")

    shown = confirms(shell, "approve", "--source", str(locate(str(live.home)).config))

    assert "| exit 7" in shown
    shell.wait("guard: Its test run went well")
    shell.wait("broken: Its test run failed: exit 7")
    shell.wait("Undo: hooktray revoke --last broken")
    assert live.states() == {"guard": "approved", "broken": "approved"}


def test_a_hook_gets_a_withheld_variable_with_its_approval(live: Live, shell: Shell) -> None:
    shown = confirms(shell, "approve", "--env", "MY_TOKEN", "guard")

    assert "It gets MY_TOKEN of each agent's environment with that." in shown
    shell.wait("done, recorded as `passphrase`")
    (hook,) = open_stores(locate(str(live.home)), create=False).ledger.in_order()
    assert (hook.hook.name, hook.granted) == ("guard", ("MY_TOKEN",))
    asked = live.cli("revoke", "--env", "MY_TOKEN", "guard").stdout.decode()
    assert "Withhold MY_TOKEN from guard: only the user can do that" in asked
    assert "is given to no hook" in live.cli("approve", "--env", "LD_PRELOAD", "guard").stderr.decode()


def test_a_setting_is_confirmed(live: Live, shell: Shell) -> None:
    live.configure(GUARD | {"without_tray": "allow"})
    waits = {"check": "configuration", "name": "without_tray", "health": "attention"}
    assert waits.items() <= _finding(live, "without_tray").items()
    assert "waits for your approval" in live.cli("approve", "without_tray").stdout.decode()  # without a terminal

    shown = confirms(shell, "approve", "without_tray")

    assert "without_tray: allow" in shown
    shell.wait("done, recorded as `passphrase`")
    assert _finding(live, "without_tray") == {}
    assert ledger(live) == [("approve", "setting:without_tray", PASSPHRASE)]
    assert "is confirmed already" in live.cli("approve", "without_tray").stderr.decode()


def test_nothing_but_the_passphrase_switches_hooks_off(shared_live: Live, shared_shell: Shell) -> None:
    for number, typed in enumerate(("", "a wild guess"), start=1):
        confirms(shared_shell, "off", typed=typed)
        shared_shell.wait("not confirmed, nothing was changed", number)
    assert shared_live.cli_json("status")[0]["enabled"] is True


def test_deny_needs_no_passphrase(shared_live: Live) -> None:
    shared_live.configure(GUARD | {"without_tray": "allow"})

    hook, setting = shared_live.cli("deny", "guard"), shared_live.cli("deny", "without_tray")

    assert (hook.returncode, setting.returncode) == (0, 0), hook.stderr + setting.stderr
    assert hook.stdout.startswith(b"Deny guard ")
    assert shared_live.states() == {"guard": "denied"}
    assert ledger(shared_live) == [("deny", "guard", TERMINAL), ("deny", "setting:without_tray", TERMINAL)]


def test_after_a_loss_neither_a_terminal_nor_a_denial_decides_anything(live: Live, shell: Shell) -> None:
    live.quit()
    approved(live)
    file = live.home / "export.json"
    assert live.cli("approvals", "export", str(file)).returncode == 0
    damage_table(locate(str(live.home)).database, "journal")
    live.start()
    assert live.states() == {"guard": "pending"}
    assert live.cli("approvals", "import", str(file)).returncode == 0

    shell.runs("passphrase")
    shell.wait("a first passphrase cannot be set here: approvals were lost")
    shell.runs("approve", "unchanged")
    shell.wait("1 hook waits for your approval")
    shell.runs("deny", "guard")
    shell.wait("Deny guard")

    assert "at this machine's own console" in " ".join(shell.text.split())
    assert live.states() == {"guard": "pending"}
    assert "All approvals are lost" in live.cli_json("status")[0]["problem"]


def test_without_a_terminal_in_the_foreground_a_request_waits_in_the_menu(
    shared_live: Live, shared_shell: Shell
) -> None:
    before = shared_live.cli_json("status")[0]["pending"]

    shared_shell.types(f"{shlex.join([*shared_live.argv(), 'off'])} &")
    shared_shell.wait("run it in the foreground of a terminal")
    done = shared_live.cli("pause", "30m").stdout.decode()

    for shown, asked in ((shared_shell.text, "Switch hooks off"), (done, "Pause hooks for 30 minutes")):
        assert f"{asked}: only the user can do that" in shown
        assert "run it in the foreground of a terminal, which asks for your passphrase" in " ".join(shown.split())
    assert shared_live.cli_json("status")[0]["pending"] == before + 2


def test_ctrl_c_changes_nothing_and_restores_the_echo(shared_live: Live, shared_shell: Shell) -> None:
    confirms(shared_shell, "off", typed="half a guess\x03")
    wait(lambda: shared_shell.text.partition(WANTED)[2].rstrip().endswith(("#", "$")), SLOW, "the shell is back")
    shared_shell.types("echo back-$((40 + 2))")
    shared_shell.wait("back-42")

    shared_shell.wait("echo back-$((40 + 2))")
    assert "half a guess" not in shared_shell.text
    assert shared_live.switch().enabled is True


def test_a_similar_name_is_suggested(shared_live: Live) -> None:
    for argv, meant in ((("approve", "gaurd"), "guard"), (("revoke", "./gaurd.sh"), "./guard.sh")):
        assert f"did you mean `{meant}`?" in shared_live.cli(*argv).stderr.decode()


def _finding(live: Live, name: str) -> dict[str, str]:
    said = live.cli("doctor", "--static", "--json").stdout.splitlines()
    return next((one for one in map(json.loads, said) if one["name"] == name), {})
