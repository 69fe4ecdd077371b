"""What a person does on the page, in a real browser: read, filter, follow, page, approve, revoke, by keyboard too."""

from __future__ import annotations

import html
import json
import re

import pytest
from agents.foreign_payloads import before_tool
from chromium import Page
from desk import wait
from every import every
from msgspec.structs import replace
from web.browsing import ADDS, DENYING, address, focus, keep, kept, record
from web.site import ROW, Site, status

from tray.agents.packages import PackagedAgents
from tray.agents.registry import AGENTS
from tray.approvals.review import hook_id
from tray.desktop.menu.state import MenuAgent
from tray.model.decision import Verdict
from tray.model.hook import ApprovalState
from tray.web.parts import AgentConnection


def listed(page: Page) -> list[str]:
    return [str(one) for one in page.run("[...document.querySelectorAll('.rows > li')].map((one) => one.dataset.id)")]


def test_a_decision_is_read_in_full(site: Site, page: Page) -> None:
    assert "No decisions yet" in page.text()
    assert "hooktray test tool_before" in page.text()
    site.house.hook("guard", on="tool_before", script=DENYING)
    kept(site, "mkfs /dev/sda")
    page.go(address(site, "/"))

    page.follow(".row", "no mkfs")

    text = page.text()
    assert "Bash · mkfs /dev/sda" in text
    assert "blocked by guard: no mkfs" in text
    assert "guard: no mkfs" in text
    assert '"command": "mkfs /dev/sda' in text
    assert '"permissionDecision": "deny"' in text


def test_a_stop_that_a_hook_only_reminded_says_so_in_the_list_and_in_full(site: Site, page: Page) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "run the tests"}}
    script = f"cat >/dev/null; echo '{json.dumps(said)}'"
    site.house.hook("tests", on="turn_end", script=script, dialect="claude-code")
    site.house.relay("claude-code", "Stop", {"hook_event_name": "Stop", "session_id": "s", "cwd": "/"})
    wait(lambda: site.house.stores.journal.get(site.house.last.id), what="it is written down")
    page.go(address(site, "/"))

    page.follow(".row", "tests added a reminder")

    assert "added a reminder" in page.run("document.querySelector('.turn').innerText")
    assert "no objection" not in page.text()


def test_a_filter_shows_only_matching_decisions(site: Site, page: Page) -> None:
    turn = {"name": "guard", "status": "ok", "verdict": "deny", "reason": "", "ms": 1.0}
    odd = {
        "agent": "shelley", "project": "api", "session": "s-9", "event": "end-of-turn", "verdict": Verdict.DENY,
        "hooks": (turn,), "payload": '{"text": "a needle"}',
    }  # fmt: skip
    keep(site, record(1), record(2, **odd), record(3))

    for query in ("agent=shelley&verdict=deny", "project=api", "session=s-9", "event=end-of-turn", "hook=guard"):
        page.go(address(site, f"/?{query}"))
        assert listed(page) == [record(2).id], query

    page.go(address(site, "/"))
    page.key("/", 191)
    page.type("NEEDLE")
    page.run("window.before = true")
    page.key("Enter", 13, "\r")
    page.wait("!window.before && document.readyState === 'complete'")
    assert "text=NEEDLE" in str(page.run("location.search"))
    assert listed(page) == [record(2).id]


def test_who_does_not_want_to_follow_stops_it_and_misses_nothing(site: Site, page: Page) -> None:
    keep(site, record(1))
    page.go(address(site, "/"))

    page.click(".live button")
    assert page.run("document.querySelector('.live button').getAttribute('aria-pressed')") == "false"
    keep(site, record(2))
    page.click(".live button")

    page.wait("document.querySelectorAll('.rows > li').length === 2", "what came meanwhile")
    assert listed(page) == [record(2).id, record(1).id]


def test_many_decisions_are_paged_through(site: Site, page: Page) -> None:
    keep(site, *(replace(ROW, id=f"{number:032x}", at=number) for number in range(160)))
    page.go(address(site, "/"))

    seen = listed(page)
    for _ in range(3):
        page.follow(".pages a", "Older")
        seen += listed(page)

    assert seen == [f"{number:032x}" for number in range(159, -1, -1)]
    assert "Older" not in page.text()


def test_a_changed_hook_is_approved_with_its_diff_and_revoked(site: Site, page: Page) -> None:
    house = site.house
    house.hook("guard", on="tool_before", script="exit 0")
    house.script("guard.sh", DENYING)
    page.go(address(site, "/hooks"))
    page.follow(".hook a", "guard")
    page.follow("a.button", "Review")

    assert "exit 0" in page.run("document.querySelector('.diff del').innerText")
    assert "no mkfs" in page.run("document.querySelector('.diff ins').innerText")
    assert '"command": "./guard.sh"' in page.run("document.querySelector('.declared').innerText")
    assert "no mkfs" in page.run("document.querySelector('.whole').innerText")
    page.follow(".confirm button", "Approve")

    assert "Approved." in page.text()
    assert house.tool("mkfs /dev/sda")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert site.announced.changes[-1][1] == "page"
    page.go(address(site, f"/hooks/{hook_id(house.state('guard').key)}"))
    page.follow("a.button", "Revoke")
    page.follow(".confirm button", "Revoke")
    assert house.state("guard").state is ApprovalState.REVOKED
    assert house.tool("mkfs /dev/sda") == {}


