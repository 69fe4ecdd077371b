"""Lists the causes for which the page refuses a request, each with what happened and what the user can do."""

from __future__ import annotations

from enum import Enum

import msgspec

from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.callers.person import Proof
from tray.language import phrase, say

CLICK_STATUS = 403  # of every click that does not count
OPEN_AGAIN = phrase("Choose Open page in the tray's menu, or run `hooktray open`.")
SET_PASSPHRASE = phrase("Or set a passphrase with `hooktray passphrase`: it is then asked for here.")


class Refusal(msgspec.Struct, frozen=True):
    """The answer to a refused request. Nothing in it comes from the request."""

    status: int
    why: str
    remedy: str = ""
    has_back_link: bool = False  # for a browser that is signed in
    detail: str = ""  # what the kernel shows of the program that sent it


class RefusalCause(Enum):
    """Why a request is refused. `ClickObjection` has why a click of the program that sent it does not count."""

    HOST = Refusal(421, phrase("This is not the page's address"), OPEN_AGAIN)
    TARGET = Refusal(400, phrase("This is not an address of the page"))
    METHOD = Refusal(405, phrase("The page knows GET and POST"))
    CROSS_SITE = Refusal(403, phrase("Another site may not ask the page for anything"), OPEN_AGAIN)
    CONTENT_TYPE = Refusal(415, phrase("The page does not take this kind of content"))
    SIZE = Refusal(413, phrase("The page takes small forms only"))
    OTHER_USER = Refusal(
        401,
        phrase("This browser belongs to another user"),
        phrase("Open the page in a browser of the user who runs the tray."),
    )
    NOT_SIGNED_IN = Refusal(401, phrase("This browser is not signed in"), OPEN_AGAIN)
    LINK = Refusal(
        403,
        phrase("This link was used already, or is too old"),
        phrase(
            "A link opens the page once, within a minute, over SSH within ten. Choose Open page in the tray's menu, "
            "or run `hooktray open`."
        ),
    )
    NOT_FOUND = Refusal(
        404, phrase("There is nothing at this address"), phrase("It may be older than what the journal keeps."), True
    )
    TOO_MANY_PAGES = Refusal(503, phrase("Too many pages are open"), has_back_link=True)
    INTERNAL_ERROR = Refusal(
        500,
        phrase("The page has a bug"),
        phrase("The tray's log has details; `hooktray paths` shows its place."),
        has_back_link=True,
    )


def click_refusal(found: ClickRejection) -> Refusal:
    """Returns the refusal of a click, if the passphrase cannot make it count or none is set."""
    remedies = [found.objection.remedy]
    if found.proof is Proof.PASSPHRASE:
        remedies.append(say(SET_PASSPHRASE))
    return Refusal(CLICK_STATUS, found.objection.title, " ".join(remedies), detail=found.detail)
