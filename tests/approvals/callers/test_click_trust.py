"""One tool call of an agent against the page of a running tray: it is not opened for it, and not heard from it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chromium import FLAGS, PROGRAM
from desk import wait
from live import PYTHON, Live
from plain import Plain
from web.site import found

from tray.approvals.callers.click_check import ClickObjection, ClickTrust
from tray.execution.known_agents import KnownAgents
from tray.execution.process import OPENED_VARIABLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows whose connection it is")
DESKTOP = '#!/bin/sh\nprintf %s "$1" >"$HOME/opened.part" && mv "$HOME/opened.part" "$HOME/opened"\n'
# Signs in as the page's own script does, with every header forged, and switches hooks off; prints each status.
ENTER = """
import http.client, json, sys
authority, _, word = sys.argv[1].removeprefix("http://").partition("/enter#")
line = http.client.HTTPConnection(authority, timeout=20)
headers = {"Origin": "http://" + authority, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
line.request("POST", "/enter", json.dumps({"token": word}), headers)
answer = line.getresponse()
print(answer.status, end=" ")
headers["Content-Type"] = "application/x-www-form-urlencoded"
headers["Cookie"] = answer.getheader("Set-Cookie", "").partition(";")[0]
answer.read()
line.request("GET", "/confirm/off", headers={"Cookie": headers["Cookie"]})
token = line.getresponse().read().decode().partition('name="token" value="')[2].partition('"')[0]
line.request("POST", "/confirm", "token=" + token, headers)
print(line.getresponse().status)
"""


class Opened:
    """Has started these processes to open a file for the user."""

    def __init__(self, *pids: int) -> None:
        self._pids = pids

    def started(self, pid: int) -> bool:
        return pid in self._pids


@contextmanager
def child(**variables: str) -> Iterator[int]:
    """A process that this one, as a tray, has started."""
    with subprocess.Popen(["cat"], env={**os.environ, **variables}, stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate()


def test_a_process_of_a_hook_that_carries_the_mark_of_what_the_tray_opens_is_refused() -> None:
    with child(**{OPENED_VARIABLE: "1"}) as pid:
        agents = KnownAgents(os.getpid())
        trusts = [ClickTrust(agents, opener) for opener in (Opened(), Opened(pid))]
        objections = [(one.host_objection(pid), one.browser_objection(pid)) for one in trusts]

    hooks, opened = ([one and one.objection for one in pair] for pair in objections)
    assert hooks == [ClickObjection.AGENT] * 2
    assert ClickObjection.AGENT not in opened


def test_what_the_passphrase_has_confirmed_counts_and_what_is_refused_never_does() -> None:
    with child() as pid:
        trust = ClickTrust(KnownAgents(os.getpid()), Opened(pid))
        refusing = ClickTrust(KnownAgents(os.getpid()), Opened())
        before = trust.browser_objection(pid)
        for one in (trust, refusing):
            one.confirm(pid)

        assert before is not None
        assert before.objection is ClickObjection.UNKNOWN
        assert trust.browser_objection(pid) is None
        assert refusing.browser_objection(pid) is not None


@pytest.fixture(scope="module")
def shared_live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A tray whose desktop records what it is asked to open."""
    folder = tmp_path_factory.mktemp("home")
    plain = Plain(folder)
    browser = folder / "bin" / "xdg-open"
    browser.parent.mkdir()
    browser.write_text(DESKTOP)
    browser.chmod(0o755)
    plain.environment["PATH"] = f"{browser.parent}:{plain.environment['PATH']}"
    live = Live.fresh(plain, folder)
    yield live
    live.quit()
    plain.close()


@pytest.fixture
def live(shared_live: Live) -> Live:
    """The shared tray, with an empty record of what it opened."""
    (shared_live.place.folder / "opened").unlink(missing_ok=True)
    return shared_live


def link(live: Live) -> tuple[Path, str]:
    """What a person's browser is shown: the file, and the link in it."""
    done = live.cli("open")
    assert not done.returncode, done.stderr.decode()
    note = live.place.folder / "opened"
    file = Path(str(wait(lambda: note.exists() and note.read_text(), what="the desktop is asked")))
    return file, found(file)


def test_a_program_that_an_agent_let_loose_may_look_and_does_nothing(live: Live, tmp_path: Path) -> None:
    _, address = link(live)
    said = tmp_path / "said"
    program = shlex.join([PYTHON, "-I", "-c", ENTER, address])
    line = f"{program} >{said}.part 2>&1; mv {said}.part {said}"

    subprocess.run(["setsid", "--fork", "env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", line], check=True)

    assert str(wait(lambda: said.exists() and said.read_text(), what="the answer")).strip() == "204 403"
    assert live.switch().enabled is True


def test_a_browser_that_a_program_drives_does_not_get_in(live: Live, tmp_path: Path) -> None:
    file, address = link(live)
    said = tmp_path / "said"
    flags = [*(flag for flag in FLAGS if "remote" not in flag), f"--user-data-dir={tmp_path}/profile"]
    program = shlex.join([PROGRAM, *flags, "--virtual-time-budget=5000", "--dump-dom", address])
    line = f"{program} >{said}.part 2>/dev/null; mv {said}.part {said}"

    subprocess.run(
        ["setsid", "--fork", "env", "-i", "PATH=/usr/bin:/bin", f"HOME={tmp_path}", "sh", "-c", line], check=True
    )

    wait(said.exists, what="the browser has ended")
    assert file.exists()
    log = live.home / "logs" / "hooktray.log"
    wait(lambda: "does not count: chromium-headless-shell" in log.read_text(), what="the tray says why")


def test_the_page_is_not_opened_for_an_agent(live: Live) -> None:
    line = [PYTHON, "-I", "-m", "tray", "--home", str(live.home), "open"]
    marked = live.place.run(["env", "CLAUDECODE=1", *line])
    payload = json.dumps({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "X", "tool_input": {}})
    agent = (
        "import subprocess, sys; split = sys.argv.index('--');"
        f"subprocess.run(sys.argv[1:split], input={payload.encode()!r}, capture_output=True);"
        "sys.exit(subprocess.run(sys.argv[split + 1:]).returncode)"
    )
    below = live.place.run([PYTHON, "-c", agent, *live.relay_argv("claude-code", "PreToolUse"), "--", *line])

    assert [marked.returncode, below.returncode] == [1, 1]
    assert b"may not open the page" in below.stderr
    assert not (live.place.folder / "opened").exists()


def test_a_tool_call_to_the_address_of_the_open_page_is_denied(live: Live) -> None:
    _, address = link(live)
    call = {"tool_name": "Bash", "tool_input": {"command": f"curl {address.partition('/enter')[0]}/"}}

    said = live.relay("claude-code", "PreToolUse", {"session_id": "s", "hook_event_name": "PreToolUse", **call})

    assert json.loads(said.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
