"""Decides whether a click counts, from the program that delivered it and the processes above that program.

Any program of the user can connect to the page and to the session bus. So a click counts by itself only if it comes
from a browser that the system installed and that no program controls, or from a tray host or notification server of
the desktop. Through another program it needs the passphrase. An agent's program is refused, and so is a browser that
another program controls: that program would read the passphrase.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Protocol

import msgspec

from tray.approvals.callers.caller_facts import process_chain, start_time
from tray.approvals.callers.person import (
    ProcessFacts,
    Proof,
    find_agent,
    find_hidden,
    find_trace,
    process_label,
)
from tray.execution.ancestry import descent
from tray.execution.known_agents import KnownAgents
from tray.language import phrase, say
from tray.text.words import word_set

BROWSERS = word_set(
    "brave chrome chromium chromium-browser epiphany epiphany-browser falkon firefox firefox-bin firefox-esr floorp "
    "konqueror librewolf midori msedge opera palemoon thorium vivaldi-bin waterfox zen"
)
# Processes of a browser that hold its connections; the browser itself is above them.
BROWSER_PROCESSES = word_set("WebKitNetworkProcess WebKitWebProcess bwrap xdg-dbus-proxy")
# Switches and variables with which another program controls a browser, or puts its own code into it.
AUTOMATION_SWITCHES = re.compile(
    r"(?:^|\s)(--?(?:headless|remote-debugging|remote-allow|enable-automation|automation|marionette|"
    r"load-and-launch-app|start-debugger-server|juggler|dump-dom|screenshot|repl|renderer-cmd-prefix|"
    r"utility-cmd-prefix|gpu-launcher)[\w-]*)",
    re.IGNORECASE,
)
# Extensions are folders, separated by commas, up to the next switch. Debian's launcher names those of packages, and
# gives the switch without `=` if there are none. Chromium shows its words joined by blanks, so an address may follow
# the folders: a word after a comma is taken for a folder.
EXTENSION_SWITCHES = re.compile(
    r"(?:^|\s)(--?(?:load-extension|disable-extensions-except))=(.*?)(?=\s--?[a-z]|\Z)", re.IGNORECASE | re.DOTALL
)
PACKAGED_EXTENSION = re.compile(r"/usr/(?:(?:share|lib|lib64)/chromium(?:-browser)?/extensions|share/webext)/\S")
AUTOMATION_VARIABLES = word_set(
    "MOZ_AUTOMATION MOZ_HEADLESS MOZ_MARIONETTE WEBKIT_INSPECTOR_HTTP_SERVER WEBKIT_INSPECTOR_SERVER"
)
# Panels, tray hosts and notification servers. Only a list distinguishes a panel that started after an agent from
# `gdbus`, with which the agent could click.
DESKTOPS = word_set(
    "budgie-panel cinnamon cosmic-applets cosmic-notifications cosmic-panel dunst fnott gnome-shell "
    "io.elementary.notifications io.elementary.wingpanel kded5 kded6 lxpanel lxqt-notificationd lxqt-panel mako "
    "mate-notification-daemon mate-panel notification-area-applet notification-daemon notify-osd plasmashell "
    "sfwbar snixembed swaybar swaync ukui-panel waybar wrapper-2.0 xapp-sn-watcher xembedsniproxy xfce4-notifyd "
    "xfce4-panel"
)
# Interpreters, with the only script of a desktop that they run.
DESKTOP_SCRIPTS = {"gjs-console": "/usr/share/gnome-shell/org.gnome.Shell.Notifications"}
MAX_CONFIRMED = 64  # browsers and panels that the user confirmed with the passphrase
DELETED_SUFFIX = " (deleted)"  # the kernel adds it to the path of a program whose file was replaced

log = logging.getLogger(__name__)

RESTART = phrase(
    "Close all of its windows and choose Open page in the tray's menu, which starts it again. Or use another "
    "browser, or the tray's menu."
)


class ClickObjection(Enum):
    """Why a click does not count by itself. Each has the title that the page shows, and what the user can do."""

    UNSEEN = (
        phrase("The system does not show which program asks"),
        phrase("Use a browser that runs outside of a container, or the tray's menu."),
    )
    AGENT = (phrase("An agent or a hook started this browser"), RESTART)
    AUTOMATED = (phrase("A program can control this browser"), RESTART)
    UPDATED = (phrase("This browser was updated while it was running"), RESTART)
    UNKNOWN = (
        phrase("This program is not a browser of your system"),
        phrase(
            "Use a browser from your system's packages, or the tray's menu. A browser in your home folder or in a "
            "Flatpak is not recognised."
        ),
    )
    ALTERED = (phrase("This browser may run code that is not its own"), RESTART)
    MARKED = (phrase("This browser was started with an agent's variable"), RESTART)
    HIDDEN = (phrase("The system does not show how this browser was started"), RESTART)
    SHARED_SESSION = (phrase("An agent may have started this browser"), RESTART)

    @property
    def title(self) -> str:
        return say(self.value[0])

    @property
    def remedy(self) -> str:
        return say(self.value[1])


REFUSED = frozenset({ClickObjection.AGENT, ClickObjection.AUTOMATED})  # also with the passphrase


class ClickRejection(msgspec.Struct, frozen=True):
    """An objection to one process. `detail` names the process and what was found; "" if the system shows none."""

    objection: ClickObjection
    detail: str = ""

    @property
    def proof(self) -> Proof:
        return Proof.REFUSED if self.objection in REFUSED else Proof.PASSPHRASE


class ClickFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about the process that delivered a click; `chain` is that process and those above it."""

    chain: tuple[ProcessFacts, ...]
    uid: int  # of the tray's user
    is_agents: bool = False  # it is a known agent or hook, or is below one
    predates_agents: bool = False  # it started before every agent that has sent an event
    shares_session: bool = False  # it started after an agent in the same terminal or service

    @property
    def browser(self) -> ProcessFacts:
        """The first process that is not one of those which hold a browser's connections."""
        return next((one for one in self.chain if one.name not in BROWSER_PROCESSES), self.chain[-1])

    @property
    def browsers(self) -> tuple[ProcessFacts, ...]:
        """The browser with its own processes above it: Chromium's network service is below its main process."""
        first = self.browser
        return (first, *(one for one in self.chain if one is not first and _plain_name(one.name) in BROWSERS))


