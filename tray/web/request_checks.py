"""Decides which requests the page answers, from the request line and the headers only, before any look-up.

The page listens on 127.0.0.1, where every web site, every local user and every agent can connect. So a request counts
only if its Host names exactly this server, it comes from Hooktray's page, and it has the token of this start. A
refusal names the cause and what the user can do. Tokens of links and confirmations work once, for a limited time.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from enum import Enum
from typing import Generic, TypeVar

import msgspec

from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.callers.person import Proof
from tray.clock import Clock
from tray.language import phrase, say

ENTER_PATH = "/enter"
STATIC_PATH = "/static/"
BODY_LIMIT = 16 * 1024  # bytes that a form may have
FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
TARGET = re.compile(r"/(?!/)[A-Za-z0-9/._~%?&=+,:@!*()'-]{0,4000}")
FRAME_DESTINATIONS = frozenset(
    {"iframe", "frame", "object", "embed", "fencedframe", "worker", "sharedworker", "serviceworker"}
)
CLICK_STATUS = 403  # of every click that does not count
OPEN_AGAIN = phrase("Choose Open page in the tray's menu, or run `hooktray open`.")
SET_PASSPHRASE = phrase("Or set a passphrase with `hooktray passphrase`: it is then asked for here.")
TOKEN_BITS = 256
MAX_TOKENS = 64  # the oldest makes room for a new one

T = TypeVar("T")


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
    remedy = found.objection.remedy
    if found.proof is Proof.PASSPHRASE:
        remedy = f"{remedy} {say(SET_PASSPHRASE)}"
    return Refusal(CLICK_STATUS, found.objection.title, remedy, detail=found.detail)


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came: `headers` with names in lower case, in order, doubles and all."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


def refusal(head: RequestHead, authority: str, cookie: str, token: str) -> RefusalCause | None:
    """Why this request is not for us to answer, or None. `authority` is our host and port, exactly."""
    if head.values("host") != [authority]:
        return RefusalCause.HOST
    if not TARGET.fullmatch(head.target) or head.values("upgrade"):
        return RefusalCause.TARGET
    if head.method not in ("GET", "POST"):
        return RefusalCause.METHOD
    if not _is_same_origin(head, f"http://{authority}"):
        return RefusalCause.CROSS_SITE
    if found := _body_problem(head):
        return found
    if head.path == ENTER_PATH or head.path.startswith(STATIC_PATH):
        return None
    pairs = (part.strip().partition("=") for value in head.values("cookie") for part in value.split(";"))
    if any(name == cookie and hmac.compare_digest(value.encode(), token.encode()) for name, _, value in pairs):
        return None
    return RefusalCause.NOT_SIGNED_IN


def _is_same_origin(head: RequestHead, origin: str) -> bool:
    """Whether our own page sent it; for a GET, a person may also have typed the address."""
    origins, sites = head.values("origin"), head.values("sec-fetch-site")
    if set(head.values("sec-fetch-dest")) & FRAME_DESTINATIONS:
        return False
    if head.method == "POST":
        return origins == [origin] and sites == ["same-origin"]
    if head.path == ENTER_PATH:  # the link comes from a file of ours, which no browser takes for the same site
        return origins in ([], [origin])
    return origins in ([], [origin]) and sites in ([], ["none"], ["same-origin"])


def _body_problem(head: RequestHead) -> RefusalCause | None:
    sizes = head.values("content-length")
    if head.values("transfer-encoding") or len(sizes) > 1 or not "".join(sizes).isascii():
        return RefusalCause.SIZE
    size = int(sizes[0]) if sizes and sizes[0].isdigit() else 0
    if size > (BODY_LIMIT if head.method == "POST" else 0):
        return RefusalCause.SIZE
    if head.method == "POST" and head.values("content-type") != [JSON_TYPE if head.path == ENTER_PATH else FORM_TYPE]:
        return RefusalCause.CONTENT_TYPE
    return None


class OneTimeTokens(Generic[T]):
    """Issues a random token for a value; `redeem` returns the value once, within the token's lifetime."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._values: dict[str, tuple[float, T]] = {}

    def issue(self, value: T, lifetime: float) -> str:
        token = random_token()
        with self._lock:
            while len(self._values) >= MAX_TOKENS:
                self._values.pop(next(iter(self._values)))
            self._values[token] = self._clock.monotonic() + lifetime, value
        return token

    def redeem(self, token: str) -> T | None:
        """Returns the value; None for a token that was used, is too old, or was never issued."""
        with self._lock:
            until, value = self._values.pop(token, (0.0, None))
        return value if self._clock.monotonic() < until else None


def random_token() -> str:
    return secrets.token_urlsafe(TOKEN_BITS // 8)
