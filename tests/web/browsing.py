"""What tests in a browser share: rows to look at, addresses, the Tab key, and axe."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from chromium import Page
from desk import wait
from firefox import Firefox
from store.writing import write
from web.site import Site

from tray.model.decision import Record


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


def problems(page: Page | Firefox) -> list[Any]:
    """What axe finds, and whether the page is wider than the window."""
    page.run(f"(() => {{ {_axe()}; }})()")
    found = page.run(
        "axe.run().then((all) => all.violations"
        ".map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 150))]))"
    )
    wide = page.run("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["wider than the window"] if wide else [])]


def _axe() -> str:
    found = importlib.util.find_spec("axe_core_python")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "axe.min.js").read_text()
