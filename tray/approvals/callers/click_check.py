"""Which proof a click needs: a pure judgement of the program through which it comes.

Any program of the user's can talk to the page and to the session bus. So a click counts by itself only through what a
person clicks with: a browser of the system's without remote control, a desktop's own tray host or notification
server. Through any other program it needs the passphrase. An agent's program is refused, and so is a browser that
another program controls: that program would read the passphrase.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from enum import Enum

from tray.approvals.callers.person import (
    Judgement,
    ProcessFacts,
    Proof,
    find_agent,
    find_hidden,
    find_injection,
    find_trace,
    process_label,
)
from tray.language import phrase, say
from tray.lazy_dataclass import dataclass, replace
from tray.lazy_pattern import lazy_pattern
from tray.text.words import word_set

BROWSERS = word_set(
    "brave chrome chromium chromium-browser epiphany epiphany-browser falkon firefox firefox-bin firefox-esr floorp "
    "konqueror librewolf midori msedge opera palemoon thorium vivaldi-bin waterfox zen"
)
# Processes of a browser's that hold its connections; the browser itself is above them.
BROWSER_PROCESSES = word_set("WebKitNetworkProcess WebKitWebProcess bwrap xdg-dbus-proxy")
# Words on its command line, and variables, with which a program drives a browser, or puts code of its own into it.
AUTOMATION_SWITCHES = lazy_pattern(
    r"(?:^|\s)(--?(?:headless|remote-debugging|remote-allow|enable-automation|automation|marionette|"
    r"load-and-launch-app|start-debugger-server|juggler|dump-dom|screenshot|repl|renderer-cmd-prefix|"
    r"utility-cmd-prefix|gpu-launcher)[\w-]*)",
    re.IGNORECASE,
)
# The folders of extensions that it loads, up to the next switch. Debian's launcher names those of packages; of none,
# Chromium shows the switch without `=`. It shows its words joined by blanks, so addresses may follow the folders:
# what has a comma before it may be a folder, and is taken for one.
EXTENSION_SWITCHES = lazy_pattern(
    r"(?:^|\s)(--?(?:load-extension|disable-extensions-except))=(.*?)(?=\s--?[a-z]|\Z)", re.IGNORECASE | re.DOTALL
)
PACKAGED_EXTENSION = lazy_pattern(r"/usr/(?:(?:share|lib|lib64)/chromium(?:-browser)?/extensions|share/webext)/\S")
AUTOMATION_VARIABLES = word_set(
    "MOZ_AUTOMATION MOZ_HEADLESS MOZ_MARIONETTE WEBKIT_INSPECTOR_HTTP_SERVER WEBKIT_INSPECTOR_SERVER"
)
# A list: nothing else distinguishes a panel that started after an agent from gdbus, with which the agent could click.
DESKTOPS = word_set(
    "budgie-panel cinnamon cosmic-applets cosmic-notifications cosmic-panel dunst fnott gnome-shell "
    "io.elementary.notifications io.elementary.wingpanel kded5 kded6 lxpanel lxqt-notificationd lxqt-panel mako "
    "mate-notification-daemon mate-panel notification-area-applet notification-daemon notify-osd plasmashell "
    "sfwbar snixembed swaybar swaync ukui-panel waybar wrapper-2.0 xapp-sn-watcher xembedsniproxy xfce4-notifyd "
    "xfce4-panel"
)
# Interpreters of the system's with the one script that a desktop has them run.
DESKTOP_SCRIPTS = {"gjs-console": "/usr/share/gnome-shell/org.gnome.Shell.Notifications"}
HOST_REMEDY = phrase("start it again outside of the agent, or use the page or a terminal")
DELETED_SUFFIX = " (deleted)"  # what the kernel adds to the path of a program whose file was replaced


class ClickObjection(Enum):
    """Why a click on the page does not count by itself."""

    UNSEEN = "unseen"
    NOT_A_BROWSER = "not a browser"
    UPDATED = "updated"
    AUTOMATED = "driven"
    ALTERED = "altered"
    AGENT = "agent"
    MARKED = "marked"
    SHARED_SESSION = "beside"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ClickRejection:
    """An objection to one process. `detail` names the process and what was found; "" when nothing is seen."""

    objection: ClickObjection
    detail: str

    @property
    def proof(self) -> Proof:
        return Proof.REFUSED if self.objection in REFUSED else Proof.PASSPHRASE


REFUSED = frozenset({ClickObjection.AGENT, ClickObjection.AUTOMATED})  # those that no passphrase lifts


def check_browser(chain: Sequence[ProcessFacts], agent_pids: Collection[int], uid: int) -> ClickRejection | None:
    """Why a request of this process to the page is not a person's click; None when it can be one.

    `chain` is the process and those above it. What refuses is looked for before what the passphrase lifts.
    """
    if not chain:
        return ClickRejection(ClickObjection.UNSEEN, "")
    if reason := find_agent(chain, agent_pids):
        return ClickRejection(ClickObjection.AGENT, reason)
    one = next((one for one in chain if one.name not in BROWSER_PROCESSES), chain[-1])
    own = [one, *(each for each in chain if each is not one and _plain_name(each.name) in BROWSERS)]
    if found := next((found for each in own if (found := _find_automation(each))), None):
        return found
    if found := _find_unknown(one, chain):
        return found
    if found := next((found for each in own if (found := _find_injection(each))), None):
        return found
    if reason := find_trace(chain):
        return ClickRejection(ClickObjection.MARKED, reason)
    return ClickRejection(ClickObjection.HIDDEN, reason) if (reason := find_hidden(chain, uid)) else None


def _find_unknown(one: ProcessFacts, chain: Sequence[ProcessFacts]) -> ClickRejection | None:
    """Why it is not a browser of the system's."""
    current = replace(one, name=one.name.removesuffix(DELETED_SUFFIX))
    if current != one and _plain_name(current.name) in BROWSERS:
        text = say("{who} runs a file that was replaced or removed", who=process_label(current))
        return ClickRejection(ClickObjection.UPDATED, text)
    if _plain_name(one.name) in BROWSERS and all(each.is_system for each in chain[: chain.index(one) + 1]):
        return None
    text = say("{who} is not a browser that your system installed", who=process_label(one))
    return ClickRejection(ClickObjection.NOT_A_BROWSER, text)


