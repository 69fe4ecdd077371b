"""Every cause for which the page refuses a request, with what it shows: what happened, and a way that works."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from tray.approvals.callers.click_check import ClickObjection
from tray.language import phrase
from tray.lazy_dataclass import dataclass


class RefusalCause(Enum):
    """What is wrong with a request; `ClickObjection` has what is wrong with the program that sent it."""

    HOST = "host"
    TARGET = "target"
    METHOD = "method"
    CROSS_SITE = "foreign"
    CONTENT_TYPE = "kind"
    SIZE = "size"
    OTHER_USER = "other user"
    NOT_SIGNED_IN = "not signed in"
    LINK_USED = "link used"
    LINK_EXPIRED = "link old"
    LINK_UNKNOWN = "link unknown"
    NOT_FOUND = "missing"
    TOO_MANY_PAGES = "crowded"
    INTERNAL_ERROR = "broken"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The words are ours and hold nothing of what came in; `has_back_link` is for a browser that is signed in."""

    status: int
    why: str
    remedy: str = ""
    has_back_link: bool = False


OPEN_AGAIN = phrase("Choose Open page in the tray's menu, or run `hooktray open`.")
RESTART_BROWSER = phrase(
    "Close all of its windows and choose Open page in the tray's menu, which starts it again. Or use another "
    "browser, or the tray's menu."
)
RESTART_BROWSER_PLAIN = phrase(
    "Start the browser without it, then choose Open page in the tray's menu. Or use another browser, or the tray's "
    "menu."
)

PASSPHRASE_REMEDY = phrase("Or set a passphrase with `hooktray passphrase`: it is then asked for here.")

REFUSALS: Mapping[RefusalCause | ClickObjection, Refusal] = {
    RefusalCause.HOST: Refusal(421, phrase("This address is not ours"), OPEN_AGAIN),
    RefusalCause.TARGET: Refusal(400, phrase("This is not an address of the page")),
    RefusalCause.METHOD: Refusal(405, phrase("The page knows GET and POST")),
    RefusalCause.CROSS_SITE: Refusal(403, phrase("Another site may not ask the page for anything"), OPEN_AGAIN),
    RefusalCause.CONTENT_TYPE: Refusal(415, phrase("The page does not take this kind of content")),
    RefusalCause.SIZE: Refusal(413, phrase("The page takes small forms only")),
    RefusalCause.OTHER_USER: Refusal(
        401,
        phrase("This browser belongs to another user"),
        phrase("Open the page in a browser of the user who runs the tray."),
    ),
    RefusalCause.NOT_SIGNED_IN: Refusal(401, phrase("This browser is not signed in"), OPEN_AGAIN),
    RefusalCause.LINK_USED: Refusal(
        403,
        phrase("This link was used already"),
        phrase("A link opens the page once. Choose Open page in the tray's menu, or run `hooktray open`."),
    ),
    RefusalCause.LINK_EXPIRED: Refusal(
        403,
        phrase("This link is too old"),
        phrase(
            "A link opens the page within a minute. Choose Open page in the tray's menu, or run `hooktray open`, "
            "once more."
        ),
    ),
    RefusalCause.LINK_UNKNOWN: Refusal(
        403,
        phrase("The tray does not know this link"),
        phrase(
            "It is damaged, or many others were made after it. Choose Open page in the tray's menu, or run "
            "`hooktray open`."
        ),
    ),
    RefusalCause.NOT_FOUND: Refusal(
        404,
        phrase("There is nothing at this address"),
        phrase("It may be older than what the journal keeps."),
        has_back_link=True,
    ),
    RefusalCause.TOO_MANY_PAGES: Refusal(503, phrase("Too many pages are open"), has_back_link=True),
    RefusalCause.INTERNAL_ERROR: Refusal(
        500,
        phrase("The page has a bug"),
        phrase("The tray's log has details; `hooktray paths` shows its place."),
        has_back_link=True,
    ),
    ClickObjection.UNSEEN: Refusal(
        403,
        phrase("The system does not show which program asks"),
        phrase("Use a browser that runs outside of a container, or the tray's menu."),
    ),
    ClickObjection.NOT_A_BROWSER: Refusal(
        403,
        phrase("This program is not a browser of your system"),
        phrase(
            "Use a browser from your system's packages, or the tray's menu. A browser in your home folder or in a "
            "Flatpak is not recognised."
        ),
    ),
    ClickObjection.UPDATED: Refusal(403, phrase("This browser was updated while it was running"), RESTART_BROWSER),
    ClickObjection.AUTOMATED: Refusal(403, phrase("A program can control this browser"), RESTART_BROWSER_PLAIN),
    ClickObjection.ALTERED: Refusal(
        403, phrase("This browser may run code that is not its own"), RESTART_BROWSER_PLAIN
    ),
    ClickObjection.AGENT: Refusal(403, phrase("An agent or a hook started this browser"), RESTART_BROWSER),
    ClickObjection.MARKED: Refusal(403, phrase("This browser was started with an agent's variable"), RESTART_BROWSER),
    ClickObjection.SHARED_SESSION: Refusal(403, phrase("An agent may have started this browser"), RESTART_BROWSER),
    ClickObjection.HIDDEN: Refusal(
        403, phrase("The system does not show how this browser was started"), RESTART_BROWSER
    ),
}
