"""Whether a click can be a person's: a pure judgement of the program through which it comes.

Any program of the user's can talk to the page and to the session bus. So a click counts only through what a person
clicks with: a browser of the system's that nobody remote-controls, a desktop's own tray host or notification server.
Who may be an agent's is none, and neither is what cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from tray.approvals.callers.person import (
    INJECTION_VARIABLES,
    ProcessFacts,
    find_agent,
    find_hidden,
    find_injection,
    process_label,
)
from tray.language import say
from tray.text.words import word_set

BROWSERS = word_set(
    "brave chrome chromium chromium-browser epiphany epiphany-browser falkon firefox firefox-bin firefox-esr floorp "
    "konqueror librewolf midori msedge opera palemoon thorium vivaldi-bin waterfox zen"
)
# Processes of a browser's that hold its connections; the browser itself is above them.
BROWSER_PROCESSES = word_set("WebKitNetworkProcess WebKitWebProcess bwrap xdg-dbus-proxy")
# Words on its command line, and variables, with which a program drives a browser, or puts code of its own into it.
AUTOMATION_SWITCHES = re.compile(
    r"(?:^|\s)(--?(?:headless|remote-debugging|remote-allow|enable-automation|automation|marionette|"
    r"load-and-launch-app|start-debugger-server|juggler|dump-dom|screenshot|repl|renderer-cmd-prefix|"
    r"utility-cmd-prefix|gpu-launcher)[\w-]*)",
    re.IGNORECASE,
)
# The folders of extensions that it loads, up to the next switch. Debian's launcher names those of packages; of none,
# Chromium shows the switch without `=`. It shows its words joined by blanks, so addresses may follow the folders:
# what has a comma before it may be a folder, and is taken for one.
EXTENSION_SWITCHES = re.compile(
    r"(?:^|\s)(--?(?:load-extension|disable-extensions-except))=(.*?)(?=\s--?[a-z]|\Z)", re.IGNORECASE | re.DOTALL
)
PACKAGED_EXTENSION = re.compile(r"/usr/(?:(?:share|lib|lib64)/chromium(?:-browser)?/extensions|share/webext)/\S")
AUTOMATION_VARIABLES = word_set(
    "MOZ_AUTOMATION MOZ_HEADLESS MOZ_MARIONETTE WEBKIT_INSPECTOR_HTTP_SERVER WEBKIT_INSPECTOR_SERVER"
)
DESKTOPS = word_set(
    "budgie-panel cinnamon cosmic-panel dunst fnott gnome-shell kded5 kded6 lxpanel lxqt-notificationd lxqt-panel "
    "mako mate-notification-daemon mate-panel notification-area-applet notification-daemon notify-osd plasmashell "
    "sfwbar snixembed swaync ukui-panel waybar wrapper-2.0 xapp-sn-watcher xembedsniproxy xfce4-notifyd xfce4-panel"
)
# Interpreters of the system's with the one script that a desktop has them run.
DESKTOP_SCRIPTS = {"gjs-console": "/usr/share/gnome-shell/org.gnome.Shell.Notifications"}
DELETED_SUFFIX = " (deleted)"  # what the kernel adds to the path of a program whose file was replaced
UNSEEN_TEXT = "the system does not show who asks"


class ClickObjection(Enum):
    """Why a click on the page does not count."""

    UNSEEN = "unseen"
    NOT_A_BROWSER = "not a browser"
    UPDATED = "updated"
    AUTOMATED = "driven"
    ALTERED = "altered"
    AGENT = "agent"
    SHARED_SESSION = "beside"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ClickRejection:
    """An objection to one process. `detail` names the process and what was found; "" when nothing is seen."""

    objection: ClickObjection
    detail: str


def check_browser(chain: Sequence[ProcessFacts], agent_pids: Collection[int], uid: int) -> ClickRejection | None:
    """Why a request of this process to the page is not a person's click; None when it can be one.

    `chain` is the process and those above it.
    """
    if not chain:
        return ClickRejection(ClickObjection.UNSEEN, "")
    one = next((one for one in chain if one.name not in BROWSER_PROCESSES), chain[-1])
    current = replace(one, name=one.name.removesuffix(DELETED_SUFFIX))
    if current != one and _plain_name(current.name) in BROWSERS:
        text = say("{who} runs a file that was replaced or removed", who=process_label(current))
        return ClickRejection(ClickObjection.UPDATED, text)
    if _plain_name(one.name) not in BROWSERS or not all(each.is_system for each in chain[: chain.index(one) + 1]):
        text = say("{who} is not a browser that your system installed", who=process_label(one))
        return ClickRejection(ClickObjection.NOT_A_BROWSER, text)
    own = [each for each in chain if _plain_name(each.name) in BROWSERS]
    found = next((found for each in own if (found := _find_automation(each) or _find_injection(each))), None)
    if found:
        return found
    if reason := find_agent(chain, agent_pids):
        return ClickRejection(ClickObjection.AGENT, reason)
    return ClickRejection(ClickObjection.HIDDEN, reason) if (reason := find_hidden(chain, uid)) else None


def _find_automation(one: ProcessFacts) -> ClickRejection | None:
    """The switch or the variable with which a program drives it."""
    if switch := next((switch for word in one.command for switch in _switches(word)), ""):
        return ClickRejection(
            ClickObjection.AUTOMATED, say("{who} was started with {switch}", who=process_label(one), switch=switch)
        )
    return _variable(one, AUTOMATION_VARIABLES, ClickObjection.AUTOMATED)


def _switches(words: str) -> Iterator[str]:
    """Those with which a program drives it, in one word or in several joined by blanks."""
    yield from AUTOMATION_SWITCHES.findall(words)
    yield from (switch for switch, folders in EXTENSION_SWITCHES.findall(words) if not _is_packaged(folders))


def _is_packaged(folders: str) -> bool:
    """Whether all of them came with the system's packages."""
    parts = [part.strip() for part in folders.split(",")]
    return all(not part or (PACKAGED_EXTENSION.match(part) and "/../" not in f"{part}/") for part in parts)


