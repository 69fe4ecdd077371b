"""Through which programs a click counts, as a table of what the kernel may show of them."""

from __future__ import annotations

from typing import Any

import pytest
from approvals.callers.processes import INIT, MARK, ME, seen
from every import every
from msgspec.structs import replace

from tray.approvals.callers.click_check import (
    BROWSER_CHECKS,
    HOST_CHECKS,
    ClickFacts,
    ClickObjection,
    ClickRejection,
    find_objection,
)
from tray.approvals.callers.person import ProcessFacts, Proof


def check_browser(*chain: ProcessFacts, **more: Any) -> ClickRejection | None:
    return find_objection(ClickFacts(chain=chain, uid=ME, **more), BROWSER_CHECKS)


def check_host(*chain: ProcessFacts, **more: Any) -> ClickRejection | None:
    return find_objection(ClickFacts(chain=chain, uid=ME, **more), HOST_CHECKS)


CHROMIUM = seen(
    50, 1, "chromium", command=("/usr/lib/chromium/chromium", "--profile-directory=Default", "--no-sandbox")
)
ZYGOTE = seen(51, 50, "chromium", command=("/usr/lib/chromium/chromium --type=zygote --no-zygote-sandbox",))
NETWORK = seen(52, 51, "chromium", command=("/usr/lib/chromium/chromium --utility-sub-type=network",))
FIREFOX = seen(60, 61, "firefox-esr", command=("/usr/lib/firefox-esr/firefox-esr", "https://example.com/--headless"))
PANEL = seen(61, 1, "xfce4-panel")
EPIPHANY = seen(70, 1, "epiphany")
WEBKIT = seen(72, 71, "WebKitNetworkProcess")
CAGE = seen(71, 70, "bwrap")
EXTENSIONS = "/usr/share/chromium/extensions"


@every(
    "chain",
    [
        (NETWORK, ZYGOTE, CHROMIUM, INIT),
        (FIREFOX, PANEL, INIT),
        (replace(FIREFOX, name=".firefox-wrapped"), INIT),
        (WEBKIT, CAGE, EPIPHANY, INIT),
    ],
)
def test_a_browser_that_a_person_uses_is_heard(chain: tuple[ProcessFacts, ...]) -> None:
    assert check_browser(*chain) is None


def started(*words: str) -> tuple[ProcessFacts, ...]:
    """Debian's Chromium; it shows its words as one, joined by blanks."""
    line = " ".join(("/usr/lib/chromium/chromium", "--disable-pings", *words))
    return NETWORK, ZYGOTE, replace(CHROMIUM, command=(line,)), INIT


@every(
    "words",
    [
        ("--load-extension", "--no-sandbox", "file:///home/me/open-x.html"),
        (f"--load-extension={EXTENSIONS}/ublock-origin", "file:///home/me/open-x.html"),
        (f"--load-extension={EXTENSIONS}/one,", "--no-first-run", f"{EXTENSIONS}/two"),
        (f"--load-extension={EXTENSIONS}/one,", f"{EXTENSIONS}/two", "file:///home/me/open-x.html"),
        ("--disable-extensions-except=", "--load-extension=/usr/share/webext/ublock-origin"),
        ("--no-sandbox", "--user-data-dir=/home/me/other", "https://example.com/?a=--headless"),
    ],
)
def test_what_the_distribution_gives_its_browser_is_no_program_that_drives_it(words: tuple[str, ...]) -> None:
    assert check_browser(*started(*words)) is None


def test_an_empty_switch_before_an_address_loads_nothing() -> None:
    words = ("/usr/lib/chromium/chromium", "--load-extension=", "file:///tmp/open-x.html")

    assert check_browser(NETWORK, ZYGOTE, replace(CHROMIUM, command=words), INIT) is None


@every(
    ("words", "switch"),
    [
        (("--load-extension=/home/me/x",), "--load-extension"),
        (("--load-extension=x", "file:///home/me/open-x.html"), "--load-extension"),
        ((f"--load-extension={EXTENSIONS}/one,/tmp/x",), "--load-extension"),
        ((f"--load-extension={EXTENSIONS}/one", "x,/tmp/x"), "--load-extension"),
        ((f"--load-extension={EXTENSIONS}/../../../../tmp/x",), "--load-extension"),
        ((f"--load-extension={EXTENSIONS}/one", "-load-extension=/tmp/x"), "-load-extension"),
        ((f"--load-extension={EXTENSIONS}",), "--load-extension"),
        (("--load-extension=/tmp/x\ny",), "--load-extension"),
        (("--disable-extensions-except=/tmp/x",), "--disable-extensions-except"),
        (("--headless=new",), "--headless"),
        (("--remote-debugging-port=0",), "--remote-debugging-port"),
        (("--remote-debugging-pipe",), "--remote-debugging-pipe"),
        (("--enable-automation", "--load-extension"), "--enable-automation"),
    ],
)
def test_what_a_program_drives_it_with_is_named(words: tuple[str, ...], switch: str) -> None:
    found = check_browser(*started(*words))

    assert found is not None
    assert found.objection is ClickObjection.AUTOMATED
    assert found.detail == f"chromium (50) was started with {switch}"


HIDDEN = seen(61, 1, "x", environment=None, is_system=False)
CLAUDE = seen(61, 1, "node", command=("node", "/usr/bin/claude"))
UNKNOWN, AUTOMATED = ClickObjection.UNKNOWN, ClickObjection.AUTOMATED