# In order; each check returns what it found, or "".
ClickChecks = Mapping[ClickObjection, Callable[[ClickFacts], str]]


def find_objection(facts: ClickFacts, checks: ClickChecks) -> ClickRejection | None:
    """Returns the first objection to a click, or None if the click counts."""
    if not facts.chain:
        return ClickRejection(ClickObjection.UNSEEN)
    found = ((objection, check(facts)) for objection, check in checks.items())
    return next((ClickRejection(objection, detail) for objection, detail in found if detail), None)


def _agent(facts: ClickFacts) -> str:
    return find_agent(facts.chain, {facts.chain[0].pid} if facts.is_agents else ())


def _automation(facts: ClickFacts) -> str:
    """Finds the switch or variable by which another program controls the browser."""
    for one in facts.browsers:
        if switch := next((switch for word in one.command for switch in _automation_switches(word)), ""):
            return say("{who} was started with {switch}", who=process_label(one), switch=switch)
        if found := (one.environment or frozenset()) & AUTOMATION_VARIABLES:
            return _variable_text(one, found)
    return ""


def _automation_switches(words: str) -> Iterator[str]:
    """Yields the switches in one word, or in several that are joined by blanks."""
    yield from AUTOMATION_SWITCHES.findall(words)
    yield from (switch for switch, folders in EXTENSION_SWITCHES.findall(words) if not _is_packaged(folders))


def _is_packaged(folders: str) -> bool:
    """True if packages of the system installed all of these extensions."""
    parts = [part.strip() for part in folders.split(",")]
    return all(not part or (PACKAGED_EXTENSION.match(part) and "/../" not in f"{part}/") for part in parts)


def _updated_file(facts: ClickFacts) -> str:
    one = facts.browser
    name = one.name.removesuffix(DELETED_SUFFIX)
    if name == one.name or _plain_name(name) not in BROWSERS:
        return ""
    return say("{who} runs a file that was replaced or removed", who=f"{name} ({one.pid})")


def _unknown_browser(facts: ClickFacts) -> str:
    """Objects if the browser, or a process below it, is not installed by the system."""
    one = facts.browser
    below = facts.chain[: facts.chain.index(one) + 1]
    if _plain_name(one.name) in BROWSERS and all(each.is_system for each in below):
        return ""
    return say("{who} is not a browser that your system installed", who=process_label(one))


def _hidden_browser(facts: ClickFacts) -> str:
    """Objects to a browser without a visible environment, even if the system hides it for its privileges."""
    hidden = next((one for one in facts.browsers if one.environment is None), None)
    return say("{who} hides what it is", who=process_label(hidden)) if hidden else find_hidden(facts.chain, facts.uid)


def _altered_browser(facts: ClickFacts) -> str:
    return next((_variable_text(one, one.injected) for one in facts.browsers if one.injected), "")


def _newcomer(facts: ClickFacts) -> str:
    """Objects to a program that started after an agent and is not a desktop's: the agent may have started it."""
    one = facts.chain[0]
    if facts.predates_agents or (one.is_system and (one.name in DESKTOPS or _is_desktop_script(one))):
        return ""
    return say("{who} started after an agent, and is not a panel that Hooktray knows", who=process_label(one))