def _find_injection(one: ProcessFacts) -> ClickRejection | None:
    if one.environment is None:
        return ClickRejection(ClickObjection.HIDDEN, say("{who} hides what it is", who=process_label(one)))
    return _variable(one, INJECTION_VARIABLES, ClickObjection.ALTERED)


def _variable(one: ProcessFacts, wrong: Iterable[str], objection: ClickObjection) -> ClickRejection | None:
    found = sorted((one.environment or frozenset()).intersection(wrong))
    text = found and say("{who} was started with the variable {name}", who=process_label(one), name=found[0])
    return ClickRejection(objection, text) if text else None


def check_tray_host(
    chain: Sequence[ProcessFacts], agent_pids: Collection[int], uid: int, *, predates_agents: bool
) -> str:
    """Why a click through a tray host or a notification server does not count; "" when it can.

    With `predates_agents` it was there before every agent that we know, and may be any program, also a script. One
    that came later must be the desktop's own.
    """
    if not chain:
        return UNSEEN_TEXT
    one = chain[0]
    wrong = find_agent(chain, agent_pids) or find_hidden(chain, uid)
    if wrong or predates_agents:
        return wrong
    if not one.is_system or not (one.name in DESKTOPS or _is_desktop_script(one)):
        return f"{process_label(one)} came after an agent, and is no desktop's that we know"
    return find_injection(one)


def _plain_name(name: str) -> str:
    """`.firefox-wrapped` is what NixOS makes of it."""
    return name.removeprefix(".").removesuffix("-wrapped")


def _is_desktop_script(one: ProcessFacts) -> bool:
    script = DESKTOP_SCRIPTS.get(one.name)
    others = [word for word in one.command[1:-1] if word not in ("-m", "--module")]
    return script is not None and one.command[-1:] == (script,) and not others