def _find_automation(one: ProcessFacts) -> ClickRejection | None:
    """The switch or the variable with which a program drives it."""
    if switch := next((switch for word in one.command for switch in _switches(word)), ""):
        return ClickRejection(
            ClickObjection.AUTOMATED, say("{who} was started with {switch}", who=process_label(one), switch=switch)
        )
    return _variable(one, (one.environment or frozenset()) & AUTOMATION_VARIABLES, ClickObjection.AUTOMATED)


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
    return _variable(one, one.injected, ClickObjection.ALTERED)


def _variable(one: ProcessFacts, found: Collection[str], objection: ClickObjection) -> ClickRejection | None:
    if not found:
        return None
    text = say("{who} was started with the variable {name}", who=process_label(one), name=min(found))
    return ClickRejection(objection, text)


def judge_tray_host(
    chain: Sequence[ProcessFacts], agent_pids: Collection[int], uid: int, *, predates_agents: bool
) -> Judgement:
    """Which proof a click through a tray host or a notification server needs.

    With `predates_agents` it was there before every agent that we know, and may be any program, also a script. One
    that came later must be the desktop's own.
    """
    if not chain:
        return Judgement(Proof.PASSPHRASE, say("the system does not show who asks"))
    if reason := find_agent(chain, agent_pids):
        return Judgement(Proof.REFUSED, reason, say(HOST_REMEDY))
    reason = find_trace(chain) or find_hidden(chain, uid) or ("" if predates_agents else _find_newcomer(chain[0]))
    return Judgement(Proof.PASSPHRASE, reason) if reason else Judgement(Proof.CLICK)


def _find_newcomer(one: ProcessFacts) -> str:
    """Why a program that came after an agent may be the agent's."""
    if one.is_system and (one.name in DESKTOPS or _is_desktop_script(one)):
        return find_injection(one)
    return say("{who} started after an agent, and is not a panel that Hooktray knows", who=process_label(one))


def _plain_name(name: str) -> str:
    """`.firefox-wrapped` is what NixOS makes of it."""
    return name.removeprefix(".").removesuffix("-wrapped")


def _is_desktop_script(one: ProcessFacts) -> bool:
    script = DESKTOP_SCRIPTS.get(one.name)
    others = [word for word in one.command[1:-1] if word not in ("-m", "--module")]
    return script is not None and one.command[-1:] == (script,) and not others
