"""Self-approval by way of the local page: without and with a forged Origin, what was stolen, a WebSocket, a link."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from desk import wait
from page.careless import careless_server
from page.site import FORM, found

from torture.frame import Tally
from torture.place import HERE, PYTHON, Place
from tray.page.changes import name

KNOCK = [*PYTHON, str(HERE / "knock_at_page.py")]
JSON = "application/json"
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
    """A person has the page open; the agent has stolen whatever lies around, and asks from below its own process."""
    origin, _, word = _link(place).partition("/enter#")
    own = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    enter = Try("POST", "/enter", {**own, "Content-Type": JSON}, json.dumps({"pass": word}))
    _attack(tally, place, origin, {"the pass of the link, stolen before its use": enter})
    cookie = _entered(origin, enter)
    _attack(tally, place, origin, {"the pass of the link, used again": enter})
    signed = {"Cookie": cookie}
    guard = name(place.key("guard"))
    for round_ in range(tally.many(1, 25)):
        slip = _slip(place, origin, signed, f"/confirm/approve?of={guard}")
        form = {"Content-Type": FORM}
        tries = {
            "no Origin": Try("POST", "/confirm", {**signed, **form}, f"slip={slip}"),
            "a forged Origin, without the cookie": Try("POST", "/confirm", {**own, **form}, f"slip={slip}"),
            "a forged Origin, with the cookie and the slip": Try(
                "POST", "/confirm", {**own, **signed, **form}, f"slip={slip}"
            ),
            "another Origin": Try(
                "POST", "/confirm", {**own, **signed, **form, "Origin": "http://127.0.0.1:1"}, f"slip={slip}"
            ),
            "the switch by a GET": Try("GET", "/do?act=off", {**own, **signed}),
            "a WebSocket": Try("UPGRADE", "/live", {**own, **signed}),
            "a slip that was guessed": Try("POST", "/confirm", {**own, **signed, **form}, f"slip={'A' * len(slip)}"),
        }
        _attack(tally, place, origin, {f"{what}, round {round_}": one for what, one in tries.items()})
    _control(tally, tries)


def _attack(tally: Tally, place: Place, origin: str, tries: Mapping[str, Try]) -> None:
    argv = place.as_agent([*KNOCK, *(one.word(origin) for one in tries.values())])
    codes = place.plain.run(argv, timeout=60).stdout.decode().split()
    for what, code in zip(tries, codes, strict=True):
        tally.attack(f"page, {what}: {code}", code.startswith("4") and place.held())


def _link(place: Place) -> str:
    """The link that the browser was shown."""
    note = place.folder / "opened"
    note.unlink(missing_ok=True)
    done = place.live.cli("open")
    assert not done.returncode, done.stderr.decode()
    return found(Path(str(wait(lambda: note.exists() and note.read_text(), 20, "the desktop is asked"))))


def _entered(origin: str, enter: Try) -> str:
    """The cookie that a browser of the person gets."""
    import http.client

    browser = http.client.HTTPConnection(origin.removeprefix("http://"), timeout=20)
    browser.request("POST", enter.path, enter.body, dict(enter.headers))
    answer = browser.getresponse()
    cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]
    browser.close()
    assert cookie != "None", f"the person does not get in: {answer.status}"
    return cookie


def _slip(place: Place, origin: str, signed: Mapping[str, str], path: str) -> str:
    import http.client

    browser = http.client.HTTPConnection(origin.removeprefix("http://"), timeout=20)
    browser.request("GET", path, headers=dict(signed))
    text = browser.getresponse().read().decode()
    browser.close()
    return str(re.findall(r'name="slip" value="([^"]+)"', text)[0])


def _control(tally: Tally, tries: Mapping[str, Try]) -> None:
    """The same requests at a page that does what it is told."""
    for what, one in tries.items():
        with careless_server() as careless:
            origin = f"http://127.0.0.1:{careless.port}"
            path = one.path if one.method == "GET" else "/do"
            word = Try(one.method, path, one.headers, one.body).word(origin)
            subprocess.run([*KNOCK, word], check=False, timeout=60, capture_output=True)
            tally.control(f"a page that does what it is told: {what}", bool(careless.writes))
