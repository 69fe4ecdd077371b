"""HTTP hooks as any format declares them: a URL that may be asked, headers, and the places that are local."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tray.addresses import endpoint, local_problem
from tray.model.hook import Http
from tray.settings import invalid_value
from tray.strict.document import Document, KeyPath
from tray.text.words import word_set

HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
CONTROL = re.compile(r"[^\t\x20-\x7e]")
# They say how the request travels, which is not the hook's to say.
RESERVED_HEADERS = word_set("accept-encoding connection content-length expect host keep-alive proxy-authorization "
                            "proxy-connection te trailer transfer-encoding upgrade")  # fmt: skip
HOST_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}")


def http_action(
    document: Document,
    at: KeyPath,
    url: str,
    headers: Mapping[str, Any] | None = None,
    allow_local: Sequence[Any] = (),
) -> Http:
    """The action of one entry, checked; `local_url_problem` judges a local URL. Raises ConfigError."""
    try:
        end = endpoint(url)
    except ValueError as error:
        hint = "write it like `url: https://guard.example.com/hook`"
        raise invalid_value(document, (*at, "url"), str(error), hint) from None
    for index, address in enumerate(allow_local):
        if not isinstance(address, str) or not HOST_PORT.fullmatch(address):
            what, hint = f"expected host:port, got `{address}`", f'write `allow_local: ["{end.host_port}"]`'
            raise invalid_value(document, (*at, "allow_local", index), what, hint)
    sent = tuple(_header(document, (*at, "headers"), name, value) for name, value in (headers or {}).items())
    return Http(url=url, headers=sent, allow_local=tuple(address.lower() for address in allow_local))


def local_url_problem(action: Http) -> str:
    """Why this URL is not a public one, seen at once and not allowed by the hook; "" without such a reason."""
    end = endpoint(action.url)
    why = local_problem(end.host)
    return f"{end.host} is {why}" if why and end.host_port not in action.allow_local else ""


def _header(document: Document, at: KeyPath, name: Any, value: Any) -> tuple[str, str]:
    if not isinstance(name, str) or not HEADER_NAME.fullmatch(name) or name.lower() in RESERVED_HEADERS:
        raise invalid_value(document, at, f"the header `{name}` cannot be set", "leave it out")
    if not isinstance(value, str) or CONTROL.search(value):
        raise invalid_value(document, (*at, name), "expected a line of plain text", "put it in quotes")
    return name, value
