"""What `hooktray open` says in a login over SSH."""

from __future__ import annotations

from pathlib import Path

from every import every

from tray.cli.requests import how_to_open, is_remote

SSH = "203.0.113.7 51234 198.51.100.2 22"
FILE = Path("/home/you/state/open-1.html")


@every(
    ("environment", "expected"),
    [
        ({"SSH_CONNECTION": SSH}, True),
        ({"SSH_CONNECTION": SSH, "DISPLAY": ":0"}, False),
        ({"SSH_CONNECTION": SSH, "WAYLAND_DISPLAY": "wayland-0"}, False),
        ({}, False),
    ],
)
def test_a_login_over_ssh_without_a_display_is_remote(environment: dict[str, str], expected: bool) -> None:
    assert is_remote(environment) is expected


@every(
    ("login", "tunnel", "copy"),
    [
        (SSH, "-L 41234:127.0.0.1:41234 you@198.51.100.2", f"you@198.51.100.2:{FILE}"),
        (
            "::1 51234 2001:db8::2 2222",
            "-p 2222 -L 41234:127.0.0.1:41234 you@2001:db8::2",
            f"-P 2222 'you@[2001:db8::2]:{FILE}'",
        ),
    ],
)
def test_the_tunnel_and_the_copy_can_be_pasted_where_the_browser_is(login: str, tunnel: str, copy: str) -> None:
    lines = how_to_open({"SSH_CONNECTION": login}, "you", 41234, FILE).splitlines()

    assert lines[1:3] == [f"  ssh {tunnel}", f"  scp {copy} hooktray.html"]
    assert "within 10 minutes" in lines[3]
    assert "hooktray passphrase" in lines[4]
