"""Pure: what may be shown of the URL of a push service, which is a secret, and the reference that replaces it.

An Apprise URL has its secrets anywhere: in `ntfy://topic` the topic lets anybody read along, and it is where other
URLs have a host. So only the name of the service is ever shown.
"""

from __future__ import annotations

import hashlib
import re

URL_LIMIT = 2048  # characters
URL = re.compile(r"([A-Za-z][A-Za-z0-9]{0,31})://\S+")
REFERENCE = re.compile(r"secret:([a-z][a-z0-9]{0,31}):([0-9a-f]{64})")
_INSIDE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,31}://)[^\s\"'<>]+")
_ENTRY = re.compile(r"^push\s*:.*(?:\n(?:[ \t#\-].*|\s*)$)*", re.MULTILINE)


def problem(url: str) -> str:
    """Why this cannot be one, without a part of it; "" when it can."""
    if REFERENCE.fullmatch(url):
        return ""
    if len(url) > URL_LIMIT:
        return f"longer than {URL_LIMIT} characters"
    return "" if URL.fullmatch(url) and url.isprintable() else "not an Apprise URL (its text is not shown)"


def reference(url: str) -> str:
    """`secret:SERVICE:DIGEST`: what may be written down in the place of a URL; of a reference, itself."""
    if REFERENCE.fullmatch(url):
        return url
    return f"secret:{service(url)}:{hashlib.sha256(url.encode()).hexdigest()}"


def service(url: str) -> str:
    """The name of the service: `ntfy`."""
    found = REFERENCE.fullmatch(url) or URL.fullmatch(url)
    return found[1].lower() if found else "push"


def label(url: str) -> str:
    """As it is shown to people: `ntfy://…`."""
    return f"{service(url)}://…"


def masked(text: str) -> str:
    """The text, of each URL in it no more than its service."""
    return _INSIDE.sub(r"\1…", text)


def hidden(value: object) -> object:
    """A value found below `push:` that has the wrong type, fit to be shown."""
    return value if value is None or isinstance(value, (bool, int, float)) else _NotShown()


def masked_settings(text: str) -> str:
    """The text of a settings file, whatever its state, with all URLs below `push:` masked."""
    return _ENTRY.sub(lambda found: masked(found[0]), text)


class _NotShown:
    """Stands for a text, a list or a mapping in an error."""

    def __repr__(self) -> str:
        return "what is not shown, as it may be a secret"
