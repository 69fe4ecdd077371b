"""Self-approval by way of the local page: without and with a forged Origin, what was stolen, a WebSocket, a link."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from desk import wait
from web.careless import careless_server
from web.site import FORM, found

from torture.frame import Tally
from torture.place import HERE, PYTHON, Place

REQUEST_PAGE = [*PYTHON, str(HERE / "request_page.py")]
JSON = "application/json"
ENTER = "the token of the link, stolen before its use"
LOOK, LOOK_AT_PASSPHRASE = "the switch's question, looked at", "the passphrase's question, looked at"
LOOKS = {ENTER: "204", LOOK: "200", LOOK_AT_PASSPHRASE: "200"}  # to look needs no proof (docs/person.md)
LOOSE = "let loose"
DESKTOP = '#!/bin/sh\nprintf %s "$1" >"$HOME/opened.part" && mv "$HOME/opened.part" "$HOME/opened"\n'


@dataclass(frozen=True)
class Try:
    """What a program at the page asks for."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str = ""

    def word(self, origin: str) -> str:
        return json.dumps([self.method, f"{origin}{self.path}", dict(self.headers), self.body])


def browser(folder: Path) -> str:
    """A PATH with what opens files on a desktop; it notes which."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "xdg-open").write_text(DESKTOP)
    (programs / "xdg-open").chmod(0o755)
    return str(programs)


def at_the_page(tally: Tally, place: Place) -> None:
    """A person has the page open; the agent has stolen the link, forges the rest, and asks from below or let loose.

    Nobody gets in by Python, so that cookie and token have only the right form; tests/web steals real ones.
    """
    origin, _, word = _link(place).partition("/enter#")
    own = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    form, token = {"Content-Type": FORM}, f"token={'A' * 43}"
    stolen = {
        ENTER: Try("POST", "/enter", {**own, "Content-Type": JSON}, json.dumps({"token": word})),
        LOOK: Try("GET", "/confirm/off", own),
        "the switch, confirmed with the stolen link": Try("POST", "/confirm", {**own, **form}, "token=TOKEN"),
        LOOK_AT_PASSPHRASE: Try("GET", "/confirm/passphrase", own),
        "a first passphrase, set with the stolen link": Try("POST", "/confirm", {**own, **form}, "token=TOKEN"),
        "the switch by one request with the stolen link": Try("POST", "/do", {**own, **form}, "act=off"),
        "a setting with the stolen link": Try("POST", "/choose", {**own, **form}, "choice=sounds&turn=off"),
    }
    _attack(tally, place, origin, stolen)
    signed = {"Cookie": f"hooktray-{origin.rpartition(':')[2]}={'A' * 43}"}
    tries = {
        "no Origin": Try("POST", "/confirm", {**signed, **form}, token),
        "a forged Origin, without the cookie": Try("POST", "/confirm", {**own, **form}, token),
        "a forged Origin, with a cookie and a token": Try("POST", "/confirm", {**own, **signed, **form}, token),
        "another Origin": Try("POST", "/confirm", {**own, **signed, **form, "Origin": "http://127.0.0.1:1"}, token),
        "the switch by a GET": Try("GET", "/do?act=off", {**own, **signed}),
        "a WebSocket": Try("UPGRADE", "/live", {**own, **signed}),
    }
    for round_ in range(tally.many(1, 25)):
        _attack(tally, place, origin, {f"{what}, round {round_}": one for what, one in tries.items()})
    _control(tally, tries)


def _attack(tally: Tally, place: Place, origin: str, tries: Mapping[str, Try]) -> None:
    argv = [*REQUEST_PAGE, *(one.word(origin) for one in tries.values())]
    below = place.plain.run(place.as_agent(argv), timeout=60).stdout.decode().split()
    for how, codes in {"below the agent": below, LOOSE: _loose(place, argv)}.items():
        for what, code in zip(tries, codes, strict=True):
            looked = how == LOOSE and code == LOOKS.get(what)
            tally.attack(f"page, {what}, {how}: {code}", (looked or code.startswith("4")) and place.held())


def _loose(place: Place, argv: Sequence[str]) -> list[str]:
    """What a process is told that has left its agent: with a session of its own, without variables, init's child."""
    note = place.folder / "codes"
    note.unlink(missing_ok=True)
    line = f"{shlex.join(argv)} >{note}.part; mv {note}.part {note}"
    loose = ["setsid", "--fork", "env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", line]
    place.plain.run(place.as_agent(loose), timeout=60)
    return str(wait(lambda: note.exists() and note.read_text(), 60, "the answers")).split()


def _link(place: Place) -> str:
    """The link that the browser was shown."""
    note = place.folder / "opened"
    note.unlink(missing_ok=True)
    done = place.live.cli("open")
    assert not done.returncode, done.stderr.decode()
    return found(Path(str(wait(lambda: note.exists() and note.read_text(), 20, "the desktop is asked"))))


def _control(tally: Tally, tries: Mapping[str, Try]) -> None:
    """The same requests at a page that does what it is told."""
    for what, one in tries.items():
        with careless_server() as careless:
            origin = f"http://127.0.0.1:{careless.port}"
            path = one.path if one.method == "GET" else "/do"
            word = Try(one.method, path, one.headers, one.body).word(origin)
            subprocess.run([*REQUEST_PAGE, word], check=False, timeout=60, capture_output=True)
            tally.control(f"a page that does what it is told: {what}", bool(careless.writes))
