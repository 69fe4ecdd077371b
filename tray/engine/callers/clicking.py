"""Whether a click can be a person's: a pure judgement of the program through which it comes.

Any program of the user's can talk to the page and to the session bus. So a click counts only through what a person
clicks with: a browser of the system's that nobody remote-controls, a desktop's own tray host or notification server.
Who may be an agent's is none, and neither is what cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from tray.engine.callers.people import Seen, called, from_agent, hidden, names, tampered

BROWSERS = names(
    "brave chrome chromium chromium-browser epiphany epiphany-browser falkon firefox firefox-bin firefox-esr floorp "
    "konqueror librewolf midori msedge opera palemoon thorium vivaldi-bin waterfox zen"
)
# Processes of a browser's that hold its connections; the browser itself stands above them.
ERRANDS = names("WebKitNetworkProcess WebKitWebProcess bwrap xdg-dbus-proxy")
# Words on its command line, and variables, with which a program drives a browser, or puts code of its own into it.
DRIVEN = re.compile(
    r"(?:^|\s)--?(?:headless|remote-debugging|remote-allow|enable-automation|automation|marionette|load-extension|"
    r"disable-extensions-except|load-and-launch-app|start-debugger-server|juggler|dump-dom|screenshot|repl|"
    r"renderer-cmd-prefix|utility-cmd-prefix|gpu-launcher)",
    re.IGNORECASE,
)
DRIVERS = names("MOZ_AUTOMATION MOZ_HEADLESS MOZ_MARIONETTE WEBKIT_INSPECTOR_HTTP_SERVER WEBKIT_INSPECTOR_SERVER")
DESKTOPS = names(
    "budgie-panel cinnamon cosmic-panel dunst fnott gnome-shell kded5 kded6 lxpanel lxqt-notificationd lxqt-panel "
    "mako mate-notification-daemon mate-panel notification-daemon notify-osd plasmashell sfwbar snixembed swaync "
    "ukui-panel waybar wrapper-2.0 xembedsniproxy xfce4-notifyd xfce4-panel"
)
# Interpreters of the system's with the one script that a desktop has them run.
SCRIPTS = {"gjs-console": "/usr/share/gnome-shell/org.gnome.Shell.Notifications"}
UNSEEN = "the system does not show who asks"


def browser(chain: Sequence[Seen], known: Collection[int], uid: int) -> str:
    """Why what this process asks of the page is no person's click; "" when it can be. `chain`: it and those above."""
    if not chain:
        return UNSEEN
    one = next((one for one in chain if one.name not in ERRANDS), chain[-1])
    if _plain(one.name) not in BROWSERS or not all(each.system for each in chain[: chain.index(one) + 1]):
        return f"{called(one)} is no browser of the system's"
    own = [each for each in chain if _plain(each.name) in BROWSERS]
    if any(DRIVEN.search(" ".join(each.words)) or (each.environment or frozenset()) & DRIVERS for each in own):
        return f"{called(one)} is driven by a program"
    wrong = next((reason for each in own if (reason := tampered(each))), "")
    return wrong or from_agent(chain, known) or hidden(chain, uid)


def host(chain: Sequence[Seen], known: Collection[int], uid: int, *, first: bool) -> str:
    """The same of a tray host or a notification server; `first` = it was there before every agent that we know.

    One that was there first may be any program, also a script; one that came later must be the desktop's own.
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
