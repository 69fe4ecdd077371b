"""Who may ask the page for what: judged from the request line and the headers alone, before anything is looked up.

The page listens on 127.0.0.1, where every web site, every local user and every agent can knock. So a request counts
only when it names exactly us, comes from our own page, and carries the token of this start.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from tray.page.refusals import Cause

ENTER = "/enter"
STATIC = "/static/"
BODY = 16 * 1024  # bytes that a form may have
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
TARGET = re.compile(r"/(?!/)[A-Za-z0-9/._~%?&=+,:@!*()'-]{0,4000}")
FRAMES = frozenset({"iframe", "frame", "object", "embed", "fencedframe", "worker", "sharedworker", "serviceworker"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came: `headers` with names in lower case, in order, doubles and all."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def one(self, name: str) -> str:
        """The header's value; "" when it is missing or was sent more than once."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


def refusal(asked: Asked, authority: str, cookie: str, token: str) -> Cause | None:
    """Why this request is not for us to answer, or None. `authority` is our host and port, exactly."""
    if asked.all("host") != [authority]:
        return Cause.HOST
    if not TARGET.fullmatch(asked.target) or asked.all("upgrade"):
        return Cause.TARGET
    if asked.method not in ("GET", "POST"):
        return Cause.METHOD
    if not _at_home(asked, f"http://{authority}"):
        return Cause.FOREIGN
    if found := _body(asked):
        return found
    if asked.path == ENTER or asked.path.startswith(STATIC):
        return None
    return None if _signed_in(asked, cookie, token) else Cause.NOT_SIGNED_IN


def _at_home(asked: Asked, origin: str) -> bool:
    """Whether it was our own page that asked; to look, a person may also have typed the address."""
    origins, sites = asked.all("origin"), asked.all("sec-fetch-site")
    if set(asked.all("sec-fetch-dest")) & FRAMES:
        return False
    if asked.method == "POST":
        return origins == [origin] and sites == ["same-origin"]
    if asked.path == ENTER:  # the link comes from a file of ours, which no browser takes for the same site
        return origins in ([], [origin])
    return origins in ([], [origin]) and sites in ([], ["none"], ["same-origin"])


def _body(asked: Asked) -> Cause | None:
    sizes = asked.all("content-length")
    if asked.all("transfer-encoding") or len(sizes) > 1 or not "".join(sizes).isascii():
        return Cause.SIZE
    size = int(sizes[0]) if sizes and sizes[0].isdigit() else 0
    if size > (BODY if asked.method == "POST" else 0):
        return Cause.SIZE
    if asked.method == "POST" and asked.one("content-type") != (JSON if asked.path == ENTER else FORM):
        return Cause.KIND
    return None


def _signed_in(asked: Asked, cookie: str, token: str) -> bool:
    pairs = (part.strip().partition("=") for value in asked.all("cookie") for part in value.split(";"))
    return any(name == cookie and hmac.compare_digest(value.encode(), token.encode()) for name, _, value in pairs)
