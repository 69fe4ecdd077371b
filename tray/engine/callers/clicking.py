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

from tray.engine.callers.people import INJECTIONS, Seen, called, from_agent, hidden, names, tampered
from tray.language import say

BROWSERS = names(
    "brave chrome chromium chromium-browser epiphany epiphany-browser falkon firefox firefox-bin firefox-esr floorp "
    "konqueror librewolf midori msedge opera palemoon thorium vivaldi-bin waterfox zen"
)
# Processes of a browser's that hold its connections; the browser itself stands above them.
ERRANDS = names("WebKitNetworkProcess WebKitWebProcess bwrap xdg-dbus-proxy")
# Words on its command line, and variables, with which a program drives a browser, or puts code of its own into it.
DRIVEN = re.compile(
    r"(?:^|\s)(--?(?:headless|remote-debugging|remote-allow|enable-automation|automation|marionette|"
    r"load-and-launch-app|start-debugger-server|juggler|dump-dom|screenshot|repl|renderer-cmd-prefix|"
    r"utility-cmd-prefix|gpu-launcher)[\w-]*)",
    re.IGNORECASE,
)
# The folders of extensions that it loads, up to the next switch. Debian's launcher names those of packages; of none,
# Chromium shows the switch without `=`. It shows its words joined by blanks, so addresses may follow the folders:
# what has a comma before it may be a folder, and is taken for one.
LOADED = re.compile(
    r"(?:^|\s)(--?(?:load-extension|disable-extensions-except))=(.*?)(?=\s--?[a-z]|\Z)", re.IGNORECASE | re.DOTALL
)
PACKAGED = re.compile(r"/usr/(?:(?:share|lib|lib64)/chromium(?:-browser)?/extensions|share/webext)/\S")
DRIVERS = names("MOZ_AUTOMATION MOZ_HEADLESS MOZ_MARIONETTE WEBKIT_INSPECTOR_HTTP_SERVER WEBKIT_INSPECTOR_SERVER")
DESKTOPS = names(
    "budgie-panel cinnamon cosmic-panel dunst fnott gnome-shell kded5 kded6 lxpanel lxqt-notificationd lxqt-panel "
    "mako mate-notification-daemon mate-panel notification-daemon notify-osd plasmashell sfwbar snixembed swaync "
    "ukui-panel waybar wrapper-2.0 xembedsniproxy xfce4-notifyd xfce4-panel"
)
# Interpreters of the system's with the one script that a desktop has them run.
SCRIPTS = {"gjs-console": "/usr/share/gnome-shell/org.gnome.Shell.Notifications"}
DELETED = " (deleted)"  # what the kernel adds to the path of a program whose file was replaced
UNSEEN = "the system does not show who asks"


class Objection(Enum):
    """Why a click on the page does not count."""

    UNSEEN = "unseen"
    NOT_A_BROWSER = "not a browser"
    UPDATED = "updated"
    DRIVEN = "driven"
    ALTERED = "altered"
    AGENT = "agent"
    BESIDE = "beside"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Finding:
    """An objection to one process. `detail` names the process and what was found; "" when nothing is seen."""

    objection: Objection
    detail: str


def browser(chain: Sequence[Seen], known: Collection[int], uid: int) -> Finding | None:
    """Why a request of this process to the page is not a person's click; None when it can be one.

    `chain` is the process and those above it.
    """
    if not chain:
        return Finding(Objection.UNSEEN, "")
    one = next((one for one in chain if one.name not in ERRANDS), chain[-1])
    current = replace(one, name=one.name.removesuffix(DELETED))
    if current != one and _plain(current.name) in BROWSERS:
        text = say("{who} runs a file that was replaced or removed", who=called(current))
        return Finding(Objection.UPDATED, text)
    if _plain(one.name) not in BROWSERS or not all(each.system for each in chain[: chain.index(one) + 1]):
        text = say("{who} is not a browser that your system installed", who=called(one))
        return Finding(Objection.NOT_A_BROWSER, text)
    own = [each for each in chain if _plain(each.name) in BROWSERS]
    found = next((found for each in own if (found := _driven(each) or _altered(each))), None)
    if found:
        return found
    if reason := from_agent(chain, known):
        return Finding(Objection.AGENT, reason)
    return Finding(Objection.HIDDEN, reason) if (reason := hidden(chain, uid)) else None


def _driven(one: Seen) -> Finding | None:
    """The switch or the variable with which a program drives it."""
    if switch := next((switch for word in one.words for switch in _switches(word)), ""):
        return Finding(Objection.DRIVEN, say("{who} was started with {switch}", who=called(one), switch=switch))
    return _variable(one, DRIVERS, Objection.DRIVEN)


def _switches(words: str) -> Iterator[str]:
    """Those with which a program drives it, in one word or in several joined by blanks."""
    yield from DRIVEN.findall(words)
    yield from (switch for switch, folders in LOADED.findall(words) if not _packaged(folders))


def _packaged(folders: str) -> bool:
    """Whether all of them came with the system's packages."""
    parts = [part.strip() for part in folders.split(",")]
    return all(not part or (PACKAGED.match(part) and "/../" not in f"{part}/") for part in parts)


def _altered(one: Seen) -> Finding | None:
    if one.environment is None:
        return Finding(Objection.HIDDEN, say("{who} hides what it is", who=called(one)))
    return _variable(one, INJECTIONS, Objection.ALTERED)


def _variable(one: Seen, wrong: Iterable[str], objection: Objection) -> Finding | None:
    found = sorted((one.environment or frozenset()).intersection(wrong))
    text = found and say("{who} was started with the variable {name}", who=called(one), name=found[0])
    return Finding(objection, text) if text else None


def host(chain: Sequence[Seen], known: Collection[int], uid: int, *, first: bool) -> str:
    """Why a click through a tray host or a notification server does not count; "" when it can.

    One that was there before every agent that we know (`first`) may be any program, also a script; one that came
    later must be the desktop's own.
    """
    if not chain:
        return UNSEEN
    one = chain[0]
    wrong = from_agent(chain, known) or hidden(chain, uid)
    if wrong or first:
        return wrong
    if not one.system or not (one.name in DESKTOPS or _desktops_script(one)):
        return f"{called(one)} came after an agent, and is no desktop's that we know"
    return tampered(one)


def _plain(name: str) -> str:
    """`.firefox-wrapped` is what NixOS makes of it."""
    return name.removeprefix(".").removesuffix("-wrapped")


def _desktops_script(one: Seen) -> bool:
    script = SCRIPTS.get(one.name)
    others = [word for word in one.words[1:-1] if word not in ("-m", "--module")]
    return script is not None and one.words[-1:] == (script,) and not others
