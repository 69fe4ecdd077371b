"""The passphrase at terminals that any program of the user's can type into: the user gets in, an agent does not."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from desk import wait
from ipc.guarded_tray import WANTED, guarded_tray
from ipc.multiplexer import SLOW, Multiplexer
from live import PAYLOADS, Live
from plain import Plain
from ssh_server import ssh_server
from terminal import Shell
from user_controls import SECRET

from tray.approvals.controls import PASSPHRASE
from tray.approvals.passphrase import TRIES, Passphrase
from tray.engine.stores import open_stores
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who holds a terminal")


@pytest.fixture(scope="module")
def shared_live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with guarded_tray(tmp_path_factory.mktemp("tray")) as live:
        heard(live)
        yield live


@contextmanager
def opened(live: Live, folder: Path) -> Iterator[Multiplexer]:
    with closing(Multiplexer(live, folder)) as made:
        made.open("person")
        yield made


@pytest.fixture
def multiplexer(shared_live: Live, tmp_path: Path) -> Iterator[Multiplexer]:
    with opened(shared_live, tmp_path) as multiplexer:
        yield multiplexer


def heard(live: Live) -> None:
    """An agent has sent an event."""
    live.relay("claude-code", "PreToolUse", (PAYLOADS / "claude-code" / "PreToolUse-Bash.json").read_bytes())
    live.wait_log(1)


def test_the_user_in_tmux_approves_with_one_command_and_one_passphrase(
    shared_live: Live, multiplexer: Multiplexer
) -> None:
    multiplexer.type("hooktray approve guard")
    multiplexer.wait(WANTED)
    assert "./guard.sh" in multiplexer.screen()
    multiplexer.type(SECRET)
    multiplexer.wait("done, recorded")
    assert shared_live.states() == {"guard": "approved"}
    (approved,) = open_stores(locate(str(shared_live.home)), create=False).ledger.in_order()
    assert approved.channel == PASSPHRASE

    for number, words in enumerate(("pause 30m", "revoke guard"), start=2):
        multiplexer.type(f"hooktray {words}")
        multiplexer.wait(WANTED, count=number)
        multiplexer.type(SECRET)
        multiplexer.wait("done, recorded as `passphrase`", count=number)
    assert shared_live.switch().paused_until
    assert shared_live.states() == {"guard": "revoked"}


def test_an_agent_in_the_same_tmux_cannot_guess_read_or_set_it(tmp_path: Path) -> None:
    with guarded_tray(tmp_path) as live, opened(live, tmp_path) as multiplexer:
        heard(live)
        for number in range(1, TRIES + 1):  # the agent types into the person's shell, and reads what it shows
            multiplexer.type("hooktray off")
            multiplexer.wait(WANTED, count=number)
            multiplexer.type(f"guess number {number}")
            multiplexer.wait("not confirmed, nothing was changed", count=number)
        multiplexer.type("hooktray off")
        multiplexer.wait(WANTED, count=TRIES + 1)
        multiplexer.type(SECRET)
        multiplexer.wait("too many wrong passphrases here")
        multiplexer.open("agent")
        multiplexer.type("hooktray passphrase forget", "agent")
        multiplexer.wait("Your present passphrase", "agent")
        multiplexer.type("", "agent")
        multiplexer.wait("not confirmed, nothing was changed", "agent")

        assert live.switch().enabled is True
        assert Passphrase(open_stores(locate(str(live.home)), create=False).ledger).is_set
        everything = [multiplexer.screen("person"), multiplexer.screen("agent")]
        for pid in [*multiplexer.processes(), live.process.pid]:
            one = psutil.Process(pid)
            everything += [" ".join(one.cmdline()), str(one.environ())]
        assert not [text for text in everything if SECRET in text]


def test_below_an_agent_a_command_is_refused_and_no_passphrase_is_asked_for(
    shared_live: Live, multiplexer: Multiplexer, tmp_path: Path
) -> None:
    payload = PAYLOADS / "claude-code" / "PreToolUse-Bash.json"
    relay = shlex.join(shared_live.relay_argv("claude-code", "PreToolUse"))
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import subprocess, sys\n"
        f"subprocess.run({relay!r} + ' <' + {str(payload)!r}, shell=True, stdout=subprocess.DEVNULL)\n"
        "subprocess.run(['hooktray', 'off'])\nsys.stdin.readline()\n"
    )

    multiplexer.type(f"{sys.executable} {agent}")
    multiplexer.wait("belongs to an agent or a hook")

    assert WANTED not in multiplexer.screen()
    assert shared_live.switch().enabled is True
    multiplexer.type("")


def test_a_detached_command_in_its_own_terminal_changes_nothing(shared_live: Live, tmp_path: Path) -> None:
    note, shown = tmp_path / "pid", tmp_path / "shown"
    typed = shlex.quote(shlex.join(shared_live.argv("off")))
    line = f"echo $$ >{note}.part; mv {note}.part {note}; exec script -qfc {typed} {shown}"

    own = ["PATH=/usr/bin:/bin", f"HOME={tmp_path}"]
    fifo = tmp_path / "input"
    os.mkfifo(fifo)
    subprocess.run(["setsid", "-f", "env", "-i", *own, "sh", "-c", f"{line} <>{fifo} >/dev/null 2>&1"], check=True)
    wait(lambda: shown.exists() and WANTED in shown.read_text(errors="replace"), SLOW, "the tray asks there")
    fifo.write_text("a wild guess\n")
    wait(lambda: "nothing was changed" in shown.read_text(errors="replace"), SLOW, "the guess was wrong")

    assert shared_live.switch().enabled is True
    pid = int(note.read_text())
    wait(lambda: not psutil.pid_exists(pid), SLOW, "it has ended")


def switches_off(live: Live, folder: Path, *argv: str) -> None:
    with closing(Shell(live.argv(), folder, *argv)) as shell:
        shell.runs("off")
        shell.wait(WANTED)
        shell.types(SECRET)
        shell.wait("done, recorded as `passphrase`")
        assert live.switch().enabled is False
        assert SECRET not in shell.text
    live.command("on")


def test_a_container_asks_for_the_passphrase(shared_live: Live, tmp_path: Path) -> None:
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    switches_off(shared_live, tmp_path, "unshare", *user, "--pid", "--fork", "--mount-proc", "bash", "--norc")


def test_over_ssh_the_passphrase_is_asked_for(shared_live: Live, tmp_path: Path) -> None:
    with ssh_server(tmp_path) as server:
        switches_off(shared_live, tmp_path, *server.login)


def test_before_any_agent_a_first_passphrase_is_set_and_forgotten_by_its_command(tmp_path: Path) -> None:
    with closing(Plain(tmp_path)) as plain:
        live = Live.fresh(plain, tmp_path)
        with closing(Shell(live.argv(), tmp_path, "bash", "--norc")) as shell:
            shell.runs("passphrase")
            for asked in ("Type a new passphrase with at least 12 characters. It is not shown:", "Once more:"):
                shell.wait(asked)
                shell.types(SECRET)
            shell.wait("The passphrase is set")
            shell.runs("passphrase", "forget")
            shell.wait("Your present passphrase")
            shell.types(SECRET)
            shell.wait("The passphrase is forgotten")
            assert SECRET not in shell.text
        files = [path for path in live.home.rglob("*") if path.is_file()]
        assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_login_from_this_machine_sets_no_first_passphrase_after_an_event(tmp_path: Path) -> None:
    with closing(Plain(tmp_path)) as plain, ssh_server(tmp_path) as server:
        live = Live.fresh(plain, tmp_path)
        heard(live)
        for origin in ("", "SSH_CONNECTION= ", "SSH_CONNECTION='203.0.113.7 5000 198.51.100.2 22' "):
            with closing(Shell(live.argv(), tmp_path, *server.login, f"{origin}exec sh")) as shell:
                shell.runs("passphrase")
                shell.wait("a first passphrase cannot be set here")
