"""Renders the pictures of docs/page/ from a real page in Chromium: `.venv/bin/python docs/page_pictures.py`."""

from __future__ import annotations

import io
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Chromium, Page  # noqa: E402
from house import PRE_TOOL_USE, House  # noqa: E402
from web.site import Site  # noqa: E402

from tray.approvals.review import hook_id  # noqa: E402
from tray.model.decision import Record, Verdict  # noqa: E402
from tray.model.session import Session, SessionState  # noqa: E402
from tray.store.stats import Statistics  # noqa: E402
from tray.web.parts import AgentConnection  # noqa: E402

OUT = ROOT / "docs" / "page"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"width": 1200, "height": 760},
    "dark": {"width": 1200, "height": 760, "dark": True},
    "narrow": {"width": 390, "height": 760},
}
COLOURS = 256  # of a picture: these are flat, and small files are quick to load
GUARD = """grep -q "rm -rf" || exit 0
echo '{"decision": "block", "reason": "rm -rf is not for agents"}'"""
EDITED = """grep -Eq "rm -rf|mkfs|dd if=" || exit 0
echo '{"decision": "block", "reason": "not for agents"}'"""

LAST = {"cwd": "/home/you/web", "tool_input": {"command": "rm -rf /srv/data", "description": "Start afresh"}}
REASON = "no-destroying: rm -rf is not for agents"

BEFORE = ("claude-code", "PreToolUse", "tool_before", "web")
AFTER = ("claude-code", "PostToolUse", "tool_after", "web")

# A day: how often, agent, event, kind, project, tool, what it did, verdict, reason, hook, its word, its status, ms.
STORY = (
    (24, *BEFORE, "Bash", "npm test", 0, "", "no-destroying", "abstain", "ok", 7),
    (16, *BEFORE, "Edit", "src/cart.ts", 0, "", "no-destroying", "abstain", "ok", 7),
    (12, *AFTER, "Edit", "src/cart.ts", 0, "", "format", "abstain", "ok", 180),
    (8, "shelley", "end-of-turn", "turn_end", "api", "", "", 0, "", "tests-ran", "abstain", "ok", 64),
    (6, "x-code", "PreToolUse", "tool_before", "api", "shell", "git push", 2, "to main", "git-push", "ask", "ok", 5),
    (9, *BEFORE, "Bash", "ls src", 1, "read-only: ls", "read-only", "allow", "ok", 1),
    (3, "starchild", "on_stop", "turn_end", "landing", "", "", 0, "", "tests-ran", "abstain", "failed", 900),
    (4, *BEFORE, "Bash", "rm -rf node_modules", 3, REASON, "no-destroying", "deny", "ok", 8),
)  # fmt: skip
DAY = (1, 0, 0, 0, 0, 0, 0, 0, 3, 14, 28, 35, 30, 12, 26, 38, 41, 33, 17, 6, 9, 15, 8, 3)  # by the hour


def main() -> None:
    OUT.mkdir(exist_ok=True)
    os.environ["TZ"] = f"PIC{time.gmtime().tm_hour - 17}"  # on a picture it is always five in the afternoon
    time.tzset()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as two:
        house = House(Path(one))
        site, browser = Site(house), Chromium(Path(two))
        try:
            _work(house)
            site.enter()
            site.sessions = _sessions()
            agents = sorted({one[1] for one in STORY})
            site.connected = dict.fromkeys(agents, AgentConnection(installed=True, connected=True))
            _take(site, browser)
        finally:
            browser.close()
            site.close()
            house.close()


def _work(house: House) -> None:
    house.hook("no-destroying", on="tool_before", script=GUARD)
    house.hook("tests-ran", on="turn_end", script="exit 0")
    house.hook("git-push", on="tool_before", approved=False, type="rule", matcher="git push", decision="ask")
    chance = random.Random(6)
    now = time.time()
    for back in range(23 * 60, 0, -1):
        at = now - back * 60
        if chance.random() < DAY[time.localtime(at).tm_hour] / 60:
            _append(house, chance, at)
    house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, **LAST}, id="f" * 32)
    house.script("no-destroying.sh", EDITED)
    house.catalog.refresh()


def _sessions() -> tuple[Session, ...]:
    now = time.time()
    rows = (
        ("claude-code", "web", "main · Repair the cart", SessionState.WAITING, 90),
        ("x-code", "api", "Move the importer", SessionState.WORKING, 400),
        ("shelley", "api", "fix-the-parser", SessionState.DONE, 1500),
    )
    return tuple(
        Session(agent=agent, session=f"{project}-41", project=project, name=name, state=state, since=now - ago)
        for agent, project, name, state, ago in rows
    )


def _append(house: House, chance: random.Random, at: float) -> None:
    chosen = chance.choices(STORY, [one[0] for one in STORY])[0]
    _, agent, event, kind, project, tool, subject, verdict, reason, hook, word, how, ms = chosen
    took = ms * chance.lognormvariate(0, 0.5)
    failed = "exit 1" if how == "failed" else ""
    turn = {"name": hook, "verdict": word, "status": how, "ms": took, "reason": failed, "gate": "", "stderr": ""}
    record = Record(
        id=f"{int(at * 1000):032x}", at=at, agent=agent, session=f"{project}-{int(at // 7200) % 100}",
        project=project, event=event, kind=kind, tool=tool, subject=subject, verdict=Verdict(verdict), reason=reason,
        ms=took + 1, hooks=({**turn, "cause": failed},), payload=json.dumps({"hook_event_name": event}),
        digest="0" * 64,
        answer={"stdout": "", "stderr": "", "code": 0, "exact": True},
    )  # fmt: skip
    house.stores.journal.append(record, commit=verdict == 3)


def _take(site: Site, browser: Chromium) -> None:
    hook = hook_id(site.house.state("no-destroying").key)
    addresses = {
        "decisions": "/",
        "decision": f"/decisions/{'f' * 32}",
        "replay": f"/decisions/{'f' * 32}",
        "hooks": "/hooks",
        "hook": f"/hooks/{hook}",
        "approve": f"/confirm/approve?of={hook}",
        "sessions": "/sessions",
        "session": "",
        "statistics": "/statistics",
        "agents": "/agents",
        "switch": "/switch",
    }
    busiest = max(
        Statistics(site.house.stores.database).sessions(100), key=lambda one: (one.agent == "claude-code", one.count)
    )
    addresses["session"] = f"/session?agent={busiest.agent}&session={busiest.session}"
    with browser.page() as page:
        page.go(site.open())
        page.wait("location.pathname === '/'")
        for title, address in addresses.items():
            for look, words in LOOKS.items():
                page.look(**words)
                page.go(f"http://127.0.0.1:{site.port}{address}")
                if title == "replay":
                    _replay(page)
                path = OUT / f"{title}-{look}.png"
                page.picture(path)
                _shrink(path)


def _replay(page: Page) -> None:
    page.click(".again button")
    page.wait("!!document.querySelector('.comparison')")
    page.run("document.getElementById('replay').scrollIntoView()")


def _shrink(path: Path) -> None:
    image = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