def test_an_edited_verdict_is_a_word_in_the_difference_and_the_definition(site: Site) -> None:
    rule = {"event": "tool_before", "type": "rule", "name": "guard", "matcher": "mkfs", "reason": "no"}
    site.house.configure({"hooks": [{**rule, "decision": "deny"}]})
    approved = site.house.state("guard")
    site.house.consent.approve(approved.key, approved.digest, "test")
    site.house.configure({"hooks": [{**rule, "decision": "ask"}]})
    site.enter()

    shown = html.unescape(site.get(f"/hooks/{hook_id(approved.key)}").decode())

    assert re.findall(r"decision: (\w+)", shown) == ["deny", "ask"]
    assert '"decision": "ask"' in shown, "the definition, as it is written"


def test_a_hook_is_denied_by_keyboard_alone(site: Site, page: Page) -> None:
    site.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    page.go(address(site, "/hooks"))

    for word in ("guard", "Deny…", "Deny "):
        focus(page, word)
        assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.run("window.before = true")
        page.key("Enter", 13, "\r")
        page.wait("!window.before && document.readyState === 'complete'")

    assert site.house.state("guard").state is ApprovalState.DENIED


def test_the_switch_is_what_the_menu_has(site: Site, page: Page) -> None:
    page.go(address(site, "/switch"))
    page.follow(".button", "30 minutes")
    page.follow(".confirm button", "Pause")
    assert site.controls.state.paused_until
    page.follow("button", "Resume")
    assert site.controls.state.paused_until is None
    page.follow(".button", "Switch off")
    page.follow(".confirm button", "Switch off")
    assert not site.controls.state.enabled
    page.follow("button", "Switch on")
    assert site.controls.state.enabled


def test_the_settings_are_those_of_the_menu_and_stay_where_they_are(site: Site, page: Page) -> None:
    site.alerts.sound_pack = "Orc <b>Peon</b> 1.0.0 by somebody, licence: CC-BY-NC-4.0"
    page.go(address(site, "/switch"))
    page.run("window.before = true")
    assert site.alerts.sound_pack in page.text()

    focus(page, "Mute sounds")
    page.key("Enter", 13, "\r")
    page.wait("document.activeElement.getAttribute('aria-checked') === 'true'", "it is ticked and keeps the focus")
    assert site.controls.state.muted
    page.click(".tick", "Turn ended")
    page.wait("[...document.querySelectorAll('.tick')].find((one) => one.innerText.includes('Turn ended'))"
              ".getAttribute('aria-checked') === 'false'")  # fmt: skip
    page.click("button", "1 hour")
    wait(lambda: ("snooze", 3600.0) in site.asked, what="alerts are snoozed")

    assert site.controls.state.muted_classes == {"turn_end"}
    assert page.run("window.before")


def test_agents_say_whether_they_are_connected_and_what_connects_them(site: Site, page: Page) -> None:
    site.connected = {
        "claude-code": AgentConnection(installed=True, connected=True, advice=("its lines are old",)),
        "shelley": AgentConnection(installed=True, connected=False),
        "x-code": AgentConnection(installed=False, connected=False),
    }
    keep(site, replace(record(1), tool="Bash", subject="make test"))

    page.go(address(site, "/agents"))

    assert "Bash · make test" in page.run("document.querySelector('.card').innerText")
    assert "connected; its lines are old" in page.run("document.querySelector('.card').innerText")
    assert "shelley: installed, not connected; hooktray connect shelley connects it" in page.text()
    assert "x-code: not installed here" in page.text()


CHANGED = "PreToolUse asks Hooktray for Read only"


@pytest.mark.parametrize(
    ("button", "done"), [("put_back", ("put back", "claude-code")), ("leave", ("leave", "claude-code", "d1"))]
)
def test_changed_entries_of_an_agent_are_shown_with_what_can_be_done(
    site: Site, page: Page, button: str, done: tuple[str, ...]
) -> None:
    names = {"claude-code": "Claude Code", "x-code": "X-Code CLI"}
    connected = AgentConnection(installed=True, connected=True)
    site.connected = {"claude-code": replace(connected, changed=(CHANGED,)), "x-code": connected}
    claude, xcode = (MenuAgent(agent=one, name=name, installed=True, connected=True) for one, name in names.items())
    site.agents.found = (replace(claude, changed=CHANGED, changed_digest="d1"), xcode)
    page.go(address(site, "/agents"))

    shown = page.run("[...document.querySelectorAll('section.panel')].map(one => one.innerText).join('|')")
    assert "Claude Code no longer asks Hooktray as before" in shown
    assert CHANGED in shown
    assert "X-Code" not in shown
    page.click(f"section.panel button[id*='/{button}']")

    wait(lambda: done in site.asked, what="what the button says is done")


