"""A person who is logged in over SSH: the printed commands lead to the page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium
from live import PAYLOADS, Live
from plain import Plain
from ssh_server import SshServer, other_machine, ssh_server
from terminal import Shell, Terminal
from user_controls import SECRET, set_passphrase

from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="networks of their own are Linux's")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A headless tray whose passphrase is set, and that an agent has sent an event to."""
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path, starts=False)
    live.start("--headless")
    live.quit()
    set_passphrase(locate(str(live.home)))
    live.start("--headless")
    live.relay("claude-code", "PreToolUse", (PAYLOADS / "claude-code" / "PreToolUse-Bash.json").read_bytes())
    live.wait_log(1)
    yield live
    plain.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    with ssh_server(tmp_path) as server:
        yield server


@pytest.fixture
def login(live: Live, server: SshServer) -> Iterator[Shell]:
    shell = Shell(live.argv(), server.folder, *server.login)
    yield shell
    shell.close()


def printed(login: Shell) -> list[str]:
    """The commands of `hooktray open`, as they can be pasted."""
    login.runs("open")
    login.wait("`hooktray passphrase` sets one.")
    return re.findall(r"^ {2}(\S.*?)\r?$", login.text, re.MULTILINE)


def test_the_printed_commands_open_the_page_on_the_machine_where_one_sits(
    live: Live, login: Shell, server: SshServer, tmp_path: Path
) -> None:
    tunnel, copy = printed(login)
    sitting = tmp_path / "sitting"
    sitting.mkdir()

    with other_machine(sitting, server) as machine:
        subprocess.run(machine.argv(copy), cwd=sitting, env=machine.environment, timeout=60, check=True)
        lead = Terminal(machine.argv(tunnel), sitting, dict(machine.environment))
        browser = Chromium(sitting / "profile", enter=machine.enter)
        try:
            lead.type("echo here-$((40 + 2))\n")
            lead.wait("here-42")
            with browser.page() as page:
                page.go((sitting / "hooktray.html").as_uri())
                page.wait("location.pathname === '/' && !!document.querySelector('.rows li')", "the decisions")
                page.follow("header .switch")
                page.follow("a.button", "Switch off")
                page.click(".confirm button")
                page.wait("!!document.querySelector('input[name=passphrase]')", "it asks for the passphrase")
                page.click("input[name=passphrase]")
                page.type(SECRET)
                page.click("button", "Go on")
                page.wait("document.body.innerText.includes('Hooks are off')", "it counts")
        finally:
            browser.close()
            lead.type("exit\n")
            lead.process.wait(60)
            lead.close()

    assert not live.switch().enabled
    assert not list((live.home / "state").glob("open-*.html")), "the link signs in once"