def _is_desktop_script(one: ProcessFacts) -> bool:
    script = DESKTOP_SCRIPTS.get(one.name)
    others = [word for word in one.command[1:-1] if word not in ("-m", "--module")]
    return script is not None and one.command[-1:] == (script,) and not others


def _altered_newcomer(facts: ClickFacts) -> str:
    one = facts.chain[0]
    if facts.predates_agents or not one.injected:
        return ""
    return say("{who} runs with code that is not its own", who=process_label(one))


def _shared_session(facts: ClickFacts) -> str:
    if not facts.shares_session:
        return ""
    who = process_label(facts.chain[0])
    return say("{who} was started after an agent, in the same terminal or service", who=who)


def _variable_text(one: ProcessFacts, names: frozenset[str]) -> str:
    return say("{who} was started with the variable {name}", who=process_label(one), name=min(names))


def _plain_name(name: str) -> str:
    """Returns the name without what NixOS adds: `.firefox-wrapped`."""
    return name.removeprefix(".").removesuffix("-wrapped")


# The objections that no passphrase lifts come first.
BROWSER_CHECKS: ClickChecks = {
    ClickObjection.AGENT: _agent,
    ClickObjection.AUTOMATED: _automation,
    ClickObjection.UPDATED: _updated_file,
    ClickObjection.UNKNOWN: _unknown_browser,
    ClickObjection.HIDDEN: _hidden_browser,
    ClickObjection.ALTERED: _altered_browser,
    ClickObjection.MARKED: lambda facts: find_trace(facts.chain),
    ClickObjection.SHARED_SESSION: _shared_session,
}
HOST_CHECKS: ClickChecks = {  # of tray hosts and notification servers
    ClickObjection.AGENT: _agent,
    ClickObjection.MARKED: lambda facts: find_trace(facts.chain),
    ClickObjection.HIDDEN: lambda facts: find_hidden(facts.chain, facts.uid),
    ClickObjection.UNKNOWN: _newcomer,
    ClickObjection.ALTERED: _altered_newcomer,
    ClickObjection.SHARED_SESSION: _shared_session,
}


class StartedPrograms(Protocol):
    """The programs that the tray started to open files for the user."""

    def started(self, pid: int) -> bool: ...


class ClickTrust:
    """Judges a process by its id. Elsewhere than on Linux, only by which process started which."""

    def __init__(self, agents: KnownAgents, opener: StartedPrograms) -> None:
        self._agents = agents
        self._opener = opener
        self._own = os.getpid()
        self._confirmed: dict[tuple[int, str], None] = {}

    def confirm(self, pid: int) -> None:
        """Count clicks through this process until it ends: the user typed the passphrase."""
        self._confirmed[pid, start_time(pid)] = None
        if len(self._confirmed) > MAX_CONFIRMED:
            self._confirmed.pop(next(iter(self._confirmed)))

    def has_agent_ancestor(self, pid: int) -> bool:
        """True if this process is a hook or an agent, or is below one."""
        return descent(pid, self._own) is not None or self._agents.has_agent_above(pid)

    def may_open_page(self, pid: int) -> bool:
        """True if this process may open the page."""
        chain = process_chain(pid)
        return not self.has_agent_ancestor(pid) and not find_agent(chain, ()) and not find_trace(chain[:1])

    def browser_objection(self, pid: int) -> ClickRejection | None:
        """Returns why a click in this browser does not count; None if it does."""
        return self._objection(pid, BROWSER_CHECKS)

    def host_objection(self, pid: int) -> ClickRejection | None:
        """Returns why a click through this tray host or notification server does not count; None if it does."""
        return self._objection(pid, HOST_CHECKS)

    def is_trusted_host(self, pid: int) -> bool:
        """True if a click through this tray host or notification server counts."""
        return self.host_objection(pid) is None

    def _objection(self, pid: int, checks: ClickChecks) -> ClickRejection | None:
        if sys.platform != "linux":
            text = say("{who} belongs to an agent or a hook", who=f"process {pid}")
            found = ClickRejection(ClickObjection.AGENT, text) if self.has_agent_ancestor(pid) else None
        else:
            # What the tray opened for the user is known by its process: Chromium overwrites its environment.
            below = descent(pid, self._own)
            is_hooks = below is not None and not self._opener.started(below.child)
            facts = ClickFacts(
                chain=process_chain(pid),
                uid=os.getuid(),
                is_agents=is_hooks or self._agents.has_agent_above(pid),
                predates_agents=self._agents.predates_agents(pid),
                shares_session=self._agents.shares_session(pid),
            )
            found = find_objection(facts, checks)
        if found and found.proof is Proof.PASSPHRASE and (pid, start_time(pid)) in self._confirmed:
            return None
        if found:
            why = found.detail or found.objection.title
            log.warning("a click through process %d does not count: %s", pid, why)
        return found
