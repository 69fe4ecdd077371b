"""The page of a running tray, from `hooktray open` to an approval; and an agent that has got hold of everything."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium
from desk import wait
from house import PRE_TOOL_USE
from live import PROGRAM, Live
from plain import Plain
from web.site import found

from tray.approvals.review import hook_id

HOOKS = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
GUARD = 'grep -q mkfs && echo \'{"decision": "block", "reason": "no mkfs"}\'; exit 0'
DRIVEN = (str(Path(__file__).parent / "driven_tray.py"),)
DESKTOP = '#!/bin/sh\nprintf %s "$1" > "$HOME/opened.part" && mv "$HOME/opened.part" "$HOME/opened"\n'
# An agent: it has a relay run, so that the tray knows it, then does what it is told with what it has stolen.
AGENT = """
import json, subprocess, sys, urllib.error, urllib.request
relay, payload, method, url, headers, body = json.loads(sys.stdin.read())
subprocess.run(relay, input=payload.encode(), check=True, stdout=subprocess.DEVNULL)
request = urllib.request.Request(url, body.encode() if body else None, headers, method=method)
try:
    with urllib.request.urlopen(request) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


@pytest.fixture
def live(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Live]:
    """A tray without a desktop, but with something that opens files: it notes which."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "xdg-open").write_text(DESKTOP)
    (programs / "xdg-open").chmod(0o755)
    plain = Plain(tmp_path)
    plain.environment["PATH"] = f"{programs}:{plain.environment['PATH']}"
    try:
        live = Live.fresh(plain, tmp_path, configuration=HOOKS, program=getattr(request, "param", PROGRAM))
        live.script("guard.sh", GUARD)
        yield live
    finally:
        plain.close()


def opened(live: Live, folder: Path) -> Path:
    """The file that the desktop was asked to show."""
    note = folder / "opened"
    note.unlink(missing_ok=True)
    done = live.cli("open")
    assert done.stdout.decode().startswith("Asked your desktop to open the page\n"), done.stderr
    file = Path(str(wait(lambda: note.exists() and note.read_text(), what="the desktop is asked")))
    assert done.stdout.decode().endswith(f"{file}\n")  # for who gets to see no browser
    assert b"#" not in done.stdout
    return file


def mapped(live: Live) -> bool:
    return "aiohttp" in Path(f"/proc/{live.process.pid}/maps").read_text()


def agent(live: Live, method: str, url: str, headers: dict[str, str], body: str = "") -> tuple[int, str]:
    """What the page says to an agent."""
    relay = live.relay_argv("claude-code", "PreToolUse")
    told = json.dumps([relay, json.dumps(PRE_TOOL_USE), method, url, headers, body]).encode()
    done = live.place.run([sys.executable, "-I", "-c", AGENT], input=told, timeout=60)
    assert done.returncode == 0, done.stderr
    code, _, text = done.stdout.decode().partition(" ")
    return int(code), text


@pytest.mark.parametrize("live", [DRIVEN], ids=["driven"], indirect=True)
def test_a_hook_is_approved_in_the_browser_and_guards_from_then_on(
    live: Live, tmp_path: Path, chromium: Chromium
) -> None:
    assert not mapped(live)
    file = opened(live, tmp_path)
    assert mapped(live)
    assert b"#" not in b"".join(one.read_bytes() for one in (live.home / "logs").iterdir())

    with chromium.page() as page:
        page.go(file.as_uri())
        page.wait("location.pathname === '/'")
        assert not file.exists()
        page.follow("nav a", "Hooks")
        page.follow(".hook a", "guard")
        page.follow("a.button", "Review")
        page.follow(".confirm button", "Approve")
        page.follow("nav a", "Decisions")
        page.wait("!!document.querySelector('[data-state=live]')")

        answer = live.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "tool_input": {"command": "mkfs"}})

        assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
        page.wait("document.body.innerText.includes('no mkfs')", "the decision appears by itself")
        page.follow(".row", "no mkfs")
        page.click(".again button")
        page.wait("document.body.innerText.includes('The same as then: denied')", "it is replayed")
    assert live.quit() == 0


@pytest.mark.parametrize("live", [DRIVEN], ids=["driven"], indirect=True)
def test_an_agent_with_the_cookie_can_approve_nothing(live: Live, tmp_path: Path, chromium: Chromium) -> None:
    with chromium.page() as page:
        page.go(opened(live, tmp_path).as_uri())
        page.wait("location.pathname === '/'")
        origin = str(page.run("location.origin"))
        cookie = page.call("Network.getCookies", urls=[origin])["cookies"][0]
        stolen = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        own = {**stolen, "Origin": origin, "Sec-Fetch-Site": "same-origin"}
        form = {**own, "Content-Type": "application/x-www-form-urlencoded"}
        guard = hook_id(f"hooktray:{live.config}#guard")
        page.go(f"{origin}/confirm/approve?of={guard}")
        token = page.run("document.querySelector('[name=token]').value")

        refused = agent(live, "POST", f"{origin}/confirm", form, f"token={token}")

        assert refused[0] == 403
        assert "agent or a hook" in refused[1]
        assert live.states() == {"guard": "pending"}
        page.follow(".confirm button", "Approve")  # the person still can
        assert live.states() == {"guard": "approved"}


def test_a_driven_browser_and_an_agent_with_the_link_are_refused(
    live: Live, tmp_path: Path, chromium: Chromium
) -> None:
    file = opened(live, tmp_path)
    origin, _, token = found(file).partition("/enter#")
    with chromium.page() as page:
        page.go(file.as_uri())
        page.wait("document.title.startsWith('A program can control this browser')")
        assert page.call("Network.getCookies", urls=[origin])["cookies"] == []
    log = live.home / "logs" / "hooktray.log"
    wait(lambda: "does not count: chromium-headless-shell" in log.read_text(), what="the tray says why")

    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    code, _ = agent(live, "POST", f"{origin}/enter", headers, json.dumps({"token": token}))

    assert code == 403


def test_without_anything_that_opens_files_open_says_so(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    plain.environment["PATH"] = str(programs)
    try:
        live = Live.fresh(plain, tmp_path)
        done = live.cli("open")
        assert done.returncode == 1
        assert b"nothing here can open a browser" in done.stderr
        assert not list((live.home / "state").glob("open-*"))
    finally:
        plain.close()
