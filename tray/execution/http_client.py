"""One HTTP request to an address that was checked: no redirect, no proxy, no netrc, bounded in size and time."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import quote

import msgspec

from tray.addresses import Endpoint, address_problem, is_literal
from tray.errors import HooktrayError
from tray.execution.request_job import Deadline

SIZE = 1024 * 1024  # bytes of an answer
PLAIN = ("", "identity")
NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of whom. With `local` the endpoint may be on this machine or in its networks."""

    endpoint: Endpoint
    body: bytes = b""
    headers: Mapping[str, str] = {}
    local: bool = False


class HttpReply(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer, as it came."""

    status: int
    body: bytes


def lookup(host: str, port: int) -> tuple[str, ...]:
    """Every address of a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def send(request: HttpRequest, deadline: Deadline) -> HttpReply:
    """The answer, whatever its status. Raises HooktrayError when none came that counts."""
    addresses = check_addresses(request)
    with deadline.tracking():
        try:
            reply = _ask(request, deadline, addresses)
        except (HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            if type(error) is BadStatusLine:  # its text is the line alone
                reason = f"answered with what is not HTTP: {str(error)!r:.80}"
            raise HooktrayError(deadline.cause or f"{request.endpoint.host_port}: {reason}") from error
    if deadline.cause:  # cut off, so it may be incomplete
        raise HooktrayError(deadline.cause)
    return reply


def check_addresses(request: HttpRequest) -> tuple[str, ...]:
    """The addresses to connect to, looked up once. One of them that is not public refuses them all."""
    end = request.endpoint
    try:
        addresses = (end.host,) if is_literal(end.host) else lookup(end.host, end.port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise HooktrayError(f"{end.host_port}: cannot be looked up: {reason}") from error
    if not addresses:
        raise HooktrayError(f"{end.host_port}: has no address")
    if request.local:
        return addresses
    for address in addresses:
        if why := address_problem(address):
            hint = f"if that is meant, add `allow_local: [{end.host_port!r}]` to the hook"
            raise HooktrayError(f"{end.host_port}: refused, since {address} is {why}", hint=hint)
    return addresses


def _ask(request: HttpRequest, deadline: Deadline, addresses: Sequence[str]) -> HttpReply:
    connection = HTTPConnection(request.endpoint.host, request.endpoint.port)
    with contextlib.closing(connection):
        connection.sock = _connect(request.endpoint, deadline, addresses)
        host = {"Host": request.endpoint.authority, "Accept-Encoding": "identity"}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a server may answer before it has read all
            connection.request("POST", _target(request.endpoint), request.body, {**request.headers, **host})
        with connection.getresponse() as response:
            return _reply(response)


def _target(endpoint: Endpoint) -> str:
    """The path and query with escapes for what strict servers refuse there."""
    return quote(NO_ESCAPE.sub("%25", endpoint.target), safe="/:@!$&'()*+,;=?%")


def _connect(endpoint: Endpoint, deadline: Deadline, addresses: Sequence[str]) -> socket.socket:
    """Returns a connection to the first address that accepts one. TLS verifies the name, not the address."""
    *others, last = addresses
    found: socket.socket | None = None
    for address in others:
        with contextlib.suppress(OSError):
            found = socket.create_connection((address, endpoint.port), deadline.left)
            break
        if deadline.cause:
            raise OSError(deadline.cause)
    found = found or socket.create_connection((last, endpoint.port), deadline.left)
    try:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # head and body are sent one after the other
        deadline.track(found)  # before the TLS handshake, which must not outlast it
        if endpoint.scheme != "https":
            return found
        context = ssl.create_default_context()
        context.hostname_checks_common_name = False
        context.set_alpn_protocols(["http/1.1"])
        return context.wrap_socket(found, server_hostname=endpoint.host)
    except BaseException:
        found.close()
        raise


def _reply(response: HTTPResponse) -> HttpReply:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in PLAIN:
        raise OSError(f"answered in the encoding `{encoding[:40]}`, which was not asked for")
    if len(set(response.headers.get_all("content-length", ()))) > 1:
        raise OSError("answered with two lengths")
    body = response.read(SIZE + 1)
    if len(body) > SIZE:
        raise OSError(f"answered more than {SIZE} bytes")
    if response.length:
        raise OSError("hung up before the end of its answer")
    return HttpReply(status=response.status, body=body)
