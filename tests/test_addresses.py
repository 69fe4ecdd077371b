from __future__ import annotations

import pytest
from addresses import PUBLIC, REFUSED
from every import every

from tray.addresses import address_problem, endpoint, local_problem


@every("address", REFUSED)
def test_an_address_that_is_not_public_is_refused_however_it_is_wrapped(address: str) -> None:
    assert address_problem(address)


@every("address", PUBLIC)
def test_a_public_address_passes(address: str) -> None:
    assert address_problem(address) == ""


@pytest.mark.parametrize(
    ("url", "place", "target"),
    [
        ("https://guard.example.com/hook?a=1#part", "guard.example.com:443", "/hook?a=1"),
        ("HTTP://Guard.Example.com.:8080", "guard.example.com:8080", "/"),
        ("http://[::1]:9/x", "[::1]:9", "/x"),
        ("https://8.8.8.8?q", "8.8.8.8:443", "/?q"),
    ],
)
def test_a_url_is_taken_apart(url: str, place: str, target: str) -> None:
    found = endpoint(url)

    assert (found.host_port, found.target) == (place, target)


@every(
    "url",
    [
        "ftp://example.com/", "file:///etc/passwd", "example.com", "//example.com", "https://", "https:///x",
        "https://user@example.com/", "https://a:b@example.com/", "https://example.com@127.0.0.1/",
        "https://127.0.0.1\\@example.com/", "https://exa mple.com/", "https://example.com\r\nHost: x/",
        "https://exämple.com/", "https://example.com:0/", "https://example.com:99999/", "https://a..b/",
        "https://[::1/", "https://[fe80::1%25eth0]/", "http://2130706433/", "http://0x7f000001/", "http://127.1/",
        "http://017700000001/", "http://0177.0.0.1/", "http://1.2.3.4.5/", "http://%31%32%37.0.0.1/",
    ],
)  # fmt: skip
def test_a_url_that_can_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        endpoint(url)


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "::1", "10.1.2.3", "169.254.169.254"])
def test_a_local_host_is_seen_without_asking(host: str) -> None:
    assert local_problem(host)


@pytest.mark.parametrize("host", ["example.com", "8.8.8.8", "localhost.example.com"])
def test_any_other_host_is_not(host: str) -> None:
    assert local_problem(host) == ""
