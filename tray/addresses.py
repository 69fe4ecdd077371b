"""Where a URL leads: http and https URLs read strictly, and which addresses belong to the public internet. Pure.

Every way to write an IPv4 address inside of an IPv6 one is taken apart or refused: what a translator or a tunnel on
the way would make of it must not differ from what was judged here.
"""

from __future__ import annotations

import ipaddress
import re
from functools import cache

import msgspec

PORTS = {"http": 80, "https": 443}
URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE)
AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")  # a last label that resolvers read as an IPv4 address

# Never the public internet, whatever Python's own version has (IANA's registries of special addresses).
SPECIAL_V4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",  # carrier-grade NAT; some clouds keep their metadata there
    "127.0.0.0/8",
    "168.63.129.16/32",  # a cloud's own host channel behind a public number
    "169.254.0.0/16",  # link-local, the usual place of cloud metadata
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
UNICAST_V6 = "2000::/3"  # all that has been given out for the public internet
SPECIAL_V6 = (
    "2001::/23",  # protocols' own: Teredo, ORCHID, benchmarks
    "2001:db8::/32",
    "2002::/16",  # 6to4: an IPv4 address with a tunnel in front
    "3fff::/20",
)
NAT64 = "64:ff9b::/96"
ISATAP = frozenset({0x00005EFE, 0x02005EFE})  # upper half of the interface's identifier; the lower is IPv4


class Endpoint(msgspec.Struct, frozen=True):
    """One http or https URL, taken apart. `target` is the path with its query, as the request line has it."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_port(self) -> str:
        """`host:port`, as `allow_local:` names it."""
        return f"{self._host}:{self.port}"

    @property
    def authority(self) -> str:
        """The Host header's value."""
        return self._host if self.port == PORTS[self.scheme] else self.host_port

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def endpoint(url: str) -> Endpoint:
    """The parts of a URL. What two readers could read in two ways is a ValueError with the reason."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError("a URL is written in plain ASCII without blanks and backslashes")
    found = URL.fullmatch(url)
    if not found:
        raise ValueError("only http:// and https:// URLs can be asked")
    scheme, authority, path, query = found.groups(default="")
    if "@" in authority:
        raise ValueError("a user or password in a URL is refused; use `headers:`")
    parts = AUTHORITY.fullmatch(authority)
    if not parts:
        raise ValueError("its host cannot be read")
    scheme = scheme.lower()
    host = _address(parts[1]) if parts[1] else _name(parts[2])
    port = int(parts[3]) if parts[3] else PORTS[scheme]
    if not 0 < port < 65536:
        raise ValueError(f"there is no port {port}")
    return Endpoint(scheme, host, port, (path or "/") + query)


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError("its host in brackets is no IPv6 address") from None


def _name(text: str) -> str:
    host = text.lower().removesuffix(".")
    labels = host.split(".")
    if not all(0 < len(label) < 64 for label in labels) or len(host) > 253:
        raise ValueError("its host cannot be read")
    if not NUMBER.fullmatch(labels[-1]):
        return host
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise ValueError("an address is written as four decimal numbers, for example 192.0.2.1") from None


def is_literal(host: str) -> bool:
    """Whether this host is an address already."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def local_problem(host: str) -> str:
    """Why this host is seen without asking anybody to be none of the public internet; "" when it may be one."""
    if host == "localhost" or host.endswith(".localhost"):
        return "this machine"
    return address_problem(host) if is_literal(host) else ""


def address_problem(address: str) -> str:
    """Why an address is none of the public internet; "" when it is one. What cannot be read is none."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "no address"
    return _address_problem(found) if isinstance(found, ipaddress.IPv4Address) else _address_problem_v6(found)


@cache  # made when an address is judged, as `ipaddress` is loaded then: no start needs it
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text)


def _address_problem(address: ipaddress.IPv4Address) -> str:
    if address.is_loopback:
        return "this machine"
    special = any(address in _network(one) for one in SPECIAL_V4)
    return "a private or reserved address" if special or not address.is_global or address.is_multicast else ""


def _address_problem_v6(address: ipaddress.IPv6Address) -> str:
    if address == ipaddress.IPv6Address(1):
        return "this machine"
    if address.scope_id:
        return "a private or reserved address"
    inner = address.ipv4_mapped or (
        ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _network(NAT64) else None
    )
    if inner is not None:
        return _address_problem(inner)
    if address not in _network(UNICAST_V6) or any(address in _network(one) for one in SPECIAL_V6):
        return "a private or reserved address"
    if (int(address) >> 32) & 0xFFFFFFFF in ISATAP:
        return _address_problem(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return "" if address.is_global and not address.is_multicast else "a private or reserved address"
