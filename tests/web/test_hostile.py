"""T32: what agents and hooks write stands on the page as text, and runs nowhere."""

from __future__ import annotations

import itertools
import time
import urllib.parse

from chromium import Chromium, Page
from msgspec.structs import replace
from web.browsing import address, keep
from web.hostile import TEXTS, texts
from web.site import ROW, Site

from tray.model.decision import Record

LOOK = "!!window.pwned || document.querySelectorAll('main script, main img, main iframe, main [onload]').length > 0"


def record(number: int, text: str) -> Record:
    turn = {"name": text, "status": "failed", "verdict": "abstain", "reason": text, "cause": text, "stderr": text,
            "gate": "", "ms": 1.0}  # fmt: skip
    return replace(
        ROW, id=f"{number:032x}", at=time.time(), agent=text, session=text, project=text, event=text, reason=text,
        hooks=(turn,), notes=(text,), adjustments=(text,), rewrites=(text,), problem=text, payload=text,
        alerted="sent", answer={"stdout": text, "stderr": text, "code": 0, "exact": True},
    )  # fmt: skip


def ran(page: Page, url: str) -> bool:
    page.go(url)
    return bool(page.run(LOOK))


def test_1000_hostile_texts_run_no_script(site: Site, page: Page) -> None:
    records = [record(number, text) for number, text in enumerate(texts())]
    assert len(records) == 1000
    keep(site, *records)

    lists = [f"/?before={number:032x}" for number in range(50, 1000, 50)]
    single = [f"/decisions/{number:032x}" for number in range(0, 1000, 61)]
    asked = [f"/?text={urllib.parse.quote(text)}&hook={urllib.parse.quote(text)}" for text in TEXTS[::4]]
    other = ["/", "/sessions", "/hooks", "/statistics", "/agents"]
    assert [path for path in (*other, *lists, *single, *asked) if ran(page, address(site, path))] == []


def test_hostile_texts_in_live_updates_are_shown_as_text(site: Site, page: Page) -> None:
    page.wait("!!document.querySelector('[data-state=live]')")
    for number, text in enumerate(itertools.islice(texts(), 0, None, 5)):
        site.page.publish(record(number, text))
    page.wait("document.querySelectorAll('.rows > li').length === 200")

    assert not page.run(LOOK)


def test_the_look_finds_what_a_careless_page_runs(chromium: Chromium) -> None:
    with chromium.page() as page:
        guilty = 0
        for text in TEXTS:
            page.go("about:blank#")
            page.run(f"document.write('<main>' + {text!r} + '</main>'); document.close()")
            guilty += bool(page.run(f"new Promise((ok) => setTimeout(ok, 20)).then(() => {LOOK})"))

    assert guilty >= 8
