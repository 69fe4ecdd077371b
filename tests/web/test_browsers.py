"""The page in the distribution's own Chromium and Firefox on a desktop: cold, running, and refused with the cause."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk, wait
from desk.browsers import Browser, browser
from house import PRE_TOOL_USE
from live import PYTHON, Live

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows whose connection it is")
KINDS = ("chromium", "firefox")
DECISIONS = "Decisions · Hooktray"
# An agent: it has a relay run, so that the tray knows it, starts a browser, and stays.
AGENT = """
import subprocess, sys
split = sys.argv.index("--")
subprocess.run(sys.argv[1:split], input={payload!r}, check=True, stdout=subprocess.DEVNULL)
subprocess.run(sys.argv[split + 1:])
"""


@pytest.fixture
def live(desk: Desk, tmp_path: Path) -> Live:
    """A tray on the desk, not started: what it opens files with is up to the environment of its start."""
    return Live.fresh(desk, tmp_path, starts=False)


@pytest.fixture(params=KINDS)
def installed(desk: Desk, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Browser]:
    with browser(desk, tmp_path / "browser", request.param) as found:
        yield found


@pytest.fixture
def chromium(desk: Desk, tmp_path: Path) -> Iterator[Browser]:
    with browser(desk, tmp_path / "browser", "chromium") as found:
        yield found


def opened(live: Live) -> Path:
    """The file that the desktop was asked to show."""
    done = live.cli("open")
    assert not done.returncode, done.stderr.decode()
    return Path(done.stdout.decode().split()[-1])


def shown(live: Live, one: Browser) -> None:
    """Open the page, and wait until this browser has used the link and shows the decisions."""
    before = set(links(live))
    opened(live)
    one.wait_title(DECISIONS)
    wait(lambda: set(links(live)) <= before, 60, "the link is used")


def links(live: Live) -> list[Path]:
    return list((live.home / "state").glob("open-*.html"))


def test_the_page_opens_in_a_browser_that_was_not_running_and_in_one_that_was(live: Live, installed: Browser) -> None:
    live.start()

    shown(live, installed)  # the tray's opener started it
    shown(live, installed)  # it runs: a second tab
    assert live.quit() == 0
    assert installed.pids(), "the tray has ended the user's browser"
    live.start()
    shown(live, installed)  # it runs since before this tray
    installed.end()
    shown(live, installed)  # once more from the beginning, on a profile that it knows
    live.quit()


def test_the_page_opens_in_a_browser_that_the_user_started(live: Live, chromium: Browser) -> None:
    chromium.start("about:blank")
    live.start()

    shown(live, chromium)
    live.quit()


def test_a_hook_that_ends_leaves_the_browser_that_the_tray_opened(live: Live, chromium: Browser) -> None:
    live.configure({"hooks": [{"name": "slow", "event": "tool_before", "command": "./slow.sh"}]})
    live.script("slow.sh", 'touch "$HOME/began"; until [ -e "$HOME/done" ]; do sleep 0.05; done; (sleep 9 &)')
    live.start()
    live.approve("slow")
    home = Path(live.desk.environment["HOME"])
    for name in ("began", "done"):
        (home / name).unlink(missing_ok=True)
    asked = event(live)
    wait((home / "began").exists, what="the hook runs")

    shown(live, chromium)
    (home / "done").touch()
    asked.wait(60)

    shown(live, chromium)
    live.quit()


def event(live: Live) -> subprocess.Popen[bytes]:
    """An agent's event, whose hooks run on."""
    path = live.home / "payload.json"
    path.write_text(json.dumps(PRE_TOOL_USE))
    return live.desk.start(["sh", "-c", 'exec "$@" <"$0"', path, *live.relay_argv("claude-code", "PreToolUse")])


@pytest.mark.parametrize(("kind", "switch"), [("chromium", "--remote-debugging-port=0"), ("firefox", "--marionette")])
def test_a_browser_that_a_program_can_control_is_refused_and_the_page_says_why(
    live: Live, desk: Desk, tmp_path: Path, kind: str, switch: str
) -> None:
    with browser(desk, tmp_path / "browser", kind) as one:
        live.start()
        one.start(switch, "about:blank")

        file = opened(live)

        one.wait_title("A program can control this browser · Hooktray")
        assert file.exists(), "the link still works in another browser"
    live.quit()


def test_a_browser_that_an_agent_started_is_refused_and_the_page_says_why(live: Live, chromium: Browser) -> None:
    live.start()
    argv = [*live.relay_argv("claude-code", "PreToolUse"), "--", *chromium.argv, "about:blank"]
    live.desk.start([PYTHON, "-I", "-c", AGENT.format(payload=json.dumps(PRE_TOOL_USE).encode()), *argv])
    chromium.wait_title("")

    opened(live)

    chromium.wait_title("An agent or a hook started this browser · Hooktray")
    live.quit()


def test_a_browser_that_a_hook_started_is_refused_whatever_its_environment(live: Live, chromium: Browser) -> None:
    live.configure({"hooks": [{"name": "starts", "event": "tool_before", "command": "./starts.sh"}]})
    line = " ".join(f"'{word}'" for word in (*chromium.argv, "about:blank"))
    live.script("starts.sh", f'HOOKTRAY_OPENED=1 exec env -u HOOK_SOURCE_DIR sh -c "{line}; :"')
    live.start()
    live.approve("starts")
    event(live)
    chromium.wait_title("")

    opened(live)

    chromium.wait_title("An agent or a hook started this browser · Hooktray")
    live.quit()
