"""A person at a real terminal: the tray itself asks there, and only the right letters count."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from damage import damage_table
from desk import wait
from live import Live
from plain import Plain
from test_trouble import approved

from tray.app import open_stores
from tray.approvals.controls import TERMINAL
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who holds a terminal")
GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
CHALLENGE = re.compile(r"Type (\w{6}) ")
# F1 prints what is on the screen into a file, which is put in its place once it is whole: two prints may run at once.
SCREEN = "*VT100.translations: #override <Key>F1: print-everything()"


class Person:
    """Sits at an xterm of a display of its own, in which `hooktray` runs once."""

    def __init__(self, live: Live, folder: Path) -> None:
        self._folder = folder
        self._live = live
        self._number = self._display()

    def _display(self) -> str:
        """It stays as it is when its last client leaves; else who comes at that moment is thrown out."""
        read, write = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x700x24", "-noreset", "-nolisten", "tcp"],
            pass_fds=[write],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(write)
        with open(read) as stream:  # noqa: PTH123 - a pipe
            return f":{stream.readline().strip()}"

    def opens(self, *argv: str) -> None:
        """As a desktop starts a terminal: from init, with an environment of its own."""
        line = shlex.join([sys.executable, "-I", "-m", "tray", "--home", str(self._live.home), *argv])
        task = self._folder / "task.sh"
        task.write_text(f"#!/bin/bash\n{line} >{self._folder}/said 2>&1\necho $? >{self._folder}/code\n")
        task.chmod(0o755)
        self.screen = self._folder / "screen"
        self.screen.unlink(missing_ok=True)
        (self._folder / "code").unlink(missing_ok=True)
        printer = f"cat >{self.screen}.$$ && mv {self.screen}.$$ {self.screen}"
        xterm = ["xterm", "-geometry", "140x40", "-xrm", f"*printerCommand: {printer}", "-xrm", SCREEN]
        own = f"PATH={os.environ['PATH']} HOME={self._folder} DISPLAY={self._number}"
        subprocess.run(
            ["setsid", "sh", "-c", f"env -i {own} {shlex.join([*xterm, '-e', str(task)])} >/dev/null 2>&1 &"],
            check=True,
        )

    def reads(self) -> str:
        """What the terminal shows, once a challenge is there."""

        def shown() -> str:
            self._xdotool("key", "F1")
            text = self.screen.read_text(errors="replace") if self.screen.exists() else ""
            return text if CHALLENGE.search(text) else ""

        return wait(shown, 60, "the question")

    def types(self, text: str) -> None:
        self._xdotool("type", text)
        self._xdotool("key", "Return")

    def said(self) -> tuple[int, str]:
        code = self._folder / "code"
        wait(lambda: code.exists() and code.read_text(), 80, "the command has ended")  # the tray gives 60
        return int(code.read_text()), (self._folder / "said").read_text()

    def leaves(self) -> None:
        self._server.terminate()
        self._server.wait(60)

    def _xdotool(self, *argv: str) -> None:
        subprocess.run(["xdotool", *argv], env={**os.environ, "DISPLAY": self._number}, check=False)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path, configuration=GUARD)
    live.script("guard.sh", "exit 0")
    yield live
    plain.close()


@pytest.fixture
def person(live: Live, tmp_path: Path) -> Iterator[Person]:
    person = Person(live, tmp_path)
    yield person
    person.leaves()


def test_a_person_approves_at_a_terminal_where_there_is_no_icon(live: Live, person: Person) -> None:
    person.opens("approve", "tool_before", "./guard.sh")

    shown = person.reads()
    assert "./guard.sh" in shown
    assert "before each tool call" in shown
    assert "| exit 0" in shown, "the whole script"
    person.types(_challenge(shown))

    assert person.said()[0] == 0
    assert live.states() == {"guard": "approved"}
    (approved,) = open_stores(locate(str(live.home)), create=False).ledger.in_order()
    assert approved.channel == TERMINAL


def test_a_person_who_has_read_it_denies_at_the_same_question(live: Live, person: Person) -> None:
    person.opens("approve", "guard")

    found = re.search(r"to approve, (\w{6}) to deny", person.reads())
    assert found
    person.types(found[1])

    code, said = person.said()
    assert (code, said.startswith("Deny guard ")) == (0, True)
    assert live.states() == {"guard": "denied"}


def test_a_person_approves_all_hooks_of_the_file_and_is_told_of_a_test_run_that_failed(
    live: Live, person: Person
) -> None:
    live.configure({"hooks": [*GUARD["hooks"], {"name": "broken", "event": "tool_before", "command": "./broken.sh"}]})
    assert live.states() == {"guard": "pending", "broken": "pending"}, "the tray has looked"
    live.script("broken.sh", "exit 7")

    person.opens("approve", "--source", str(locate(str(live.home)).config))
    shown = person.reads()
    assert "| exit 7" in shown, shown
    person.types(_challenge(shown))

    code, said = person.said()
    assert code == 0
    assert "guard: Its test run went well" in said
    assert "broken: Its test run failed: exit 7" in said
    assert "Undo: hooktray revoke --last broken" in said
    assert live.states() == {"guard": "approved", "broken": "approved"}


def test_a_person_gives_a_hook_a_withheld_variable_with_its_approval(live: Live, person: Person) -> None:
    person.opens("approve", "--env", "MY_TOKEN", "guard")
    shown = person.reads()
    assert "It gets MY_TOKEN of each agent's environment with that." in shown
    person.types(_challenge(shown))

    assert person.said()[0] == 0
    (approved,) = open_stores(locate(str(live.home)), create=False).ledger.in_order()
    assert (approved.hook.name, approved.granted) == ("guard", ("MY_TOKEN",))
    asked = live.cli("revoke", "--env", "MY_TOKEN", "guard").stdout.decode()
    assert "Withhold MY_TOKEN from guard: only a person can do that" in asked
    assert "is given to no hook" in live.cli("approve", "--env", "LD_PRELOAD", "guard").stderr.decode()


def test_a_person_approves_all_unchanged_hooks_at_a_terminal_where_there_is_no_icon(
    live: Live, person: Person
) -> None:
    approved(live)
    live.quit()
    damage_table(locate(str(live.home)).database, "journal")
    live.start()
    assert live.states() == {"guard": "pending"}
    assert "all approvals are gone" in live.cli_json("status")[0]["problem"]

    person.opens("approve", "unchanged")
    shown = person.reads()
    assert "1 hook waits with exactly the content that was approved before" in shown
    person.types(_challenge(shown))

    assert person.said()[0] == 0
    assert live.states() == {"guard": "approved"}
    assert live.cli_json("status")[0]["problem"] is None
    nothing = live.cli("approve", "unchanged")
    assert (nothing.returncode, "no hook waits whose content" in nothing.stderr.decode()) == (1, True)


def test_a_person_confirms_a_setting_at_a_terminal_where_there_is_no_icon(live: Live, person: Person) -> None:
    live.configure(GUARD | {"without_tray": "allow"})
    waits = {"check": "configuration", "name": "without_tray", "health": "attention"}
    assert waits.items() <= _finding(live, "without_tray").items()
    assert "waits for your approval" in live.cli("approve", "without_tray").stdout.decode()  # without a terminal

    person.opens("approve", "without_tray")
    shown = person.reads()
    assert "without_tray: allow" in shown
    person.types(_challenge(shown))

    assert person.said()[0] == 0
    assert _finding(live, "without_tray") == {}
    with sqlite3.connect(locate(str(live.home)).database) as rows:
        found = rows.execute("SELECT act, way FROM ledger WHERE key = 'setting:without_tray'").fetchall()
    rows.close()
    assert found == [("approve", TERMINAL)]
    again = live.cli("approve", "without_tray").stderr.decode()
    assert "is confirmed already" in again


@pytest.mark.parametrize("typed", ["", "aaaaaa"])
def test_nothing_but_the_letters_switches_hooks_off(live: Live, person: Person, typed: str) -> None:
    person.opens("off")

    person.reads()
    person.types(typed)

    code, said = person.said()
    assert (code, "nothing was changed" in said) == (1, True)
    assert live.cli_json("status")[0]["enabled"] is True


def test_without_a_terminal_it_is_asked_for_and_the_reason_is_said(live: Live) -> None:
    before = live.cli_json("status")[0]["pending"]

    done = live.cli("off").stdout.decode()

    assert "only a person can do that" in done
    assert "Not here: it has no terminal" in done
    assert live.cli_json("status")[0]["pending"] == before + 1


@pytest.mark.parametrize(
    ("argv", "remedy"),
    [(("approve", "gaurd"), "did you mean `guard`?"), (("revoke", "./gaurd.sh"), "did you mean `./guard.sh`?")],
)
def test_a_near_name_is_offered(live: Live, argv: tuple[str, ...], remedy: str) -> None:
    assert remedy in live.cli(*argv).stderr.decode()


def _finding(live: Live, name: str) -> dict[str, str]:
    said = live.cli("doctor", "--static", "--json").stdout.splitlines()
    return next((one for one in map(json.loads, said) if one["name"] == name), {})


def _challenge(shown: str) -> str:
    found = CHALLENGE.search(shown)
    assert found
    return found[1]
