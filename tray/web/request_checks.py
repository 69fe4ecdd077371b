"""Which requests the page answers: judged only from the request line and the headers, before anything is looked up.

The page listens on 127.0.0.1, where every web site, every local user and every agent can connect. So a request counts
only when it names exactly us, comes from our own page, and carries the token of this start.
"""

from __future__ import annotations

import hmac
import re

import msgspec

from tray.web.refusals import RefusalCause

ENTER_PATH = "/enter"
STATIC_PATH = "/static/"
BODY_LIMIT = 16 * 1024  # bytes that a form may have
FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
TARGET = re.compile(r"/(?!/)[A-Za-z0-9/._~%?&=+,:@!*()'-]{0,4000}")
FRAME_DESTINATIONS = frozenset(
    {"iframe", "frame", "object", "embed", "fencedframe", "worker", "sharedworker", "serviceworker"}
)


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came: `headers` with names in lower case, in order, doubles and all."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def value(self, name: str) -> str:
        """The header's value; "" when it is missing or was sent more than once."""
        found = self.values(name)
        return found[0] if len(found) == 1 else ""

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
    return None if _signed_in(head, cookie, token) else RefusalCause.NOT_SIGNED_IN


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
    if head.method == "POST" and head.value("content-type") != (JSON_TYPE if head.path == ENTER_PATH else FORM_TYPE):
        return RefusalCause.CONTENT_TYPE
    return None


def _signed_in(head: RequestHead, cookie: str, token: str) -> bool:
    pairs = (part.strip().partition("=") for value in head.values("cookie") for part in value.split(";"))
    return any(name == cookie and hmac.compare_digest(value.encode(), token.encode()) for name, _, value in pairs)
