"""Every cause for which the page refuses a request, with what it shows: what happened, and a way that works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tray.engine.callers.clicking import Objection
from tray.language import phrase


class Cause(Enum):
    """What is wrong with a request; `Objection` has what is wrong with the program that sent it."""

    HOST = "host"
    TARGET = "target"
    METHOD = "method"
    FOREIGN = "foreign"
    KIND = "kind"
    SIZE = "size"
    OTHER_USER = "other user"
    NOT_SIGNED_IN = "not signed in"
    LINK_USED = "link used"
    LINK_OLD = "link old"
    LINK_UNKNOWN = "link unknown"
    MISSING = "missing"
    CROWDED = "crowded"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The words are ours and hold nothing of what came in; `leads_back` is for a browser that is signed in."""

    status: int
    why: str
    cure: str = ""
    leads_back: bool = False


OPEN = phrase("Choose Open page in the tray's menu, or run `hooktray open`.")
START_AGAIN = phrase(
    "Close all of its windows and choose Open page in the tray's menu, which starts it again. Or use another "
    "browser, or the tray's menu."
)
START_WITHOUT = phrase(
    "Start the browser without it, then choose Open page in the tray's menu. Or use another browser, or the tray's "
    "menu."
)

REFUSALS: Mapping[Cause | Objection, Refusal] = {
    Cause.HOST: Refusal(421, phrase("This address is not ours"), OPEN),
    Cause.TARGET: Refusal(400, phrase("This is not an address of the page")),
    Cause.METHOD: Refusal(405, phrase("The page knows GET and POST")),
    Cause.FOREIGN: Refusal(403, phrase("Another site may not ask the page for anything"), OPEN),
    Cause.KIND: Refusal(415, phrase("The page does not take this kind of content")),
    Cause.SIZE: Refusal(413, phrase("The page takes small forms only")),
    Cause.OTHER_USER: Refusal(
        401,
        phrase("This browser belongs to another user"),
        phrase("Open the page in a browser of the user who runs the tray."),
    ),
    Cause.NOT_SIGNED_IN: Refusal(401, phrase("This browser is not signed in"), OPEN),
    Cause.LINK_USED: Refusal(
        403,
        phrase("This link was used already"),
        phrase("A link opens the page once. Choose Open page in the tray's menu, or run `hooktray open`."),
    ),
    Cause.LINK_OLD: Refusal(
        403,
        phrase("This link is too old"),
        phrase(
            "A link opens the page within a minute. Choose Open page in the tray's menu, or run `hooktray open`, "
            "once more."
        ),
    ),
    Cause.LINK_UNKNOWN: Refusal(
        403,
        phrase("The tray does not know this link"),
        phrase(
            "It is damaged, or many others were made after it. Choose Open page in the tray's menu, or run "
            "`hooktray open`."
        ),
    ),
    Cause.MISSING: Refusal(
        404,
        phrase("There is nothing at this address"),
        phrase("It may be older than what the journal keeps."),
        leads_back=True,
    ),
    Cause.CROWDED: Refusal(503, phrase("Too many pages are open"), leads_back=True),
    Cause.BROKEN: Refusal(
        500,
        phrase("The page has a bug"),
        phrase("The tray's log has details; `hooktray paths` shows its place."),
        leads_back=True,
    ),
    Objection.UNSEEN: Refusal(
        403,
        phrase("The system does not show which program asks"),
        phrase("Use a browser that runs outside of a container, or the tray's menu."),
    ),
    Objection.NOT_A_BROWSER: Refusal(
        403,
        phrase("This program is not a browser of your system"),
        phrase(
            "Use a browser from your system's packages, or the tray's menu. A browser in your home folder or in a "
            "Flatpak is not recognised."
        ),
    ),
    Objection.UPDATED: Refusal(403, phrase("This browser was updated while it was running"), START_AGAIN),
    Objection.DRIVEN: Refusal(403, phrase("A program can control this browser"), START_WITHOUT),
    Objection.ALTERED: Refusal(403, phrase("This browser may run code that is not its own"), START_WITHOUT),
    Objection.AGENT: Refusal(403, phrase("An agent or a hook started this browser"), START_AGAIN),
    Objection.BESIDE: Refusal(403, phrase("An agent may have started this browser"), START_AGAIN),
    Objection.HIDDEN: Refusal(403, phrase("The system does not show how this browser was started"), START_AGAIN),
}