@every(
    ("chain", "objection", "detail"),
    [
        ((), ClickObjection.UNSEEN, ""),
        ((seen(80, 1, "python3.11"), INIT), UNKNOWN, "python3.11 (80)"),
        ((seen(80, 1, "curl"), INIT), UNKNOWN, "curl (80)"),
        ((seen(80, 1, "chromium", is_system=False), INIT), UNKNOWN, "chromium (80)"),
        ((seen(80, 1, "chromium (deleted)", is_system=False), INIT), ClickObjection.UPDATED,
         "chromium (80) runs a file"),
        ((seen(80, 1, "python3 (deleted)", is_system=False), INIT), UNKNOWN, "python3 (deleted)"),
        ((replace(NETWORK, is_system=False), ZYGOTE, CHROMIUM, INIT), UNKNOWN, "chromium (52)"),
        ((WEBKIT, CAGE, seen(70, 1, "python3.11"), INIT), UNKNOWN, "python3.11 (70)"),
        ((WEBKIT, INIT), UNKNOWN, "systemd (1)"),
        ((replace(FIREFOX, command=("firefox", "-marionette")), PANEL, INIT), AUTOMATED, "-marionette"),
        ((replace(FIREFOX, environment=frozenset({"MOZ_HEADLESS"})), PANEL, INIT), AUTOMATED, "MOZ_HEADLESS"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, injected=frozenset({"LD_PRELOAD"})), INIT), ClickObjection.ALTERED,
         "LD_PRELOAD"),
        ((NETWORK, ZYGOTE, replace(CHROMIUM, environment=None), INIT), ClickObjection.HIDDEN, "hides what it is"),
        ((replace(FIREFOX, environment=MARK), INIT), ClickObjection.MARKED, "CLAUDECODE is set"),
        ((FIREFOX, CLAUDE, INIT), ClickObjection.AGENT, "is an agent"),
        ((FIREFOX, HIDDEN, INIT), ClickObjection.HIDDEN, "hides what it is"),
    ],
)  # fmt: skip
def test_another_program_is_not(chain: tuple[ProcessFacts, ...], objection: ClickObjection, detail: str) -> None:
    found = check_browser(*chain)

    assert found is not None
    assert (found.objection, detail in found.detail) == (objection, True)
    refused = objection in (ClickObjection.AGENT, AUTOMATED)
    assert found.proof is (Proof.REFUSED if refused else Proof.PASSPHRASE)


NOTIFICATIONS = seen(
    90, 1, "gjs-console", command=("/usr/bin/gjs", "-m", "/usr/share/gnome-shell/org.gnome.Shell.Notifications")
)
SCRIPT = seen(91, 1, "python3.11", command=("python3", "/home/me/panel.py"))


@every(
    ("one", "first"),
    [
        *((one, False) for one in (PANEL, NOTIFICATIONS, seen(92, 1, "plasmashell"))),
        (seen(93, 1, "notification-area-applet"), False),  # MATE's host
        (seen(94, 1, "xapp-sn-watcher"), False),  # Cinnamon's
        (SCRIPT, True),
    ],
)
def test_clicks_from_desktop_programs_and_from_older_programs_than_the_agents_count(
    one: ProcessFacts, first: bool
) -> None:
    assert check_host(one, INIT, predates_agents=first) is None


AFTER_AN_AGENT = "started after an agent"
GJS = ("gjs", "-I", "/tmp", NOTIFICATIONS.command[-1])


@every(
    ("chain", "first", "reason"),
    [
        ((), True, ""),
        ((SCRIPT, INIT), False, AFTER_AN_AGENT),
        ((replace(PANEL, is_system=False), INIT), False, AFTER_AN_AGENT),
        ((replace(NOTIFICATIONS, command=("gjs", "/tmp/mine.js")), INIT), False, AFTER_AN_AGENT),
        ((replace(NOTIFICATIONS, command=GJS), INIT), False, AFTER_AN_AGENT),
        ((replace(PANEL, injected=frozenset({"GTK_MODULES"})), INIT), False, "not its own"),
        ((replace(SCRIPT, environment=frozenset({"AI_AGENT"})), INIT), True, "AI_AGENT is set"),
        ((replace(SCRIPT, environment=None, is_system=False), INIT), True, "hides what it is"),
    ],
)
def test_clicks_from_a_host_that_an_agent_may_have_started_need_the_passphrase(
    chain: tuple[ProcessFacts, ...], first: bool, reason: str
) -> None:
    found = check_host(*chain, predates_agents=first)

    assert found is not None
    assert (found.proof, reason in found.detail) == (Proof.PASSPHRASE, True)


def test_clicks_from_a_program_of_an_agent_are_refused_even_if_it_is_older() -> None:
    host = check_host(PANEL, INIT, is_agents=True, predates_agents=True)
    browser = check_browser(FIREFOX, PANEL, INIT, is_agents=True)

    assert host is not None
    assert browser is not None
    assert (host.proof, "belongs to an agent" in host.detail) == (Proof.REFUSED, True)
    assert browser.objection is ClickObjection.AGENT


@pytest.mark.parametrize("check", [check_browser, check_host])
def test_what_started_after_an_agent_in_its_session_needs_the_passphrase(check: Any) -> None:
    found = check(FIREFOX, INIT, predates_agents=True, shares_session=True)

    assert found is not None
    assert (found.objection, found.proof) == (ClickObjection.SHARED_SESSION, Proof.PASSPHRASE)
