"""Through which programs a click counts, as a table of what the kernel may show of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tray.engine.callers.clicking import browser, host
from tray.engine.callers.people import Seen

ME = 1000


def seen(pid: int, parent: int, name: str, **more: Any) -> Seen:
    return Seen(**{"pid": pid, "parent": parent, "uid": ME, "name": name, "system": True, **more})


INIT = seen(1, 0, "systemd", uid=0, environment=None)
CHROMIUM = seen(
    50, 1, "chromium", words=("/usr/lib/chromium/chromium", "--profile-directory=Default", "--no-sandbox")
)
ZYGOTE = seen(51, 50, "chromium", words=("/usr/lib/chromium/chromium --type=zygote --no-zygote-sandbox",))
NETWORK = seen(52, 51, "chromium", words=("/usr/lib/chromium/chromium --utility-sub-type=network",))
FIREFOX = seen(60, 61, "firefox-esr", words=("/usr/lib/firefox-esr/firefox-esr", "https://example.com/--headless"))
PANEL = seen(61, 1, "xfce4-panel")
EPIPHANY = seen(70, 1, "epiphany")
WEBKIT = seen(72, 71, "WebKitNetworkProcess")
CAGE = seen(71, 70, "bwrap")


@pytest.mark.parametrize(
    "chain",
    [
        (NETWORK, ZYGOTE, CHROMIUM, INIT),
        (FIREFOX, PANEL, INIT),
        (replace(FIREFOX, name=".firefox-wrapped"), INIT),
        (WEBKIT, CAGE, EPIPHANY, INIT),
    ],
)
def test_a_browser_that_a_person_uses_is_heard(chain: tuple[Seen, ...]) -> None:
    assert browser(chain, (), ME) == ""


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ((), "does not show"),
        ((seen(80, 1, "python3.11"), INIT), "is no browser"),
        ((seen(80, 1, "curl"), INIT), "is no browser"),
        ((seen(80, 1, "chromium", system=False), INIT), "is no browser"),
        ((replace(NETWORK, system=False), ZYGOTE, CHROMIUM, INIT), "is no browser"),
        ((WEBKIT, CAGE, seen(70, 1, "python3.11"), INIT), "is no browser"),
        ((WEBKIT, INIT), "is no browser"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, words=("chromium", "--headless=new")), INIT), "driven"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, words=("chromium", "--remote-debugging-port=0")), INIT), "driven"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, words=("chromium", "--load-extension=/tmp/x")), INIT), "driven"),
        ((replace(FIREFOX, words=("firefox", "-marionette")), PANEL, INIT), "driven"),
        ((replace(FIREFOX, environment=frozenset({"MOZ_HEADLESS"})), PANEL, INIT), "driven"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, environment=frozenset({"LD_PRELOAD"})), INIT), "not its own"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, environment=None), INIT), "not its own"),
        ((replace(FIREFOX, environment=frozenset({"CLAUDECODE"})), INIT), "CLAUDECODE is set"),
        ((FIREFOX, seen(61, 1, "node", words=("node", "/usr/bin/claude")), INIT), "is an agent"),
        ((FIREFOX, seen(61, 1, "sh", environment=None), INIT), "hides what it is"),
    ],
)
def test_another_program_is_not(chain: tuple[Seen, ...], reason: str) -> None:
    assert reason in browser(chain, (), ME)


def test_a_browser_that_belongs_to_an_agent_is_not() -> None:
    assert "belongs to an agent" in browser((FIREFOX, PANEL, INIT), {FIREFOX.pid}, ME)


NOTIFICATIONS = seen(
    90, 1, "gjs-console", words=("/usr/bin/gjs", "-m", "/usr/share/gnome-shell/org.gnome.Shell.Notifications")
)
SCRIPT = seen(91, 1, "python3.11", words=("python3", "/home/me/panel.py"))


@pytest.mark.parametrize("one", [PANEL, NOTIFICATIONS, seen(92, 1, "plasmashell")])
def test_a_desktops_own_program_is_heard_whenever_it_began(one: Seen) -> None:
    assert host((one, INIT), (), ME, first=False) == ""


def test_any_program_is_heard_that_was_there_before_the_agents() -> None:
    assert host((SCRIPT, INIT), (), ME, first=True) == ""


@pytest.mark.parametrize(
    ("one", "first", "reason"),
    [
        (SCRIPT, False, "came after an agent"),
        (replace(PANEL, system=False), False, "came after an agent"),
        (replace(NOTIFICATIONS, words=("gjs", "/tmp/mine.js")), False, "came after an agent"),
        (replace(NOTIFICATIONS, words=("gjs", "-I", "/tmp", NOTIFICATIONS.words[-1])), False, "came after an agent"),
        (replace(PANEL, environment=frozenset({"GTK_MODULES"})), False, "not its own"),
        (replace(SCRIPT, environment=frozenset({"AI_AGENT"})), True, "AI_AGENT is set"),
        (replace(SCRIPT, environment=None), True, "hides what it is"),
    ],
)
def test_what_an_agent_may_have_put_there_is_not(one: Seen, first: bool, reason: str) -> None:
    assert reason in host((one, INIT), (), ME, first=first)


def test_a_host_that_belongs_to_an_agent_is_not_whenever_it_began() -> None:
    assert "belongs to an agent" in host((PANEL, INIT), {PANEL.pid}, ME, first=True)


def test_what_is_not_shown_is_no_host() -> None:
    assert "does not show" in host((), (), ME, first=True)