@pytest.mark.parametrize(
    ("button", "done"),
    [("/write/1a2b", ("take", "claude-code", "1a2b")), ("/connect_all/", ("take all", "1a2b", "9f"))],
)
def test_agents_that_were_found_are_connected_by_a_button_below_a_summary(
    site: Site, page: Page, button: str, done: tuple[str, ...]
) -> None:
    claude = MenuAgent(agent="claude-code", name="Claude Code", installed=True, connect=ADDS)
    codex = MenuAgent(agent="codex", name="Codex", installed=True, connect=replace(ADDS, digest="9f"))
    site.agents.found = (claude, codex)
    page.go(address(site, "/agents"))

    assert page.run("document.querySelector('section.panel h2').innerText") == "Connect all 2 agents"
    assert "adds 1 entry for each of 14 events to ~/.claude/settings.json" in page.text()
    page.run("document.querySelector('section.panel details').open = true")
    assert "+line" in page.text()
    page.click(f"section.panel button[id*='{button}']")

    wait(lambda: done in site.asked, what="what the button says is done")


def test_an_agent_without_support_is_shown_as_one_that_is_not_guarded(site: Site, page: Page) -> None:
    site.house.relay("claude-code", "PreToolUse", before_tool("windsurf").payload)
    found = wait(lambda: next(iter(site.house.stores.journal.recent(1)), None), what="its row is written")

    page.go(address(site, f"/?agent={found.agent}"))
    assert "windsurf is not supported yet: no hook was asked" in page.run("document.querySelector('.row').innerText")
    page.go(address(site, f"/decisions/{found.id}"))
    assert "None: windsurf is not supported yet: no hook was asked." in page.text()
    page.go(address(site, "/agents"))
    assert "not supported yet: its tool calls are not guarded" in page.text()


def test_an_agent_of_a_package_is_shown_as_third_party_and_under_its_id_once_the_package_is_gone(
    site: Site, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = PackagedAgents(agents={"pine": AGENTS["shelley"]}, packages={"pine": "hooktray-pine 1.0"})
    with monkeypatch.context() as installed:
        installed.setitem(AGENTS.__dict__, "packaged", brought)
        page.go(address(site, "/agents"))
        silent = page.run("document.querySelector('#silent').parentNode.innerText")
        assert "pine (third-party: hooktray-pine 1.0)" in silent
        keep(site, replace(record(1), agent="pine"))
        page.go(address(site, "/agents"))
        assert "third-party: hooktray-pine 1.0" in page.run("document.querySelector('.card').innerText")

    page.go(address(site, "/agents"))
    assert "not known here: its tool calls are not guarded" in page.run("document.querySelector('.card').innerText")
    page.go(address(site, "/?agent=pine"))
    assert "pine" in page.run("document.querySelector('.row').innerText")
    assert page.run("[...document.querySelectorAll('select[name=agent] option')].some(one => one.value === 'pine')")


def test_a_rule_has_no_time_limit_and_nothing_for_when_it_fails(site: Site, page: Page) -> None:
    script = site.house.hook("guard", on="tool_before", script=DENYING)
    rule = site.house.hook("no", on="tool_before", type="rule", matcher="mkfs", decision="deny")
    for state, shown in ((script, True), (rule, False)):
        page.go(address(site, f"/hooks/{hook_id(state.key)}"))
        facts = page.run("document.querySelector('.facts').innerText")
        assert [word in facts for word in ("When it fails", "Time limit", "Declared in")] == [shown, shown, True]


def test_one_hook_is_switched_off_and_on(site: Site, page: Page) -> None:
    state = site.house.hook("guard", on="tool_before", script=DENYING)
    page.go(address(site, f"/hooks/{hook_id(state.key)}"))

    for verb, answer in (("Switch off", False), ("Switch on", True)):
        page.follow("a.button", verb)
        page.follow(".confirm button", verb)
        assert bool(site.house.tool("mkfs /dev/sda")) is answer
        page.go(address(site, f"/hooks/{hook_id(state.key)}"))


@every("form", ["", "choice=quit", "choice=settings", "choice=enabled&turn=off", "choice=alerts/line"])
def test_only_settings_are_chosen_so(site: Site, form: str) -> None:
    site.enter()

    assert status(site.post("/choose", form)) == 404
    assert site.controls.state.enabled


def test_hooks_that_wait_together_keep_within_a_narrow_window(site: Site, page: Page) -> None:
    """Their heading has the whole path of the file that declares them."""
    for name in ("one", "two"):
        site.house.hook(name, on="turn_end", approved=False, type="rule", decision="deny")
    page.look(width=320, height=700)

    page.go(address(site, "/hooks"))

    page.wait("!!document.querySelector('#together')", "the hooks wait together")
    assert not page.run("document.documentElement.scrollWidth > innerWidth")
