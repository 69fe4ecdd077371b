"""Where an agent runs, as its environment names it: strict forms, and what is dropped."""

from __future__ import annotations

import json

from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.model.place import VARIABLES, Place, ProcessId, place_fields, place_from_fields, place_label, read_place

WHOLE = {
    "DISPLAY": ":0.0",
    "KITTY_LISTEN_ON": "unix:@kitty-1",
    "KITTY_WINDOW_ID": "3",
    "KONSOLE_DBUS_SERVICE": ":1.20",
    "KONSOLE_DBUS_SESSION": "/Sessions/2",
    "KONSOLE_DBUS_WINDOW": "/Windows/1",
    "TERM_PROGRAM": "tmux",
    "TMUX": "/tmp/tmux-1000/default,812,3",
    "TMUX_PANE": "%4",
    "WEZTERM_PANE": "0",
    "WEZTERM_UNIX_SOCKET": "/run/user/1000/wezterm/gui-sock-9",
    "WINDOWID": "37748750",
    "ZELLIJ_PANE_ID": "5",
    "ZELLIJ_SESSION_NAME": "brave-otter",
}
BROKEN = {
    "DISPLAY": ["0", "host", ":0;x", ":0\n"],
    "ITERM_SESSION_ID": ["w0t0p0:x", '" & quit & "'],
    "KITTY_LISTEN_ON": ["tcp:evil.example:80", "/tmp/kitty", "unix:relative", "unix:/a\nb"],
    "KITTY_WINDOW_ID": ["-1", "1 or 1", "id:1", "9" * 10],
    "KONSOLE_DBUS_SERVICE": ["org.freedesktop.login1", "", ":x"][:1],
    "KONSOLE_DBUS_SESSION": ["/Sessions/../Windows/1", "/Sessions/"],
    "TMUX": ["relative,1,2", "/tmp/a", "/tmp/a,b,1,2", "/" + "a" * 200 + ",1,2"],
    "TMUX_PANE": ["4", "%4;kill-server", "%", "%4\n", "%٣"],
    "WEZTERM_PANE": ["--help", "0x1"],
    "WINDOWID": ["0x1", "-3", "1e9"],
    "ZELLIJ_SESSION_NAME": ["--help", "a;b", "", "a" * 65][:2],
}


def test_every_variable_fills_its_field() -> None:
    place, dropped = read_place(WHOLE, (ProcessId(5, 1.5),))

    assert dropped == ()
    assert place == Place(
        display=":0", kitty="unix:@kitty-1", kitty_window="3", konsole=":1.20", konsole_session="/Sessions/2",
        konsole_window="/Windows/1", program="tmux", tmux="/tmp/tmux-1000/default", tmux_pane="%4", wezterm_pane="0",
        wezterm="/run/user/1000/wezterm/gui-sock-9", window="37748750", zellij_pane="5", zellij="brave-otter",
        processes=(ProcessId(5, 1.5),),
    )  # fmt: skip


@every("name", BROKEN)
def test_what_has_another_form_is_dropped_by_name(name: str) -> None:
    for text in BROKEN[name]:
        place, dropped = read_place({**WHOLE, name: text})

        assert dropped == (name,), text
        assert getattr(place, VARIABLES[name][0]) == "", text


def test_a_path_that_cannot_be_printed_is_dropped() -> None:
    place, dropped = read_place({"WEZTERM_UNIX_SOCKET": "/\x80"})

    assert (place.wezterm, dropped) == ("", ("WEZTERM_UNIX_SOCKET",))


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=40)))
def test_no_text_of_an_agent_brings_a_control_character_or_an_option(environment: dict[str, str]) -> None:
    place, _ = read_place(environment)

    texts = list(map(str, place_fields(place).values()))
    assert [text for text in texts if not text.isprintable() or text.startswith("-")] == []


def test_a_place_is_the_same_after_it_was_saved() -> None:
    place, _ = read_place(WHOLE, (ProcessId(5, 1.5), ProcessId(4, 0.25)))

    assert place_from_fields(json.loads(json.dumps(place_fields(place)))) == place


def test_a_saved_place_that_is_damaged_is_read_as_far_as_it_goes() -> None:
    assert place_from_fields({"tmux": 3, "kitty": "unix:/k", "x": "y", "processes": [[1], "a", [2, 3.0]]}) == Place(
        kitty="unix:/k", processes=(ProcessId(2, 3.0),)
    )


def test_people_see_the_innermost_part() -> None:
    labels = [
        place_label(place)
        for place in (
            read_place(WHOLE)[0],
            Place(zellij="a", zellij_pane="5"),
            Place(kitty_window="3"),
            Place(wezterm_pane="1"),
            Place(konsole_session="/Sessions/2"),
            Place(program="vscode", window="7"),
            Place(window="7"),
            Place(),
        )
    ]

    assert labels == ["tmux %4", "zellij a 5", "kitty 3", "WezTerm 1", "Konsole 2", "vscode", "window 7", ""]
