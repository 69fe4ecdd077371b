"""What tests in a browser share: things to look at, addresses, the Tab key, and axe."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from chromium import Page
from desk import wait
from msgspec.structs import replace
from store.writing import write
from web.site import ROW, Site

from tray.approvals.review import hook_id
from tray.desktop.menu.state import MenuPreview
from tray.model.decision import Record
from tray.model.session import Session, SessionState

DENYING = 'grep -q mkfs && echo \'{"decision": "block", "reason": "no mkfs"}\'; exit 0'
ADDS = MenuPreview(
    digest="1a2b", summary="adds 1 entry for each of 14 events to ~/.claude/settings.json", difference="+line"
)
WAITS = Session(
    agent="claude-code", session="s-1", project="shop", name="main · Fix <b>the</b> login",
    state=SessionState.WAITING, since=time.time() - 90,
)  # fmt: skip
WORKS = Session(agent="codex", session="x/1 ü", project="api", name="Import", state=SessionState.WORKING, since=1.0)


def record(number: int, **words: object) -> Record:
    return replace(ROW, id=f"{number:032x}", at=time.time() - 100 + number, **words)


def switched(site: Site) -> int:
    """Returns how often hooks were switched off or on."""
    with site.house.stores.database.connect() as connection:
        return int(connection.execute("SELECT count(*) FROM switch_log").fetchone()[0])


def every_page(site: Site) -> list[str]:
    """The address of each page, with something on it."""
    house = site.house
    house.hook("guard", on="tool_before", script=DENYING)
    house.hook("broken", on="turn_end", script="exit 7")
    house.relay("claude-code", "Stop", {"session_id": "s-1", "cwd": "/web", "hook_event_name": "Stop"})
    decision = kept(site, "mkfs /dev/sda")
    house.script("guard.sh", "exit 0")
    house.catalog.refresh()
    site.controls.add_request("Pause hooks for 30 minutes", "process 7", lambda: None)
    guard = hook_id(house.state("guard").key)
    return [
        "/", "/?project=nowhere", f"/decisions/{decision}", "/sessions", "/session?agent=claude-code&session=s-1",
        "/hooks", f"/hooks/{guard}", f"/confirm/approve?of={guard}", "/confirm/off", "/confirm/passphrase",
        "/statistics", "/agents", "/switch", "/nothing",
    ]  # fmt: skip


def address(site: Site, path: str) -> str:
    return f"http://127.0.0.1:{site.port}{path}"


def keep(site: Site, *records: Record) -> None:
    write(site.house.stores.database, records)


def kept(site: Site, command: str = "ls") -> str:
    """The id of a decision that is in the journal."""
    site.house.tool(command)
    id = site.house.last.id
    wait(lambda: site.house.stores.journal.get(id), what="it is written down")
    return id


def focus(page: Page, word: str) -> None:
    """Press Tab until something with these words has the focus."""
    for _ in range(40):
        page.key("Tab", 9)
        if page.run(f"(document.activeElement.innerText + ' ').startsWith({json.dumps(word)})"):
            return
    raise AssertionError(f"Tab does not reach {word}")


def problems(page: Page, *rules: str) -> list[Any]:
    """Returns what axe finds by these rules, or by all, and whether the page is wider than the window."""
    if page.run("typeof axe === 'undefined'"):
        page.run(f"(() => {{ {_axe()}; }})()")
    only = json.dumps({"runOnly": rules} if rules else {})
    found = page.run(
        f"axe.run({only}).then((all) => all.violations"
        ".map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 150))]))"
    )
    wide = page.run("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["wider than the window"] if wide else [])]


def problems_in_both_colours(page: Page) -> list[Any]:
    """Checks the page in light colours, and in dark colours only the contrast: the rest is equal."""
    page.look(dark=False)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = problems(page)
    page.look(dark=True)
    assert page.run("matchMedia('(prefers-color-scheme: dark)').matches")
    return [*found, *problems(page, "color-contrast")]


def _axe() -> str:
    found = importlib.util.find_spec("axe_core_python")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "axe.min.js").read_text()
