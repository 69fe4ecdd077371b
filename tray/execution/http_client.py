"""One HTTP request to an address that was checked: no redirect, no proxy, no netrc, bounded in size and time."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException

import msgspec
import urllib3
from urllib3.connection import HTTPConnection

from tray.addresses import Endpoint, address_problem, is_literal
from tray.errors import HooktrayError
from tray.execution.request_job import Deadline

SIZE = 1024 * 1024  # bytes of an answer
PLAIN = ("", "identity")


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of whom. With `local` the endpoint may be on this machine or in its networks."""

    endpoint: Endpoint
    body: bytes = b""
    headers: Mapping[str, str] = {}
    method: str = "POST"
    local: bool = False


class HttpReply(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer, as it came."""

    status: int
    headers: Mapping[str, str]
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
            reply = _first(request, deadline, addresses)
        except (urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError) as error:
            raise HooktrayError(deadline.cause or f"{request.endpoint.host_port}: {_reason(error)}") from error
    if deadline.cause:  # cut off, so it may be incomplete
        raise HooktrayError(deadline.cause)
    return reply


def check_addresses(request: HttpRequest) -> tuple[str, ...]:
    """The addresses to connect to, looked up once. One of them that is not public refuses them all."""
    end = request.endpoint
    try:
        addresses = (end.host,) if is_literal(end.host) else lookup(end.host, end.port)
    except (OSError, UnicodeError) as error:
        raise HooktrayError(f"{end.host_port}: cannot be looked up: {_reason(error)}") from error
    if not addresses:
        raise HooktrayError(f"{end.host_port}: has no address")
    if request.local:
        return addresses
    for address in addresses:
        if why := address_problem(address):
            hint = f"if that is meant, add `allow_local: [{end.host_port!r}]` to the hook"
            raise HooktrayError(f"{end.host_port}: refused, since {address} is {why}", hint=hint)
    return addresses


def _first(request: HttpRequest, deadline: Deadline, addresses: Sequence[str]) -> HttpReply:
    """Ask at the first address that takes the connection."""
    *others, last = addresses
    for address in others:
        with contextlib.suppress(urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError):
            return _ask(request, deadline, address)
        if deadline.cause:
            raise OSError(deadline.cause)
    return _ask(request, deadline, last)


def _ask(request: HttpRequest, deadline: Deadline, address: str) -> HttpReply:
    timeout = urllib3.Timeout(connect=deadline.left, read=deadline.left)
    with _pool(request.endpoint, deadline, address) as pool:
        response = pool.urlopen(
            request.method,
            request.endpoint.target,
            body=request.body,
            headers={**request.headers, "Host": request.endpoint.authority, "Accept-Encoding": "identity"},
            redirect=False,
            retries=False,
            timeout=timeout,
            preload_content=False,
            decode_content=False,
        )
        with contextlib.closing(response):
            return _reply(response)


def _reply(response: urllib3.BaseHTTPResponse) -> HttpReply:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in PLAIN:
        raise OSError(f"answered in the encoding `{encoding[:40]}`, which was not asked for")
    body = response.read(SIZE + 1)
    if len(body) > SIZE:
        raise OSError(f"answered more than {SIZE} bytes")
    if response.length_remaining:
        raise OSError("hung up before the end of its answer")
    return HttpReply(status=response.status, headers=dict(response.headers.items()), body=body)


@contextlib.contextmanager
def _pool(endpoint: Endpoint, deadline: Deadline, address: str) -> Iterator[urllib3.HTTPConnectionPool]:
    """A pool of one connection to the address; TLS is about the name."""
    pool: urllib3.HTTPConnectionPool
    if endpoint.scheme == "https":
        pool = urllib3.HTTPSConnectionPool(
            address,
            endpoint.port,
            server_hostname=endpoint.host,
            assert_hostname=endpoint.host,
            ssl_context=_TrackedTls.create(deadline),
        )
    else:
        pool = _PlainPool(address, endpoint.port, deadline=deadline)
    with contextlib.closing(pool):
        yield pool


class _TrackedTls(ssl.SSLContext):
    """Lets the Deadline track a socket before its TLS handshake, so that the handshake cannot outlast it."""

    deadline: Deadline

    @classmethod
    def create(cls, deadline: Deadline) -> _TrackedTls:
        """Returns a context with the settings of `ssl.create_default_context`, which makes no subclass."""
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        context.deadline = deadline
        context.hostname_checks_common_name = False
        if sys.version_info >= (3, 13):
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
        context.load_default_certs()
        return context

    def wrap_socket(self, sock: socket.socket, *args: object, **keys: object) -> ssl.SSLSocket:
        self.deadline.track(sock)
        return super().wrap_socket(sock, *args, **keys)  # type: ignore[arg-type]


class _Plain(HTTPConnection):
    """Has the Deadline track its socket before the first byte."""

    def __init__(self, *args: object, deadline: Deadline, **keys: object) -> None:
        super().__init__(*args, **keys)  # type: ignore[arg-type]
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.track(self.sock)


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


def _reason(error: BaseException) -> str:
    """The reason without the library's own wrapping."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return _reason(inner)
    text = getattr(error, "strerror", None) or str(error)
    return str(text).split(": ", 1)[-1] if isinstance(error, urllib3.exceptions.NewConnectionError) else str(text)
